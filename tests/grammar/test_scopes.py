"""Names get the place that Python's own scoping gives them."""

from __future__ import annotations

import symtable
from collections.abc import Iterator

import pytest

from planlang import Vocabulary
from planlang import _nodes as n
from planlang._parse import parse
from planlang._scopes import Names, resolve

PROGRAMS = [
    "x = 1\ndef f(a, b=x, *c, d=2, **e):\n    y = a + x\n    return [y, b, c, d, e]\nresult = f(1)\n",
    "def f(n):\n    def g(m):\n        return n + m\n    return g\nresult = f(1)(2)\n",
    "def f(n):\n    return [lambda x: x + n + i for i in range(2)]\nresult = f(1)\n",
    "def f(xs):\n    k = 2\n    return sum(x * k for x in xs)\nresult = f([1])\n",
    "def f():\n    t = 0\n    for i in range(3):\n        t += i\n    return lambda: t\nresult = f()()\n",
    "result = [(i, j) for i in range(4) if i for j in range(i)]\n",
]


def resolved(source: str, vocabulary: Vocabulary) -> tuple[n.Module, Names]:
    parsed = parse(source)
    assert parsed.module is not None
    return parsed.module, resolve(parsed.module, vocabulary)


def within(node: n.Node) -> Iterator[n.Node]:
    yield node
    for child in n.children(node):
        yield from within(child)


def tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from tables(child)


@pytest.mark.parametrize("source", PROGRAMS)
def test_a_name_is_captured_exactly_where_python_captures_it(source: str, three_words: Vocabulary) -> None:
    module, _ = resolved(source, three_words)
    ours = {node.id for node in within(module) if isinstance(node, n.Name) and node.kind == n.CELL}
    every = tables(symtable.symtable(source, "plan", "exec"))
    free = {symbol.get_name() for table in every for symbol in table.get_symbols() if symbol.is_free()}
    assert ours == free


@pytest.mark.parametrize("source", PROGRAMS)
def test_every_slot_of_a_frame_belongs_to_one_name(source: str, three_words: Vocabulary) -> None:
    module, _ = resolved(source, three_words)
    for node in within(module):
        if isinstance(node, n.Def | n.Lambda | n.Generator | n.Module):
            inner = [slot for _, slot in node.scope.free]
            assert len(set(inner)) == len(inner)
            assert not set(inner) & set(node.scope.cells)
            assert all(slot < len(node.scope.names) for slot in [*inner, *node.scope.cells])


def last_read(source: str, name: str, vocabulary: Vocabulary) -> n.Name:
    module, names = resolved(source, vocabulary)
    found = [x for x in within(module) if isinstance(x, n.Name) and x.id == name and x in names.of[x].reads]
    return max(found, key=lambda node: node.start)


@pytest.mark.parametrize(
    ("source", "certain"),
    [
        ("x = 1\nresult = x", True),
        ("if args:\n    x = 1\nresult = x", False),
        ("if args:\n    x = 1\nelse:\n    x = 2\nresult = x", True),
        ("for x in [1]:\n    pass\nresult = x", True),
        ("for x in args:\n    pass\nresult = x", False),
        ("for i in range(3):\n    if args:\n        break\n    x = 1\nresult = x", False),
        ("def f():\n    for i in args:\n        x = 1\n        return x\nresult = f()", True),
    ],
)
def test_a_read_is_certain_where_every_way_binds_the_name(
    source: str, certain: bool, audit_vocabulary: Vocabulary
) -> None:
    assert last_read(source, "x", audit_vocabulary).certain is certain
