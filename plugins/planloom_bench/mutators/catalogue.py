"""The twelve kinds that ship. What finds their sites is imported when a file is first read, not with every command."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from .mutator import Mutator

if TYPE_CHECKING:
    from .parsed import Edit, ParsedFile

__all__ = ["TWELVE_KINDS"]


def _late(module: str, name: str) -> Callable[[ParsedFile], Iterable[Edit]]:
    def sites(file: ParsedFile) -> Iterable[Edit]:
        found: Iterable[Edit] = getattr(import_module(f".{module}", __package__), name)(file)
        return found

    return sites


_TABLE = (
    ("comparison_boundary", "a comparison with or without equality", "comparisons", "boundaries"),
    ("condition_negated", "a condition the wrong way round", "conditions", "negations"),
    ("boolean_operator", "`and` for `or`, or back", "booleans", "boolean_operators"),
    ("arithmetic_operator", "a wrong arithmetic operator", "arithmetic", "operators"),
    ("off_by_one", "a range, index or slice off by one", "offsets", "off_by_one"),
    ("wrong_constant", "a wrong number or flag", "constants", "wrong_constants"),
    ("arguments_swapped", "two arguments of a call exchanged", "arguments", "swapped_arguments"),
    ("wrong_variable", "another variable of the same scope", "variables", "wrong_variables"),
    ("start_value", "a wrong value before a loop", "starts", "start_values"),
    ("extreme_swapped", "the other end: min for max, any for all, a sort reversed", "extremes", "swapped_extremes"),
    ("return_value", "a return value that is not the one meant", "returns", "changed_returns"),
    ("loop_update", "a loop's update, break or continue changed", "loops", "changed_updates"),
)
TWELVE_KINDS = tuple(
    Mutator(name=name, summary=summary, sites=_late(module, function)) for name, summary, module, function in _TABLE
)
