"""Where in a file a line is: its innermost function, or a block of ten lines outside any function.

Two findings at one place are one finding, so everybody who compares findings must ask here. A decorated
function begins at its first decorator, whatever line Python's own node gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from planloom.data_classes import frozen
from planloom_code._errors import Unparsable
from planloom_code._grammar import parse

_BLOCK_LINES = 10
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# The fields of a node that hold statements or parts with statements: no definition hides anywhere else.
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_KINDS: tuple[type[ast.AST], ...] = (ast.Module, *ast.stmt.__subclasses__(), ast.ExceptHandler, ast.match_case)
_BODIES_OF = {
    kind: bodies for kind in _KINDS if (bodies := tuple(field for field in reversed(_BODIES) if field in kind._fields))
}


@frozen
class Place:
    """A function of a file, or, outside functions, the ten lines that begin at ``block``."""

    file: str
    function: str | None
    block: int | None = None

    @property
    def key(self) -> str:
        """The place as one text, unique in a tree."""
        if self.function is not None:
            return f"{self.file}::{self.function}"
        first = self.block or 1
        return f"{self.file}::lines {first}-{first + _BLOCK_LINES - 1}"


@frozen
class Span:
    """A function or class with its first line, decorators included, and its last."""

    name: str
    first_line: int
    last_line: int
    depth: int
    is_function: bool


class Places:
    """The functions of one source text; one that does not parse (``parsed`` is false) has none."""

    def __init__(self, text: str) -> None:
        self.parsed = True
        try:
            self.spans = tuple(_spans(parse(text)))
        except Unparsable:
            self.spans, self.parsed = (), False
        self._functions = [span for span in self.spans if span.is_function]
        self._at = _innermost_by_line(self._functions)

    @property
    def lines_held(self) -> int:
        """How many lines it keeps an entry for, as a measure of its size."""
        return len(self._at)

    def span_at(self, line: int) -> tuple[int, int] | None:
        """First and last line of the innermost function at ``line`` (1-based), or None."""
        found = self._found(line)
        return None if found is None else (found.first_line, found.last_line)

    def function_at(self, line: int) -> str | None:
        """The qualified name (``Class.method``, ``outer.inner``) of the innermost function at ``line``."""
        found = self._found(line)
        return None if found is None else found.name

    def span(self, function: str) -> tuple[int, int] | None:
        """First and last line of the first function with this qualified name, or None."""
        for found in self._functions:
            if found.name == function:
                return found.first_line, found.last_line
        return None

    def place_of(self, path: str, line: int) -> Place:
        """The place of ``line`` in the file ``path``."""
        function = self.function_at(line)
        if function is not None:
            return Place(path, function)
        return Place(path, None, (line - 1) // _BLOCK_LINES * _BLOCK_LINES + 1)

    def _found(self, line: int) -> Span | None:
        index = self._at[line] if 0 < line < len(self._at) else -1
        return None if index < 0 else self._functions[index]


def _innermost_by_line(functions: Sequence[Span]) -> list[int]:
    """For each line number the index of the innermost function there, -1 for none."""
    at = [-1] * (max((span.last_line for span in functions), default=0) + 1)
    for index, span in sorted(enumerate(functions), key=lambda pair: pair[1].depth):
        at[span.first_line : span.last_line + 1] = [index] * (span.last_line + 1 - span.first_line)
    return at


def _spans(tree: ast.Module) -> Iterator[Span]:
    """Functions and classes in order of appearance; a stack, because code nests deeper than Python recurses."""
    stack: list[tuple[ast.AST, str, int]] = [(tree, "", 0)]
    while stack:
        node, prefix, depth = stack.pop()
        if isinstance(node, _DEFINITIONS):
            name = f"{prefix}{node.name}"
            prefix, depth = f"{name}.", depth + 1
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            last = node.end_lineno or node.lineno
            yield Span(name, first, last, depth, not isinstance(node, ast.ClassDef))
        for field in _BODIES_OF[type(node)]:
            children = getattr(node, field)
            stack += [(child, prefix, depth) for child in reversed(children) if type(child) in _BODIES_OF]
