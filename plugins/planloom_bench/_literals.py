"""The strings of a source text that hold examples, with where they are written.

In a docstring every prompt is an example's. Other strings need more, for programs that talk to people print prompts of
their own: code behind the prompt where they are written over several lines, and an answer to it where they are not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

import attrs

from ._prompts import OF_IPYTHON, OF_SPHINX, is_prompt, may_hold_prompts

__all__ = ["Literal", "example_elsewhere", "literals_with_examples"]

_PROMPT_WITH_CODE = re.compile(rf"^[ \t#]*(?:>>>[ \t]*[^\s>=]|{OF_IPYTHON}[ \t]*\S|{OF_SPHINX})", re.MULTILINE)
_PROMPT_WITH_ANSWER = re.compile(
    _PROMPT_WITH_CODE.pattern + r".*\n(?:[ \t#]*\.\.\..*\n)*[ \t#]*(?![ \t#]|>>>|\.\.\.)\S", re.MULTILINE
)
_IN_LINES = re.compile(r"[rRuUbBfF]{0,2}(?:\"\"\"|''')")


@attrs.frozen
class Literal:
    """Where a string is written: lines from 1, columns in characters."""

    first: int
    start: int
    last: int
    stop: int


def literals_with_examples(nodes: Sequence[ast.AST], lines: Sequence[str]) -> Iterator[Literal]:
    """The plain string literals that hold an example; f-strings and bytes cannot be cut."""
    for node in _with_examples(nodes, lines):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield _literal(node, lines)


def example_elsewhere(nodes: Sequence[ast.AST], lines: Sequence[str]) -> int | None:
    """The first line of some string, of whatever kind, that holds an example, or None."""
    return min((node.lineno for node in _with_examples(nodes, lines)), default=None)


def _with_examples(nodes: Sequence[ast.AST], lines: Sequence[str]) -> Iterator[ast.expr]:
    docstrings, parts = _docstrings(nodes), _parts_of_formatted(nodes)
    for node in nodes:
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in parts:
            value = _value(node)
            if may_hold_prompts(value) and _holds_example(node, value, lines, id(node) in docstrings):
                yield node


def _value(node: ast.Constant | ast.JoinedStr) -> str:
    """The string that the node means, with a letter for what is filled in; empty when it is no string."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_value(part) if isinstance(part, ast.Constant) else "x" for part in node.values)
    value = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
    return value if isinstance(value, str) else ""


def _parts_of_formatted(nodes: Sequence[ast.AST]) -> set[int]:
    formatted = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    return {id(part) for node in formatted for part in ast.walk(node) if part is not node}


def _holds_example(node: ast.expr, value: str, lines: Sequence[str], is_docstring: bool) -> bool:
    if is_docstring:
        return any(map(is_prompt, value.splitlines()))
    start = _characters(lines[node.lineno - 1], node.col_offset)
    if _IN_LINES.match(lines[node.lineno - 1], start) and "\n" in value:
        return _PROMPT_WITH_CODE.search(value) is not None
    return _PROMPT_WITH_ANSWER.search(value) is not None


def _docstrings(nodes: Sequence[ast.AST]) -> set[int]:
    """Strings that stand as statements, and all of what is assigned to ``__doc__`` or ``__test__``."""
    found: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Expr):
            found.add(id(node.value))
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(_is_documentation(target) for target in targets):
                found.update(map(id, ast.walk(node.value)))
    return found


def _is_documentation(target: ast.expr) -> bool:
    if isinstance(target, ast.Subscript):
        return _is_documentation(target.value)
    name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
    return name in ("__doc__", "__test__")


def _literal(node: ast.Constant, lines: Sequence[str]) -> Literal:
    last, stop = node.end_lineno or node.lineno, node.end_col_offset or 0
    start = _characters(lines[node.lineno - 1], node.col_offset)
    return Literal(node.lineno, start, last, _characters(lines[last - 1], stop))


def _characters(line: str, size_bytes: int) -> int:
    """Python counts columns in bytes of UTF-8."""
    return len(line.encode()[:size_bytes].decode())
