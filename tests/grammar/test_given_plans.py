"""Plans as models write them, programs that must pass, programs that must not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planlang import Problem, Rules, Vocabulary, check

CASES = Path(__file__).parent / "cases"

FIXED = """\
pieces = shards(tokens=100000)
phase("Scan")
lenses = ["boundaries", "logic", "state"]
found = dedupe(flatten(parallel([lambda s=s, l=l: scan(s, l) for s in pieces for l in lenses])))
phase("Verify")
verdicts = flatten(parallel([lambda b=b, i=i: check(b, sample=i) for b in batches(found, 6) for i in range(3)]))
phase("Report")
result = report(vote(found, verdicts, need=2))
"""

FIT = """\
lenses = LENSES if budget() > 100 else ["general"]
skeptics = 3 if budget() > 100 else 1
phase("Scan")
found = dedupe(flatten(parallel([lambda s=s, l=l: scan(s, l) for s in shards(tokens=40000) for l in lenses])))
phase("Verify")
asked = [lambda b=b, i=i: check(b, sample=i) for b in batches(found, 6) for i in range(skeptics)]
phase("Report")
result = report(vote(found, flatten(parallel(asked)), need=skeptics // 2 + 1))
"""


def cases(name: str) -> list[Any]:
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def blocking(problems: list[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity == "problem"]


@pytest.mark.parametrize("source", [FIXED, FIT], ids=["fixed", "fit"])
def test_the_plans_that_ship_pass(source: str, audit_vocabulary: Vocabulary) -> None:
    assert blocking(check(source, audit_vocabulary)) == []


@pytest.mark.parametrize("case", cases("lead_plans.jsonl"))
def test_a_plan_by_a_lead_is_refused_exactly_where_it_is_wrong(
    case: dict[str, Any], audit_vocabulary: Vocabulary
) -> None:
    found = blocking(check(case["source"], audit_vocabulary))
    assert [problem.line for problem in found] == case["refused_at"]


def test_an_unused_binding_is_advice(audit_vocabulary: Vocabulary) -> None:
    (case,) = [p.values[0] for p in cases("lead_plans.jsonl") if p.id == "LP04"]
    assert [(p.code, p.line) for p in check(case["source"], audit_vocabulary)] == [("PL208", 1)]


@pytest.mark.parametrize("case", cases("valid_programs.jsonl"))
def test_a_valid_program_passes(case: dict[str, Any], three_words: Vocabulary) -> None:
    assert blocking(check(case["source"], three_words)) == []


@pytest.mark.parametrize("case", cases("refused_programs.jsonl"))
def test_a_hostile_program_is_refused(case: dict[str, Any], three_words: Vocabulary) -> None:
    found = blocking(check(case["source"], three_words))
    assert found, case["why"]
    assert len(found) <= 2, "one problem a cause"


DEEP_OR_LONG = {
    "brackets": "result = " + "(" * 3000 + "1" + ")" * 3000 + "\n",
    "targets": "(" * 3000 + "a" + ",)" * 3000 + " = 1\nresult = a\n",
    "lambdas": "result = " + "lambda: " * 3000 + "1\n",
    "calls": "f = lambda: 1\nresult = f" + "()" * 12_000 + "\n",
    "nots": "result = " + "not " * 7000 + "1\n",
    "minuses": "result = " + "-" * 20_000 + "1\n",
    "methods": "result = ''" + ".strip()" * 3500 + "\n",
    "blocks": "".join("    " * depth + "if True:\n" for depth in range(120)) + "    " * 120 + "result = 1\n",
    "arms": "if 0:\n    result = 1\n" + "elif 0:\n    result = 1\n" * 1000,
    "one long text": 'result = "' + "a" * 120_000 + '"\n',
    "empty lines": "\n" * 100_000 + "result = 1\n",
    "quotes in fields": "result = " + 'f"{' * 40 + "1" + '}"' * 40 + "\n",
}


@pytest.mark.parametrize("name", DEEP_OR_LONG)
def test_a_deep_or_long_text_is_refused_whatever_the_sizes_allowed(name: str, three_words: Vocabulary) -> None:
    source = DEEP_OR_LONG[name]
    assert blocking(check(source, three_words))
    wide = Rules(source_characters=10**6, code_characters=10**6, code_lines=10**6)
    if name not in ("arms", "one long text", "empty lines"):
        assert [problem.code for problem in blocking(check(source, three_words, wide))] == ["PL004"]


def test_long_chains_of_one_operator_are_not_deep(three_words: Vocabulary) -> None:
    chain = " + ".join('"part"' for _ in range(150))
    arms = "if 0:\n    x = 0\n" + "".join(f"elif {i}:\n    x = {i}\n" for i in range(30))
    assert blocking(check(f"x = 1\n{arms}result = {chain}\n", three_words)) == []
