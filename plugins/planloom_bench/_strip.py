"""Source without its doctest examples: what an auditor may read of a library that its examples describe.

An example tells what a function must return, so it would give every planted bug away. Only examples go: the prose of a
docstring, its quotes and the line ends of the file stay as they were. Examples hide in strings of every kind and,
commented out, in comments. What cannot be cut out line by line is refused: such a file is not shown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from planloom_code import Unparsable, parse

from ._commented import without_commented_examples
from ._errors import ExamplesLeft
from ._line_ends import lines_with_ends
from ._literals import Literal, example_elsewhere, literals_with_examples
from ._prompts import may_hold_prompts, without_examples

__all__ = ["strip_examples"]

_OPENING = re.compile(r"[rRuU]{0,2}(\"\"\"|'''|\"|')")
# A docstring must not become empty: that would mark the functions that were described by examples alone.
_NOTHING_LEFT = "Undescribed."


def strip_examples(text: str) -> str:
    """The source text without doctest examples; line numbers move, everything else stays.

    :raises ExamplesLeft: an example stands where it cannot be cut out line by line, or may stand in a text that this
        Python cannot parse.
    """
    if not may_hold_prompts(text):
        return text
    try:
        return _stripped(text)
    except Unparsable as error:
        raise ExamplesLeft(f"a text with prompts in it {error.reason}; leave this file out") from error


def _stripped(text: str) -> str:
    nodes = list(ast.walk(parse(text)))
    lines = lines_with_ends(text)
    for literal in sorted(literals_with_examples(nodes, lines), key=lambda found: found.first, reverse=True):
        lines[literal.first - 1 : literal.last] = _strip_literal(lines[literal.first - 1 : literal.last], literal)
    stripped = "".join(without_commented_examples(lines))
    _check(nodes, stripped)
    return stripped


def _check(before: Sequence[ast.AST], stripped: str) -> None:
    """Only strings have changed, and none of them holds an example any more.

    :raises ExamplesLeft: it is not so.
    """
    try:
        after = list(ast.walk(parse(stripped)))
    except Unparsable as error:
        raise ExamplesLeft(f"without its examples the text {error.reason}; leave this file out") from error
    line = example_elsewhere(after, lines_with_ends(stripped))
    if line is not None:
        raise ExamplesLeft(f"line {line} holds an example that cannot be cut out line by line; leave this file out")
    if _without_strings(before) != _without_strings(after):
        raise ExamplesLeft("its examples are written into its code; leave this file out")


def _without_strings(nodes: Sequence[ast.AST]) -> str:
    """All that a module says, but for what stands in its strings; the module comes first."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(nodes[0])


def _strip_literal(block: list[str], literal: Literal) -> list[str]:
    """The lines of one string literal without its examples, closed as it was."""
    opening = _OPENING.match(block[0], literal.start)
    if opening is None or len(opening[1]) == 1 or len(block) == 1:
        return block
    closing = literal.stop - len(opening[1])
    head, tail = block[0][: opening.end()], block[-1][closing:]
    kept = list(without_examples([block[0][opening.end() :], *block[1:-1], block[-1][:closing]]))
    while kept and not kept[-1].strip(" \t\r\n\f\\"):
        kept.pop()
    if not kept:
        return [head + _NOTHING_LEFT + tail]
    kept[0] = head + kept[0]
    if kept[-1].rstrip("\r\n") == kept[-1]:
        return [*kept[:-1], kept[-1] + tail]
    if len(kept) == 1 and kept[0].rstrip()[-1] not in "\\\"'":
        return [kept[0].rstrip() + tail]
    return [*kept, _indentation(block[-1]) + tail]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
