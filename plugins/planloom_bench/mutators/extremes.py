"""The other end: ``min`` for ``max``, ``all`` for ``any``, an order the wrong way round."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .parsed import Edit, ParsedFile, name_of

_PAIRS = (
    *(("min", "max"), ("any", "all"), ("argmin", "argmax"), ("nsmallest", "nlargest"), ("floor", "ceil")),
    *(("find", "rfind"), ("index", "rindex"), ("lstrip", "rstrip"), ("startswith", "endswith")),
    *(("bisect_left", "bisect_right"), ("minimum", "maximum"), ("ljust", "rjust")),
)
# Only texts have these second names, so the way back is safe and the way there is not.
_ONE_WAY = frozenset({"index"})
_OPPOSITE = {a: b for a, b in _PAIRS if a not in _ONE_WAY} | {b: a for a, b in _PAIRS}
# These forget the order of what they are given.
_ORDERLESS = frozenset({"Counter", "frozenset", "len", "max", "min", "set", "sum"})


def swapped_extremes(file: ParsedFile) -> Iterator[Edit]:
    """Calls by the name of the opposite, and sorts in the opposite order."""
    for node in file.nodes(ast.Call):
        yield from _renamed(file, node)
        if name_of(node.func) in ("sorted", "sort") and not _order_is_lost(file, node):
            yield from _reversed(file, node)


def _renamed(file: ParsedFile, call: ast.Call) -> Iterator[Edit]:
    name = name_of(call.func)
    opposite, span = _OPPOSITE.get(name), file.span(call.func)
    if opposite is None or span is None or _picks_from_one(call):
        return
    yield Edit(span[0], span[2] - len(name), span[2], opposite)


def _picks_from_one(call: ast.Call) -> bool:
    """``min(x, x)``: whichever it takes, it is the same."""
    return len(call.args) > 1 and len({ast.dump(argument) for argument in call.args}) == 1


def _reversed(file: ParsedFile, call: ast.Call) -> Iterator[Edit]:
    for keyword in call.keywords:
        if keyword.arg == "reverse" and isinstance(keyword.value, ast.Constant):
            yield from file.replace(keyword.value, str(not keyword.value.value))
            return
    bare = len(call.args) == 1 and isinstance(call.args[0], ast.GeneratorExp)
    if bare or any(keyword.arg in ("reverse", None) for keyword in call.keywords):
        return
    source = file.source(call)
    if source is not None:
        comma = "" if source.endswith("()") else ", "
        yield from file.replace(call, f"{source[:-1]}{comma}reverse=True)")


def _order_is_lost(file: ParsedFile, call: ast.Call) -> bool:
    parent = file.parent(call)
    return isinstance(parent, ast.Call) and name_of(parent.func) in _ORDERLESS
