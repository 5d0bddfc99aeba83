"""Which functions a call hands to its word, to be run as tasks, and what each of them is given.

A word says so by parameter (:attr:`planlang.Word.functions`). Most need not: without a word of their own about it,
what stands behind ``*`` are stages, as in ``pipeline``, and else the first parameter takes functions without
parameters, as in ``parallel``.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from typing import NamedTuple

from . import _nodes as n
from ._vocabulary import Word

__all__ = ["Handed", "functions_of", "handed", "items_of"]

_THUNK, _STAGE = (0, 0), (1, 3)
_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


class Handed(NamedTuple):
    """An argument that is a function or a list of them, with how few and how many arguments each is given."""

    argument: n.Node
    parameter: Parameter
    least: int
    most: int


def functions_of(word: Word) -> Mapping[str, tuple[int, int]]:
    """Return the parameters of a word that take functions, with how few and how many arguments these are given."""
    if word.functions or not word.runs_tasks:
        return word.functions
    parameters = word.signature.parameters.values()
    for parameter in parameters:
        if parameter.kind is Parameter.VAR_POSITIONAL:
            return {parameter.name: _STAGE}
    return {parameter.name: _THUNK for parameter in [*parameters][:1]}


def handed(word: Word, call: n.Call) -> list[Handed]:
    """Return the arguments of a call that hold functions for the word to run; without those that are spread."""
    parameters, taken = word.signature.parameters, functions_of(word)
    places = [p for p in parameters.values() if p.kind in _POSITIONAL]
    rest = next((p for p in parameters.values() if p.kind is Parameter.VAR_POSITIONAL), None)
    given: list[tuple[Parameter | None, n.Node]] = []
    for at, argument in enumerate(call.args):
        if isinstance(argument, n.Starred):
            places = places[:at]
            continue
        given.append((places[at] if at < len(places) else rest, argument))
    for keyword in call.keywords:
        name = keyword.name or ""
        given.append((parameters.get(word.aliases.get(name, name)), keyword.value))
    return [Handed(node, p, *taken[p.name]) for p, node in given if p is not None and p.name in taken]


def items_of(argument: n.Node) -> list[n.Node]:
    """Return what may be a function in an argument: itself, or what a list, a comprehension or a sum of them holds."""
    if isinstance(argument, n.ListDisplay | n.TupleDisplay):
        return [item for inner in argument.items for item in items_of(inner)]
    if isinstance(argument, n.ListComp | n.Generator):
        return items_of(argument.element)
    if isinstance(argument, n.Chain):
        return [item for operand in argument.operands for item in items_of(operand)]
    return [argument]
