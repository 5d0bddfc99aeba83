"""What a hint says to write for a function that plans lack gives what the function gives in Python."""

from __future__ import annotations

import asyncio
from importlib import import_module

import pytest
from tests.grammar.gallery.test_gallery import mended

import planlang
from planlang import Problem, Vocabulary, check
from planlang._names import METHODS
from planlang._refusals import MODULES

WORDS = Vocabulary([])
IMPORTED = ("collections", "copy", "fnmatch", "heapq", "itertools", "math", "operator", "os", "statistics", "textwrap")

EXPRESSIONS = [
    "12 / statistics.mean([1, 2, 6])",
    "statistics.mean(len(x) for x in ['a', 'bcd']) + 1",
    "-statistics.mean([1, 2])",
    "[statistics.median(xs) for xs in [[5, 1, 9], [5, 1, 2, 9]]]",
    "[3 / statistics.median(xs) for xs in [[2, 1]]]",
    "10 - math.ceil(7 / 2)",
    "math.ceil(-2.5)",
    "-math.floor(-2.5)",
    "[math.floor(x / 2) for x in range(-3, 4)]",
    "math.inf > 5",
    "os.path.join('a', 'b' + 'c').upper()",
    "os.path.basename('a/b' + '/c.py')[:2]",
    "os.path.dirname('a/b/c.py') + '!'",
    "[p for p in ['a.py', 'b.txt', '.py'] if fnmatch.fnmatch(p, '*.py')]",
    "[p for p in ['src/a', 'a/src/b'] if not fnmatch.fnmatch(p, 'src/*')]",
    "heapq.nlargest(2, [3, 1, 2])[1]",
    "heapq.nsmallest(2, [3, 1, 2])",
    "list(itertools.chain([1], (2, 3)))",
    "list(itertools.chain.from_iterable([x, x] for x in 'ab'))",
    "list(itertools.islice(range(9), 3))",
    "list(itertools.product([1, 2], 'ab'))",
    "sorted([(1, 'b'), (0, 'c')], key=operator.itemgetter(1))",
    "operator.itemgetter(1)('abc')",
    "sorted([(1, 2), (1, 0)], key=operator.itemgetter(0, 1))",
    "copy.copy([1, 2]) + [3]",
    "repr({'a': 1}) + repr('x')",
    "hex(255) + bin(5)",
    "next(x for x in [3, 4] if x > 3) * 2",
    "next((x for x in [3, 4] if x > 4), None)",
    "next(iter([7]))",
    "'7'.zfill(3) + 'ab'.ljust(4).rjust(6)",
    "'ab'.center(6, '*') * 2",
    "'AB'.casefold() in 'ab'",
    "sorted(['bb', 'a'], key=len) == sorted(['bb', 'a'], key=lambda x: len(x))",
    "[y for x in [[1], [], [2]] if x and (y := x[0])]",
    "[x for x in [0, 3] if x == 0 or (y := x) > 2]",
    "[n for n in range(6) if n % 2 and (m := n * n) > 1 and m < 20]",
]


def problems_of(source: str) -> list[Problem]:
    return [problem for problem in check(source, WORDS) if problem.severity == "problem"]


def followed(source: str) -> str:
    """Return ``source`` with every hint applied as it is written."""
    while problems := problems_of(source):
        changed = mended(source, problems[0])
        assert changed not in (None, source), problems[0].render(source)
        source = changed or ""
    return source


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_rewritten_expression_gives_what_python_gives(expression: str) -> None:
    names = {name: import_module(name) for name in IMPORTED}
    wanted = eval(expression, dict(names))
    outcome = asyncio.run(planlang.compile(followed(f"result = {expression}\n"), WORDS).run())
    assert outcome.result == wanted


@pytest.mark.parametrize("name", MODULES)
def test_no_function_of_a_module_passes_for_a_method(name: str) -> None:
    calls = ", ".join(f"{name}.{method}(1)" for method in METHODS)
    assert {problem.code for problem in problems_of(f"result = [{calls}]\n")} == {"PL116"}
    assert len(problems_of(f"result = [{calls}]\n")) == len(METHODS)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_that_is_handed_over_is_named(name: str) -> None:
    assert [problem.code for problem in problems_of(f"result = [1].count({name})\n")] == ["PL101"]
