"""How high a tree is: the checker looks as deep as that says, and no deeper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planlang import Vocabulary, check
from planlang import _nodes as n
from planlang._limits import DEFAULT_RULES
from planlang._parse import parse

PLANS = Path(__file__).parents[1] / "plans"

DEEP = {
    "signs": "-" * 150 + "x",
    "nots": "not " * 150 + "x",
    "attributes": "x" + ".y" * 150,
    "calls": "x" + "()" * 150,
    "indices": "x" + "[0]" * 150,
    "lambdas": "lambda: " * 150 + "x",
    "choices": "x if y else " * 150 + "x",
}
AS_A_TARGET = {
    "bound": "{} = 1\n",
    "bound among others": "a, {} = 1, 2\n",
    "added to": "{} += 1\n",
    "annotated": "{}: int = 1\n",
    "looped over": "for {} in [1]:\n    pass\n",
    "looped over within": "a = [1 for {} in [1]]\n",
    "opened": "with a as {}:\n    pass\n",
    "deleted": "del {}\n",
}


def _below(node: n.Node) -> Iterator[n.Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(n.children(node))


def _wrong_heights(source: str) -> list[tuple[str, int]]:
    module = parse(source).module
    if module is None:
        return []
    low = ((node, max((child.height for child in n.children(node)), default=0)) for node in _below(module))
    # A parameter is as high as its default, and no higher for its name.
    return [(type(node).__name__, node.height) for node, highest in low if not highest <= node.height <= highest + 1]


def plans() -> list[Any]:
    return [pytest.param(path, id=path.stem) for path in sorted(PLANS.rglob("*.plan"))]


@pytest.mark.parametrize("path", plans())
def test_a_node_is_at_most_one_higher_than_the_highest_below_it(path: Path) -> None:
    assert _wrong_heights(path.read_bytes().decode("utf-8", "surrogateescape")) == []


@pytest.mark.parametrize("deep", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize("statement", AS_A_TARGET.values(), ids=AS_A_TARGET)
def test_however_deep_a_target_is_one_problem_on_its_line_says_so(statement: str, deep: str) -> None:
    source = statement.format(deep)
    assert _wrong_heights(source) == []
    problems = [problem for problem in check(source, Vocabulary([])) if problem.severity == "problem"]
    assert {problem.line for problem in problems} == {1}
    assert DEFAULT_RULES.node_height < 150
