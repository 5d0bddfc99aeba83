"""Methods of texts: arguments are checked and charged here, then the host's own method works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .iterate import items_of
from .meter import LimitHitError
from .operators import whole
from .signatures import Method
from .tasks import Task
from .values import Frame, new_list, type_name

__all__ = ["TEXT_METHODS"]


def _text(method: str, value: Any) -> str:
    if type(value) is str:
        return value
    raise TypeError(f"{method}() argument must be str, not {type_name(value)}")


def _texts(method: str, value: Any) -> Any:
    """Return a text or a tuple of texts."""
    if type(value) is str or (type(value) is tuple and all(type(item) is str for item in value)):
        return value
    raise TypeError(f"{method} first arg must be str or a tuple of str, not {type_name(value)}")


def _whole(value: Any) -> int:
    if whole(value):
        return int(value)
    raise TypeError(f"'{type_name(value)}' object cannot be interpreted as an integer")


def _bounds(values: tuple[Any, ...]) -> list[int | None]:
    return [None if value is None else _whole(value) for value in values]


def _pay_copy(frame: Frame, text: str, times: int = 1) -> None:
    frame[0].meter.text_of(len(text) * times, wide=not text.isascii())


def _split_with(host: Callable[..., list[str]]) -> Callable[..., Any]:
    def method(frame: Frame, text: str, sep: Any = None, maxsplit: Any = -1) -> Any:
        separator = None if sep is None else _text("split", sep)
        _pay_copy(frame, text)
        pieces = host(text, separator, _whole(maxsplit))
        return _list(frame[0], pieces)

    return method


def _list(task: Task, pieces: list[str]) -> Any:
    # A piece costs far more than its characters: charge them as items with a text each.
    task.meter.list_of(len(pieces))
    task.meter.store(56 * len(pieces))
    return new_list(task, pieces)


def _splitlines(frame: Frame, text: str, keepends: Any = False) -> Any:
    _pay_copy(frame, text)
    return _list(frame[0], text.splitlines(bool(keepends)))


def _strip_with(host: Callable[..., str]) -> Callable[..., Any]:
    def method(frame: Frame, text: str, characters: Any = None) -> str:
        if characters is not None:
            frame[0].meter.work((len(text) * (1 + (len(_text("strip", characters)) >> 5))) >> 7)
        _pay_copy(frame, text)
        return host(text, characters)

    return method


def _changed_with(host: Callable[[str], str]) -> Callable[..., Any]:
    def method(frame: Frame, text: str) -> str:
        frame[0].meter.scan(len(text))
        _pay_copy(frame, text, 1 if text.isascii() else 3)
        return host(text)

    return method


def _tested_with(host: Callable[[str], bool]) -> Callable[..., Any]:
    def method(frame: Frame, text: str) -> bool:
        frame[0].meter.scan(len(text))
        return host(text)

    return method


def _join(frame: Frame, text: str, source: Any) -> str:
    items = items_of(frame, source)
    length = len(text) * max(0, len(items) - 1)
    wide = not text.isascii()
    for number, item in enumerate(items):
        if type(item) is not str:
            raise TypeError(f"sequence item {number}: expected str instance, {type_name(item)} found")
        length += len(item)
        wide = wide or not item.isascii()
    frame[0].meter.text_of(length, wide)
    return text.join(items)


def _edge_with(host: Callable[..., bool]) -> Callable[..., Any]:
    def method(frame: Frame, text: str, edge: Any, *bounds: Any) -> bool:
        sought = _texts(host.__name__, edge)
        frame[0].meter.work(1 + len(sought) // 8 if type(sought) is tuple else len(sought) >> 7)
        return host(text, sought, *_bounds(bounds))

    return method


def _without_with(host: Callable[[str, str], str]) -> Callable[..., Any]:
    def method(frame: Frame, text: str, edge: Any) -> str:
        _pay_copy(frame, text)
        return host(text, _text(host.__name__, edge))

    return method


def _search_with(host: Callable[..., int]) -> Callable[..., Any]:
    def method(frame: Frame, text: str, sought: Any, *bounds: Any) -> int:
        _text(host.__name__, sought)
        # The host's search is linear for what plans meet and stays below this for what they could craft.
        frame[0].meter.work((len(text) + len(sought)) >> 4)
        return host(text, sought, *_bounds(bounds))

    return method


def _replace(frame: Frame, text: str, old: Any, new: Any, count: Any = -1) -> str:
    meter = frame[0].meter
    sought, put = _text("replace", old), _text("replace", new)
    meter.scan(2 * len(text))
    found = text.count(sought)
    limit = _whole(count)
    times = found if limit < 0 else min(found, limit)
    length = len(text) + times * max(0, len(put) - len(sought))
    if length > meter.limits.text_length:
        raise LimitHitError("text_length", length, meter.limits.text_length)
    meter.text_of(length, wide=not (text.isascii() and put.isascii()))
    return text.replace(sought, put, limit)


def _partition_with(host: Callable[[str, str], tuple[str, str, str]]) -> Callable[..., Any]:
    def method(frame: Frame, text: str, separator: Any) -> tuple[str, str, str]:
        sought = _text(host.__name__, separator)
        frame[0].meter.scan(len(text))
        frame[0].meter.tuple_of(3)
        _pay_copy(frame, text)
        return host(text, sought)

    return method


def _methods() -> dict[str, Method]:
    split_keywords = ("sep", "maxsplit")
    made = [
        Method("split", _split_with(str.split), 0, 2, split_keywords),
        Method("rsplit", _split_with(str.rsplit), 0, 2, split_keywords),
        Method("splitlines", _splitlines, 0, 1, ("keepends",)),
        Method("join", _join, 1, 1),
        Method("replace", _replace, 2, 3),
    ]
    made += [Method(host.__name__, _strip_with(host), 0, 1) for host in (str.strip, str.lstrip, str.rstrip)]
    made += [
        Method(host.__name__, _changed_with(host), 0, 0) for host in (str.lower, str.upper, str.title, str.capitalize)
    ]
    made += [
        Method(host.__name__, _tested_with(host), 0, 0) for host in (str.isdigit, str.isalpha, str.isalnum, str.isspace)
    ]
    made += [Method(host.__name__, _edge_with(host), 1, 3) for host in (str.startswith, str.endswith)]
    made += [Method(host.__name__, _search_with(host), 1, 3) for host in (str.count, str.find, str.index)]
    made += [Method(host.__name__, _without_with(host), 1, 1) for host in (str.removeprefix, str.removesuffix)]
    made += [Method(host.__name__, _partition_with(host), 1, 1) for host in (str.partition, str.rpartition)]
    return {method.name: method for method in made}


TEXT_METHODS: Final = _methods()
