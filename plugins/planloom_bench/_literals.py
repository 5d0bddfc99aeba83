"""The strings of a source text that hold examples, with where they are written.

In a docstring every prompt is an example's. Any other string needs more: several lines, and code behind the prompt at
the beginning of one, for programs that talk to people print prompts of their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

import attrs

from ._prompts import is_prompt

__all__ = ["Literal", "example_elsewhere", "literals_with_examples"]

_PROMPT_WITH_CODE = re.compile(r"^[ \t#]*>>>[ \t]*[^\s>=]", re.MULTILINE)


@attrs.frozen
class Literal:
    """Where a string is written: lines from 1, columns in characters."""

    first: int
    start: int
    last: int
    stop: int


def literals_with_examples(tree: ast.Module, lines: Sequence[str]) -> Iterator[Literal]:
    """The string literals that hold an example and can be cut; parts of f-strings cannot."""
    docstrings, parts = _docstrings(tree), _parts_of_formatted(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in parts and _holds_example(node, id(node) in docstrings):
            yield _literal(node, lines)


def example_elsewhere(tree: ast.Module, lines: Sequence[str]) -> int | None:
    """The first line of some string, of whatever kind, that holds an example, or None."""
    docstrings = _docstrings(tree)
    found = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and (_holds_example(node, id(node) in docstrings) or _bytes_hold_example(node.value))
    ]
    return min(found, default=None)


def _holds_example(node: ast.Constant, is_docstring: bool) -> bool:
    if not isinstance(node.value, str) or ">>>" not in node.value:
        return False
    if is_docstring:
        return any(map(is_prompt, node.value.splitlines()))
    return _holds_dialogue(node.value)


def _bytes_hold_example(value: object) -> bool:
    return isinstance(value, bytes) and b">>>" in value and _holds_dialogue(value.decode("latin-1"))


def _holds_dialogue(value: str) -> bool:
    return "\n" in value.strip() and _PROMPT_WITH_CODE.search(value) is not None


def _docstrings(tree: ast.Module) -> set[int]:
    """Strings that stand as statements, and all of what is assigned to ``__doc__`` or ``__test__``."""
    found: set[int] = set()
    for node in ast.walk(tree):
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


def _parts_of_formatted(tree: ast.Module) -> set[int]:
    return {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}


def _literal(node: ast.Constant, lines: Sequence[str]) -> Literal:
    last, stop = node.end_lineno or node.lineno, node.end_col_offset or 0
    start = _characters(lines[node.lineno - 1], node.col_offset)
    return Literal(node.lineno, start, last, _characters(lines[last - 1], stop))


def _characters(line: str, size_bytes: int) -> int:
    """Python counts columns in bytes of UTF-8."""
    return len(line.encode()[:size_bytes].decode())
