"""A source file as mutators see it: the nodes that may be edited, and where in their lines they stand.

What may be edited is decided here once, so that no mutator has to think of it: code in functions, without docstrings,
annotations, decorators, defaults, assertions, raised errors, messages of warnings and logs, f-strings (before Python
3.12 their parts have no true columns), patterns of `match`, and what only a type checker reads. Columns count
characters, from 0.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias, TypeVar

import attrs

from planloom_code import Places, parse

__all__ = ["Edit", "Function", "ParsedFile", "name_of"]

Node = TypeVar("Node", bound=ast.AST)
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Located: TypeAlias = ast.expr | ast.stmt | ast.keyword

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_SKIPPED = (
    *(ast.Assert, ast.Raise, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Delete),
    *(ast.JoinedStr, ast.pattern, ast.arguments),
)
_MESSAGES = frozenset({"critical", "debug", "error", "exception", "fail", "info", "log", "skip", "warn", "warning"})
_TYPE_CALLS = frozenset({"NamedTuple", "NewType", "TypeVar", "cast", "namedtuple"})


@attrs.frozen
class Edit:
    """A replacement within one line: ``line`` from 1, columns ``start`` to ``stop`` in characters from 0."""

    line: int
    start: int
    stop: int
    text: str


class ParsedFile:
    """A text with its syntax tree; raises `Unparsable` where this Python refuses the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = parse(text)
        self.lines: list[str] = _LINE.findall(text)
        self._parents: dict[ast.AST, ast.AST] = {}
        self._nodes = sorted(self._walk(), key=lambda node: (_line(node), getattr(node, "col_offset", 0)))

    @cached_property
    def places(self) -> Places:
        """The functions of the file."""
        return Places(self.text)

    def nodes(self, *kinds: type[Node]) -> Iterator[Node]:
        """The nodes of these kinds that may be edited, by their place in the file."""
        return (node for node in self._nodes if isinstance(node, kinds))

    def parent(self, node: ast.AST) -> ast.AST:
        """The node that holds this one."""
        return self._parents[node]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around this one, from the inside."""
        while node in self._parents:
            node = self._parents[node]
            yield node

    def function(self, node: ast.AST) -> Function:
        """The innermost function around a node; every node of `nodes` has one."""
        return next(around for around in self.ancestors(node) if isinstance(around, Function))

    def span(self, node: Located) -> tuple[int, int, int] | None:
        """Line, first column and the column after the last one; None for a node of several lines."""
        if node.end_lineno != node.lineno or node.end_col_offset is None:
            return None
        return node.lineno, self._column(node.lineno, node.col_offset), self._column(node.lineno, node.end_col_offset)

    def source(self, node: Located) -> str | None:
        """The text of a node of one line; None for one of several."""
        span = self.span(node)
        return None if span is None else self.lines[span[0] - 1][span[1] : span[2]]

    def replace(self, node: Located, text: str | None) -> Iterator[Edit]:
        """The edit that puts ``text`` in a node's place: none for a node of several lines or no text."""
        span = self.span(node)
        if span is not None and text is not None:
            yield Edit(*span, text)

    def swap(self, first: Located, second: Located) -> Iterator[Edit]:
        """The edit that exchanges two nodes of one line."""
        left, right = self.span(first), self.span(second)
        if left is None or right is None or left[0] != right[0]:
            return
        line = self.lines[left[0] - 1]
        between = line[left[2] : right[1]]
        yield Edit(left[0], left[1], right[2], line[right[1] : right[2]] + between + line[left[1] : left[2]])

    def operator(self, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Edit]:
        """The edit of the operator between two operands; between them stand but brackets, comments and it."""
        first, last = left.end_lineno or left.lineno, right.lineno
        for number in range(first, last + 1):
            line = self.lines[number - 1]
            start = self._column(number, left.end_col_offset or 0) if number == first else 0
            stop = self._column(number, right.col_offset) if number == last else len(line)
            found = re.search(r"\s+".join(map(re.escape, old.split())), line[start:stop].partition("#")[0])
            if found:
                yield Edit(number, start + found.start(), start + found.end(), new)
                return

    def edited(self, edit: Edit) -> str:
        """The whole text with an edit made."""
        at = edit.line - 1
        return "".join([*self.lines[:at], self.edited_line(edit), *self.lines[at + 1 :]])

    def edited_line(self, edit: Edit) -> str:
        """The edited line, with its end."""
        line = self.lines[edit.line - 1]
        return line[: edit.start] + edit.text + line[edit.stop :]

    def _column(self, number: int, size_bytes: int) -> int:
        line = self.lines[number - 1]
        return size_bytes if line.isascii() else len(line.encode()[:size_bytes].decode())

    def _walk(self) -> Iterator[ast.AST]:
        stack: list[tuple[ast.AST, bool]] = [(self.tree, False)]
        while stack:
            node, inside = stack.pop()
            if inside:
                yield node
            inside = inside or isinstance(node, Function)
            for child in _editable_children(node):
                self._parents[child] = node
                stack.append((child, inside))


def name_of(node: ast.expr) -> str:
    """The last part of a name with dots; empty for any other expression."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _editable_children(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        children: Iterator[ast.AST] = iter([] if node.name.startswith("test_") else node.body)
    elif isinstance(node, ast.AnnAssign):
        children = iter([node.value] if node.value else [])
    else:
        children = ast.iter_child_nodes(node)
    return (child for child in children if not _is_skipped(child))


def _is_skipped(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.dump(node.test)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Call):
        name = name_of(node.func)
        return name in _MESSAGES | _TYPE_CALLS or name.endswith(("Error", "Exception", "Warning"))
    if isinstance(node, ast.Assign):
        return any(name_of(target).strip("_") in ("all", "version", "test") for target in node.targets)
    return isinstance(node, _SKIPPED)
