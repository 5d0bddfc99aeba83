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
        pytest.param("def f(a):\n    b = g(a)\n    return a", [("unused-local", 2)], id="unused"),
        pytest.param("def f(a):\n    _b = g(a)\n    return a", [], id="unused on purpose"),
        pytest.param("def f(a):\n    b = g(a)\n    return lambda: b", [], id="used by a nested function"),
        pytest.param("def f(a):\n    b = g(a)\n    return locals()", [], id="used by name"),
    ],
)
def test_a_rule_tells_a_mistake_from_what_looks_alike(text: str, expected: list[tuple[str, int]]) -> None:
    assert fired(text) == expected


def scanned(system: str) -> set[str]:
    """The rules that a scan of code with a mistake for each set reports."""
    lines = ["def f(width):", "    if width > 0:", "        raise ValueError('width must be positive')"]
    user = f"### a.py\n{numbered_lines([*lines, '    rest = width', '    return width'])}"
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
    assert scanned("Review.\nRules: wide") == {"guard-against-message", "unused-local"}


def test_the_tight_set_runs_alone_where_it_does_not() -> None:
    assert scanned("Review.") == {"guard-against-message"}
