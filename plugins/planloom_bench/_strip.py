"""Source without its doctest examples: what an auditor may read of a library that its examples describe.

An example tells what a function must return, so it would give every planted bug away. Only examples go: the prose of a
docstring, its quotes and the line ends of the file stay as they were. Examples hide in docstrings of every kind, in the
strings of ``__test__`` and, commented out, in comments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import attrs

from ._errors import ExamplesLeft

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_PROMPT = re.compile(r"\s*>>>(\s|$)")
_COMMENTED_PROMPT = re.compile(r"\s*#+\s*>>>(\s|$)")
_COMMENTED_TEXT = re.compile(r"\s*#+\s*\S")
_OPENING = re.compile(r"[rRuU]{0,2}(\"\"\"|'''|\"|')")
# A docstring must not become empty: that would mark the functions that were described by examples alone.
_NOTHING_LEFT = "Undescribed."


@attrs.frozen
class _Literal:
    """A string that doctest could read: lines from 1, columns in characters."""

    first: int
    start: int
    last: int
    stop: int
    value: str

    @property
    def has_example(self) -> bool:
        return any(_PROMPT.match(line) for line in self.value.splitlines())


def strip_examples(text: str) -> str:
    """The source text without doctest examples; line numbers move, everything else stays.

    :raises SyntaxError: the text does not parse.
    :raises ExamplesLeft: an example stands in a string that is not written line by line between triple quotes.
    """
    lines: list[str] = _LINE.findall(text)
    for literal in sorted(_literals(text, lines), key=lambda found: found.first, reverse=True):
        if literal.has_example:
            lines[literal.first - 1 : literal.last] = _strip_literal(lines[literal.first - 1 : literal.last], literal)
    stripped = list(_without_commented_examples(lines))
    for literal in _literals("".join(stripped), stripped):
        if literal.has_example:
            raise ExamplesLeft(
                f"line {literal.first} holds an example that cannot be cut out line by line; leave this file out"
            )
    return "".join(stripped)


def _literals(text: str, lines: list[str]) -> Iterator[_Literal]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr):
            yield from _literal(node.value, lines)
        elif isinstance(node, ast.Assign) and any(_is_test_table(target) for target in node.targets):
            for part in ast.walk(node.value):
                yield from _literal(part, lines)


def _literal(node: ast.AST, lines: list[str]) -> Iterator[_Literal]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        last, stop = node.end_lineno or node.lineno, node.end_col_offset or 0
        start = _characters(lines[node.lineno - 1], node.col_offset)
        yield _Literal(node.lineno, start, last, _characters(lines[last - 1], stop), node.value)


def _characters(line: str, size_bytes: int) -> int:
    """Python counts columns in bytes of UTF-8."""
    return len(line.encode()[:size_bytes].decode())


def _is_test_table(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == "__test__"


def _strip_literal(block: list[str], literal: _Literal) -> list[str]:
    """The lines of one string literal without its examples, closed as it was."""
    opening = _OPENING.match(block[0], literal.start)
    if opening is None or len(block) == 1:
        return block
    closing = literal.stop - len(opening[1])
    head, tail = block[0][: opening.end()], block[-1][closing:]
    kept = list(_prose([block[0][opening.end() :], *block[1:-1], block[-1][:closing]]))
    while kept and not kept[-1].strip():
        kept.pop()
    if not kept:
        return [head + _NOTHING_LEFT + tail]
    kept[0] = head + kept[0]
    if len(kept) == 1:
        return [kept[0].rstrip() + tail]
    return [*kept, _indentation(block[-1]) + tail]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _prose(body: list[str]) -> Iterator[str]:
    """The lines that belong to no example; of several blank lines in a row, the first."""
    in_example = after_blank = False
    for line in body:
        blank = not line.strip()
        in_example = bool(_PROMPT.match(line)) or (in_example and not blank)
        if in_example or (blank and after_blank):
            continue
        after_blank = blank
        yield line


def _without_commented_examples(lines: list[str]) -> Iterator[str]:
    in_example = False
    for line in lines:
        continues = in_example and bool(_COMMENTED_TEXT.match(line))
        in_example = bool(_COMMENTED_PROMPT.match(line)) or continues
        if not in_example:
            yield line
