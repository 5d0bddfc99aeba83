"""Methods of dicts."""

from __future__ import annotations

from typing import Any, Final

from .iterate import items_of
from .operators import merge_dict, resize
from .signatures import Method
from .subscripts import missing_key
from .tasks import Task
from .values import DictView, Frame, PlanDict, new_dict
from .walk import check_key

__all__ = ["DICT_METHODS", "pairs_of"]

_ABSENT: Final = object()


def pairs_of(frame: Frame, source: Any) -> dict[Any, Any]:
    """Return the entries that ``dict(source)`` would hold; :raises TypeError, ValueError: it holds no pairs."""
    if type(source) is PlanDict:
        return source
    entries: dict[Any, Any] = {}
    for number, pair in enumerate(items_of(frame, source)):
        if type(pair) is not tuple or len(pair) != 2:
            pair = _pair(frame, number, pair)  # noqa: PLW2901 - the common pair pays no call
        check_key(frame[0].meter, pair[0])
        entries[pair[0]] = pair[1]
    return entries


def _pair(frame: Frame, number: int, value: Any) -> Any:
    try:
        items = items_of(frame, value)
    except TypeError:
        raise TypeError(f"cannot convert dictionary update sequence element #{number} to a sequence") from None
    if len(items) == 2:
        return items
    raise ValueError(f"dictionary update sequence element #{number} has length {len(items)}; 2 is required")


def _get(frame: Frame, target: PlanDict, key: Any, default: Any = None) -> Any:
    check_key(frame[0].meter, key)
    return target.get(key, default)


def _view(kind: str) -> Any:
    def make(_frame: Frame, target: PlanDict) -> DictView:
        return DictView(kind, target)

    return make


def _pop(frame: Frame, target: PlanDict, key: Any, default: Any = _ABSENT) -> Any:
    check_key(frame[0].meter, key)
    resize(frame[0], target)
    if key in target:
        return target.pop(key)
    if default is _ABSENT:
        raise missing_key(frame[0].meter, key)
    return default


def _setdefault(frame: Frame, target: PlanDict, key: Any, default: Any = None) -> Any:
    task: Task = frame[0]
    check_key(task.meter, key)
    if key in target:
        return target[key]
    resize(task, target)
    task.meter.grow_dict(len(target), 1)
    target[key] = default
    return default


def _update(frame: Frame, target: PlanDict, source: Any = (), /, **more: Any) -> None:
    merge_dict(frame[0], target, pairs_of(frame, source))
    if more:
        merge_dict(frame[0], target, more)


def _copy(frame: Frame, target: PlanDict) -> PlanDict:
    frame[0].meter.dict_of(len(target))
    return new_dict(frame[0], target)


def _clear(frame: Frame, target: PlanDict) -> None:
    resize(frame[0], target)
    frame[0].meter.scan(len(target))
    target.clear()


DICT_METHODS: Final = {
    "get": Method("get", _get, 1, 2),
    "keys": Method("keys", _view("keys"), 0, 0),
    "values": Method("values", _view("values"), 0, 0),
    "items": Method("items", _view("items"), 0, 0),
    "pop": Method("pop", _pop, 1, 2),
    "setdefault": Method("setdefault", _setdefault, 1, 2),
    "update": Method("update", _update, 0, 1, None),
    "copy": Method("copy", _copy, 0, 0),
    "clear": Method("clear", _clear, 0, 0),
}
