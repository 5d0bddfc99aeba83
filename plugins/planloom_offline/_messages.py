"""What an error message requires, read from its words.

``must be positive`` requires more than 0, ``must be at least 2`` at least 2, ``is negative`` describes the
violation and so requires at least 0. Only plain sentences are read: a message with a condition of its own (``if``,
``when``, ``unless``) requires nothing that a guard could be held against.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from planloom.data_classes import frozen

from ._words import last_name

HOLE = "\N{WHITE SQUARE}"
"""Stands for a value that a message is filled with and that has no name."""


@frozen
class Bound:
    """A requirement ``value op bound``.

    :ivar op: one of ``<``, ``<=``, ``>``, ``>=``, ``!=``.
    :ivar bound: a number, or the name of what the value is compared with.
    """

    op: str
    bound: float | str


_MUST = r"(?:must|should|has to|have to|needs? to|ought to)(?: \w+ly)? (?:all |both |each )?be (?:an? |strictly )*"
_NOT = r"(?:must not|mustn't|cannot|can not|can't|may not|should not|shouldn't)"
_OBJECT = rf"(?:(?P<number>-?\d+(?:\.\d+)?|zero|one|two)|(?P<name>[a-z_]\w*))(?![\w.]|{HOLE}|\()"
_VALUES = {"zero": 0.0, "one": 1.0, "two": 2.0}

_FIXED: tuple[tuple[str, Bound], ...] = (
    (rf"{_MUST}positive\b(?! or )", Bound(">", 0)),
    (r"\bonly (?:strictly )?positive\b(?! or )", Bound(">", 0)),
    (rf"{_MUST}(?:non-? ?negative|positive or (?:zero|null))\b", Bound(">=", 0)),
    (rf"{_NOT} be (?:a )?negative\b", Bound(">=", 0)),
    (r"\bis negative\b|\bnegative \w+ (?:is |are )?not (?:allowed|supported|permitted)", Bound(">=", 0)),
    (rf"{_MUST}negative\b(?! or )", Bound("<", 0)),
    (rf"{_MUST}(?:non-? ?positive|negative or zero)\b", Bound("<=", 0)),
    (rf"{_NOT} be (?:0|zero)\b|{_MUST}non-? ?zero\b", Bound("!=", 0)),
)

_RELATIVE: tuple[tuple[str, str], ...] = (
    (rf"{_MUST}(?:at least|>=|no less than|no smaller than|not less than)", ">="),
    (rf"{_MUST}(?:greater|larger|bigger|higher) than or equal(?: to)?", ">="),
    (rf"{_NOT} be (?:less|smaller|fewer|lower) than", ">="),
    (rf"{_MUST}(?:at most|<=|no (?:more|greater|larger) than|not (?:more|greater|larger) than)", "<="),
    (rf"{_MUST}(?:less|smaller|lower|fewer) than or equal(?: to)?", "<="),
    (rf"{_NOT} (?:exceed|be (?:greater|larger|bigger|more|higher) than)", "<="),
    (rf"{_MUST}(?:greater|larger|bigger|more|higher) than(?! or )|{_MUST}>(?!=)", ">"),
    (rf"{_MUST}(?:less|smaller|lower|fewer) than(?! or )|{_MUST}<(?!=)", "<"),
)

_CONDITIONAL = re.compile(r"\b(?:if|when|unless|whenever|either|while|for|otherwise|except)\b")
_FIXED_PATTERNS = [(re.compile(pattern), bound) for pattern, bound in _FIXED]
_RELATIVE_PATTERNS = [(re.compile(rf"(?:{pattern}) {_OBJECT}"), op) for pattern, op in _RELATIVE]


def bounds_of(message: str) -> list[Bound]:
    """Return what a message requires of a number; empty when it says nothing plain."""
    if _CONDITIONAL.search(message):
        return []
    fixed = [bound for pattern, bound in _FIXED_PATTERNS if pattern.search(message)]
    return fixed + list(_relative(message))


def _relative(message: str) -> Iterator[Bound]:
    for pattern, op in _RELATIVE_PATTERNS:
        for match in pattern.finditer(message):
            # "must be greater than 0 or equal" and "at least one of" say something else.
            if re.match(r",? (?:or|of|and)\b", message[match.end() :]):
                continue
            text = match["number"]
            yield Bound(op, match["name"] if text is None else _VALUES.get(text) or float(_digits(text)))


def _digits(text: str) -> str:
    return "0" if text == "zero" else text


def text_of(node: ast.expr | None) -> str:
    """Return the message that an exception is given, in lower case, blanks squeezed; empty when it has none.

    Names that fill an f-string stand in the text; other values are shown as a hole.
    """
    if isinstance(node, ast.Call):
        texts = [_text(argument) for argument in node.args]
        return " ".join(" ".join(text for text in texts if text).lower().split())
    return ""


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(value) for value in values)
        case ast.FormattedValue(value=value):
            return last_name(value) or HOLE
        case ast.BinOp(left=left, op=ast.Mod()):
            return re.sub(r"%[-\w.]*[a-z]", HOLE, _text(left))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return re.sub(r"\{[^}]*\}", HOLE, _text(value))
        case ast.Call(func=ast.Name(id="_" | "gettext"), args=[only]):
            return _text(only)
    return ""
