"""Each rule of the wide set on code that shows its bug, and on code that only looks alike; and when the set runs."""

from __future__ import annotations

import asyncio
import json
from textwrap import dedent

import pytest

import planloom_offline
from planloom.clients import Endpoint
from planloom.questions import Question, message_of
from planloom_code import numbered_lines
from planloom_offline import TIGHT_RULES, OfflineClient
from planloom_offline._analysis import Finding, analyse
from planloom_offline._skeptic import verdicts

WIDE_RULES = tuple(rule for rule in planloom_offline.WIDE_RULES if rule.slow is None)


def found(*texts: str) -> list[Finding]:
    files = (f"### m{n}.py\n{numbered_lines(dedent(text).strip().split(chr(10)))}" for n, text in enumerate(texts))
    return analyse("\n".join(files), WIDE_RULES)


def fired(*texts: str) -> list[tuple[str, int]]:
    return [(finding.rule, finding.line) for finding in found(*texts)]


CHECKSUM = """
def checksum(number, weights, modulus):
    total = 0
    for digit, weight in zip(number, weights):
        total {step} weight * int(digit) % modulus
    if total % modulus {test} {rest}:
        return modulus - total
    return total % modulus
"""


def copies(**changed: str) -> list[str]:
    usual = {"step": "+=", "test": "==", "rest": "0"}
    return [CHECKSUM.format(**usual)] * 3 + [CHECKSUM.format(**{**usual, **changed})]


@pytest.mark.parametrize(
    ("changed", "line"), [({"test": "!="}, 5), ({"rest": "1"}, 5)], ids=["an operator", "a constant"]
)
def test_the_odd_one_out_of_several_copies_is_reported_where_it_differs(changed: dict[str, str], line: int) -> None:
    assert [(f.file, f.line) for f in found(*copies(**changed))] == [("m3.py", line)]


def test_copies_that_differ_in_their_names_alone_are_not_reported() -> None:
    renamed = CHECKSUM.replace("total", "s").format(step="+=", test="==", rest="0")
    assert fired(*copies(), renamed) == []


def test_functions_that_differ_in_two_places_are_no_copies() -> None:
    assert fired(*copies(test="!=", rest="1")) == []


def test_a_skeptic_confirms_a_difference_without_seeing_the_copies() -> None:
    (finding,) = found(*copies(test="!="))
    code = numbered_lines(CHECKSUM.format(step="+=", test="!=", rest="0").strip().split("\n"))
    block = f"--- report 1 ---\nfile: m3.py\nline: {finding.line}\nclaim: {finding.claim}\ncode:\n{code}"
    assert verdicts(block, WIDE_RULES)["verdicts"][0]["real"] is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("def is_even(n):\n    return n % 2 == 1", [("words", 2)], id="parity"),
        pytest.param("def is_even(n):\n    return n % 2 != 1", [], id="parity said otherwise"),
        pytest.param("def subtract(a, b):\n    return a + b", [("words", 2)], id="arithmetic"),
        pytest.param("def subtract(a, b):\n    return a - b", [], id="arithmetic as said"),
        pytest.param("def f(x):\n    x_min = x.x_max\n    return x_min", [("words", 2)], id="opposite bounds"),
        pytest.param("def f(left, right):\n    left = right\n    return left", [], id="a plain move"),
        pytest.param(
            'def f(xs):\n    """Return True if all are odd."""\n    return any(x % 2 for x in xs)',
            [("words", 3)],
            id="all",
        ),
        pytest.param('def f(xs):\n    """Return True if any is odd."""\n    return any(xs)', [], id="any"),
        pytest.param(
            "def f(xs):\n    p = 0\n    for x in xs:\n        p *= x\n    return p", [("start-value", 2)], id="product"
        ),
        pytest.param("def f(xs):\n    p = 2\n    for x in xs:\n        p *= x\n    return p", [], id="product of two"),
        pytest.param(
            "def f(xs):\n    total = 1\n    for x in xs:\n        total += x\n    return total",
            [("start-value", 2)],
            id="sum",
        ),
        pytest.param(
            "def f(xs):\n    n = 1\n    for x in xs:\n        n += x\n    return n", [], id="a name of no sum"
        ),
        pytest.param("def f(a):\n    b = g(a)\n    return a", [("unused-local", 2)], id="unused"),
        pytest.param("def f(a):\n    _b = g(a)\n    return a", [], id="unused on purpose"),
        pytest.param("def f(a):\n    b = g(a)\n    return lambda: b", [], id="used by a nested function"),
        pytest.param("def f(a):\n    b = g(a)\n    return locals()", [], id="used by name"),
        pytest.param("def f(a):\n    return a - a", [("same-operands", 2)], id="same operands"),
        pytest.param("def f(a):\n    return a() - a()", [], id="two calls"),
        pytest.param("def f(a):\n    return a != a", [], id="asks for NaN"),
        pytest.param("def f(a, b):\n    while a < 9:\n        b += 1\n    return b", [("no-progress", 2)], id="stuck"),
        pytest.param("def f(a, b):\n    while a < 9:\n        a += 1\n    return b", [], id="moving"),
        pytest.param("def f(a):\n    while a:\n        a.pop()", [], id="changed by a method"),
        pytest.param(
            "def f(x, low, high):\n    while low < high:\n        mid = (low + high) // 2\n"
            "        if x[mid] < 0:\n            low = mid\n        else:\n            high = mid\n    return low",
            [("no-progress", 2)],
            id="bisection",
        ),
        pytest.param(
            "def f(x):\n    for i in range(len(x) - 1):\n        print(x[i])", [("short-range", 2)], id="one short"
        ),
        pytest.param("def f(x):\n    for i in range(len(x) - 1):\n        print(x[i], x[i + 1])", [], id="neighbours"),
        pytest.param(
            "def f(x):\n    for i in range(len(x) + 1):\n        print(x[i])", [("short-range", 2)], id="one long"
        ),
    ],
)
def test_a_rule_tells_a_mistake_from_what_looks_alike(text: str, expected: list[tuple[str, int]]) -> None:
    assert fired(text) == expected


def scanned(system: str) -> set[str]:
    """The rules that a scan of code with a mistake for each set reports."""
    lines = ["def f(width):", "    if width > 0:", "        raise ValueError('width must be positive')"]
    user = f"### a.py\n{numbered_lines([*lines, '    return width - width'])}"
    wanted = {"response_format": {"type": "json_schema", "json_schema": {"name": "findings"}}}
    messages = (message_of("system", system), message_of("user", "Read on.", user))

    async def ask() -> str:
        client = OfflineClient(Endpoint(name="offline", client="offline"), lambda: (*TIGHT_RULES, *WIDE_RULES))
        try:
            question = Question(endpoint="offline", model="offline", messages=messages, parameters=wanted)
            return (await client.ask(question)).text
        finally:
            await client.close()

    return {finding["claim"].split("]")[0][1:] for finding in json.loads(asyncio.run(ask()))["findings"]}


def test_the_wide_set_runs_where_the_question_asks_for_it() -> None:
    assert scanned("Review.\nRules: wide") == {"guard-against-message", "same-operands"}


def test_the_tight_set_runs_alone_where_it_does_not() -> None:
    assert scanned("Review.") == {"guard-against-message"}
