"""words: a name or a docstring says one thing, and the only operator that could do it does the opposite.

``def is_even(n): return n % 2 == 1``; ``def subtract(a, b): return a + b``; ``lower = upper`` where both are bounds of
one thing; "Return True if all ..." over a body that asks ``any``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ._words import last_name, number, quoted, words_of
from .parsed import Function, ParsedFile
from .rules import Hit

_OPPOSITES = (
    ("first", "last"),
    ("start", "end"),
    ("start", "stop"),
    ("begin", "end"),
    ("left", "right"),
    ("low", "high"),
    ("lower", "upper"),
    ("top", "bottom"),
    ("width", "height"),
    ("row", "col"),
    ("min", "max"),
    ("head", "tail"),
    ("source", "target"),
    ("prev", "next"),
    ("encode", "decode"),
)
_OPPOSITE = {one: two for pair in _OPPOSITES for one, two in (pair, pair[::-1])}
_ARITHMETIC: dict[str, type[ast.operator]] = {
    "add": ast.Sub,
    "plus": ast.Sub,
    "increment": ast.Sub,
    "subtract": ast.Add,
    "minus": ast.Add,
    "difference": ast.Add,
    "decrement": ast.Add,
    "multiply": ast.Div,
    "product": ast.Div,
    "divide": ast.Mult,
    "quotient": ast.Mult,
}
_SAYS_ALL = re.compile(r"\b(?:true )?if (?:all|every)\b|\bwhether (?:all|every)\b")
_SAYS_ANY = re.compile(r"\b(?:true )?if any\b|\bwhether any\b|\bif at least one\b")


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find code that does the opposite of what its names say."""
    for node, _ in file.sites(ast.Assign):
        if len(node.targets) == 1 and _crossed(last_name(node.targets[0]), last_name(node.value)):
            yield _hit(node.lineno, quoted(node), f"gives `{last_name(node.targets[0])}` its opposite")
    for function in file.functions:
        returns = [node for node in ast.walk(function.node) if isinstance(node, ast.Return) and node.value is not None]
        if len(returns) == 1:
            yield from _returned(function, returns[0])


def _crossed(target: str, value: str) -> bool:
    ours, theirs = words_of(target), words_of(value)
    if len(ours) != len(theirs) or len(ours) < 2:
        return False
    differing = [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other]
    return len(differing) == 1 and _OPPOSITE.get(differing[0][0]) == differing[0][1]


def _returned(function: Function, returned: ast.Return) -> Iterator[Hit]:
    words, value = words_of(function.node.name), returned.value
    match value:
        case ast.BinOp(op=op) if any(isinstance(op, _ARITHMETIC[word]) for word in words if word in _ARITHMETIC):
            yield _hit(returned.lineno, quoted(returned), f"does the opposite of what `{function.node.name}` says")
        case ast.Compare(left=ast.BinOp(op=ast.Mod(), right=two), ops=[op], comparators=[rest]) if number(two) == 2:
            if _parity(words) not in (None, _parity_tested(op, number(rest))):
                yield _hit(returned.lineno, quoted(returned), f"does the opposite of what `{function.node.name}` says")
        case ast.Call(func=ast.Name(id="any" | "all" as asked)):
            said = (ast.get_docstring(function.node) or "").lower()
            other = _SAYS_ALL if asked == "any" else _SAYS_ANY
            if other.search(said) and not (_SAYS_ANY if asked == "any" else _SAYS_ALL).search(said):
                yield _hit(returned.lineno, quoted(returned), f"asks `{asked}`, and the docstring speaks of the other")


def _parity(words: list[str]) -> int | None:
    if ("even" in words) == ("odd" in words):
        return None
    return 0 if "even" in words else 1


def _parity_tested(op: ast.cmpop, rest: float | None) -> int | None:
    if rest not in (0, 1) or not isinstance(op, ast.Eq | ast.NotEq):
        return None
    return int(rest) if isinstance(op, ast.Eq) else 1 - int(rest)


def _hit(line: int, code: str, what: str) -> Hit:
    return Hit(line=line, claim=f"`{code}` {what}", failing_call=code, expected="what the words say")
