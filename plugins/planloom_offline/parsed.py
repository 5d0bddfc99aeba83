"""A parsed file as rules see it: its tree, walked once, and the other files of its shard.

A tree is walked a single time for all rules. The walk notes the nodes that rules ask for by type, each with the
function it stands in, because parsing and walking are nearly all of the cost of a scan.
"""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import attrs

from planloom.data_classes import frozen

from ._numbered import Piece

__all__ = ["Function", "ParsedFile", "Shard", "Site", "children", "parse_pieces"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
N = TypeVar("N", bound=ast.AST)
T = TypeVar("T")

_INDEXED = (
    *(ast.Call, ast.If, ast.Assert, ast.Assign, ast.AnnAssign, ast.Return, ast.Nonlocal, ast.BoolOp, ast.Compare),
    *(ast.For, ast.AsyncFor, ast.While),
)
_LEAVES = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop, ast.Constant, ast.alias)


@frozen(eq=False)
class Function:
    """A function or method with where it stands.

    :ivar qualname: names from the outside in, joined by dots.
    :ivar class_name: the class it is a method of, empty for a plain function.
    :ivar parent: the function it is nested in.
    """

    node: FunctionNode
    qualname: str
    class_name: str
    parent: Function | None


Site = tuple[N, Function | None]


@attrs.define(eq=False)
class Shard:
    """The parsed files that were sent together, in order, with what rules work out once for all of them."""

    files: tuple[ParsedFile, ...] = ()
    _notes: dict[str, object] = attrs.field(factory=dict)

    def once(self, name: str, work_out: Callable[[], T]) -> T:
        """Return what ``work_out`` gave the first time it was asked for under this name."""
        if name not in self._notes:
            self._notes[name] = work_out()
        return self._notes[name]  # type: ignore[return-value]  # one name is one kind of note


@attrs.define(eq=False)
class ParsedFile:
    """One piece of code that parses. Filled by :func:`parse_pieces` and read-only afterwards.

    Lines are counted from 1 inside the piece; ``first_line`` is the printed number of the first.

    :ivar lines: the text, as it was parsed.
    :ivar shard: the files that were sent together, itself included.
    """

    path: str
    first_line: int
    lines: tuple[str, ...]
    tree: ast.Module
    functions: list[Function] = attrs.field(factory=list)
    shard: Shard = attrs.field(factory=Shard)
    _sites: dict[type[ast.AST], list[tuple[ast.AST, Function | None]]] = attrs.field(factory=dict)

    def sites(self, kind: type[N]) -> list[Site[N]]:
        """Return the nodes of one type, each with its innermost function, in no promised order.

        :param kind: one of those that are indexed above, as Call or If of :mod:`ast`.
        """
        return self._sites.get(kind, [])  # type: ignore[return-value]  # filed under its own type by _walk

    def function_at(self, line: int) -> str:
        """Return the qualified name of the innermost function around a line, or an empty text."""
        function = self.innermost(line)
        return function.qualname if function is not None else ""

    def innermost(self, line: int) -> Function | None:
        """Return the innermost function around a line."""
        around = (f for f in self.functions if f.node.lineno <= line <= (f.node.end_lineno or 0))
        return max(around, key=lambda f: f.node.lineno, default=None)


def children(node: ast.AST) -> Iterator[ast.AST]:
    """Return the direct parts of a node that can hold names: no operators, contexts, constants or import aliases.

    Three times as fast as ``ast.iter_child_nodes``, and walking is most of what a scan costs.
    """
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST) and not isinstance(item, _LEAVES):
                    yield item
        elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
            yield value


def parse_pieces(pieces: Iterable[Piece]) -> Shard:
    """Return the pieces that parse as one shard; those that do not are left out."""
    files = tuple(file for piece in pieces if (file := _parse(piece)) is not None)
    shard = Shard(files)
    for file in files:
        file.shard = shard
    return shard


def _parse(piece: Piece) -> ParsedFile | None:
    """Return a piece of code parsed and walked, or ``None`` when it does not parse as it stands."""
    text = textwrap.dedent("\n".join(piece.lines))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text + "\n")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    file = ParsedFile(piece.path, piece.first_line, tuple(text.split("\n")), tree)
    _walk(file)
    return file


def _walk(file: ParsedFile) -> None:
    """File the nodes by type; a stack of our own, since trees may nest deeper than Python recurses."""
    stack: list[tuple[ast.AST, Function | None, str]] = [(file.tree, None, "")]
    while stack:
        node, function, class_path = stack.pop()
        if isinstance(node, _INDEXED):
            file._sites.setdefault(type(node), []).append((node, function))
        elif isinstance(node, FunctionNode):
            function = _entered(file, node, function, class_path)
            class_path = ""
        elif isinstance(node, ast.ClassDef):
            class_path = f"{class_path}.{node.name}" if class_path else node.name
        stack.extend((child, function, class_path) for child in children(node) if type(child) is not ast.Name)


def _entered(file: ParsedFile, node: FunctionNode, outer: Function | None, class_path: str) -> Function:
    parts = [outer.qualname if outer else "", class_path, node.name]
    function = Function(node, ".".join(part for part in parts if part), class_path, outer)
    file.functions.append(function)
    return function
