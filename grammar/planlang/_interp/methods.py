"""The closed table of methods: by name, then by the exact class of the receiver.

A method is ``method(frame, receiver, *args, **keywords)``. What is not in the table does not exist, so no attribute
of a host object can be reached from a plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .methods_dict import DICT_METHODS
from .methods_list import LIST_METHODS, SEQUENCE_METHODS
from .methods_set import SET_METHODS
from .methods_text import TEXT_METHODS
from .signatures import Method
from .values import DictView, PlanDict, PlanList, PlanSet, type_name

__all__ = ["METHODS", "call_method", "no_method"]

_BY_CLASS: Final[dict[type, dict[str, Method]]] = {
    PlanList: LIST_METHODS,
    PlanDict: DICT_METHODS,
    PlanSet: SET_METHODS,
    str: TEXT_METHODS,
    tuple: SEQUENCE_METHODS,
    range: SEQUENCE_METHODS,
    DictView: {"isdisjoint": SET_METHODS["isdisjoint"]},
}


def _by_name() -> dict[str, dict[type, Method]]:
    table: dict[str, dict[type, Method]] = {}
    for kind, methods in _BY_CLASS.items():
        for name, method in methods.items():
            table.setdefault(name, {})[kind] = method
    return table


METHODS: Final = _by_name()


def no_method(name: str, receiver: Any) -> AttributeError:
    """Return the error for a value that has no method of that name."""
    return AttributeError(f"'{type_name(receiver)}' object has no attribute '{name}'")


def call_method(frame: Any, receiver: Any, name: str, args: Any, keywords: dict[str, Any]) -> Any:
    """Return what a method returns; :raises TypeError: it does not take these arguments."""
    method = METHODS[name][type(receiver)]
    method.check(len(args), keywords)
    call: Callable[..., Any] = method.call
    return call(frame, receiver, *args, **keywords)
