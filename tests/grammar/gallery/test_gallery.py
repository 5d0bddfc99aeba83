"""The gallery: small plans, each with one mistake that people and models make, and what they are told.

A file is a topic. A line `=== name` opens a plan; behind ` :: ` stand marks, parted by `;`:

- `escaped`: `\\uXXXX` in the plan stands for that character.
- `accepted`: no mistake at all, or one that only advice is given about.
- `2, reason`: two problems, and why.

A hint that begins with "write `x`", "delete it" or "delete this line" is meant literally: what is marked is replaced,
or goes. So is one that says what to put between two values or at the end of a line. The last line of each snapshot
says how far these alone lead.
"""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import pytest
from syrupy.assertion import SnapshotAssertion

from planlang import Problem, Vocabulary, check

HERE = Path(__file__).parent
ESCAPE = re.compile(r"\\u([0-9a-f]{4})")
WRITE = re.compile(r"write `([^`]+)`")
AT_END = re.compile(r"(?:end the line with|add the) `([^`]+)`(?:\.| that is missing, at the end of line (\d+) )")
BETWEEN = re.compile(r"put a (?:comma|`(:)`) between them\.")
BEFORE = re.compile(r",\s*\Z")
MOST_ROUNDS = 8
SYNTAX = "PL031"
"""Codes below are about text and syntax: a rewrite brings none of them in, but for brackets that it says to delete."""


@attrs.frozen
class Mistake:
    """One plan of the gallery, with how many problems it has."""

    topic: str
    name: str
    plan: str = attrs.field(kw_only=True)
    problems: int = attrs.field(kw_only=True)


def gallery() -> list[Mistake]:
    found: list[Mistake] = []
    for path in sorted(HERE.glob("*.plans")):
        parts = re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        found.extend(mistake(path.stem, part) for part in parts)
    return found


def mistake(topic: str, part: str) -> Mistake:
    head, _, plan = part.partition("\n")
    name, _, rest = head.partition(" :: ")
    marks = [mark.strip() for mark in rest.split(";") if mark]
    if "escaped" in marks:
        plan = ESCAPE.sub(lambda match: chr(int(match[1], 16)), plan)
    problems = 0 if "accepted" in marks else 1
    for mark in marks:
        number, comma, _ = mark.partition(",")
        problems = int(number) if comma and number.isdigit() else problems
    return Mistake(topic, name, plan=plan, problems=problems)


GALLERY = gallery()


def every() -> pytest.MarkDecorator:
    shown = [pytest.param(one, id=f"{one.topic}: {one.name}") for one in GALLERY]
    return pytest.mark.parametrize("one", shown)


def problems_of(plan: str, vocabulary: Vocabulary) -> list[Problem]:
    return [problem for problem in check(plan, vocabulary) if problem.severity == "problem"]


def mended(plan: str, problem: Problem) -> str | None:
    """Return the plan with a hint applied as it is written, or ``None`` where it is no literal rewrite."""
    starts = [0]
    for line in plan.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    starts.append(starts[-1])
    start = starts[problem.line - 1] + problem.column - 1
    end = starts[problem.end_line - 1] + problem.end_column - 1
    if problem.hint.startswith("delete this line"):
        return plan[: starts[problem.line - 1]] + plan[starts[problem.line] :]
    if problem.hint.startswith("delete it"):
        return BEFORE.sub("", plan[:start]) + plan[end:].removeprefix(" ")
    at_end, between = AT_END.match(problem.hint), BETWEEN.match(problem.hint)
    if at_end:
        number = int(at_end[2] or problem.line)
        line = plan[: starts[number]].rstrip("\n")
        return line + at_end[1] + plan[len(line) :]
    if between:
        return plan[:start].rstrip(" ") + (between[1] or ",") + " " + plan[start:]
    found = WRITE.match(problem.hint)
    return plan[:start] + found[1] + plan[end:] if found else None


def follow(plan: str, vocabulary: Vocabulary) -> str:
    """Apply hints until none is left or one is no literal rewrite, and say where that led."""
    left = problems_of(plan, vocabulary)
    for _ in range(MOST_ROUNDS):
        if not left:
            return "accepted"
        changed = mended(plan, left[0])
        if changed is None:
            return "the rest by hand"
        now = problems_of(changed, vocabulary)
        assert len(now) <= len(left), (changed, now)
        assert len(now) < len(left) or now[0] != left[0], (changed, now)
        brought = {p.code for p in now} - {p.code for p in left} - {"PL012"}
        assert not any(code < SYNTAX for code in brought), (changed, now)
        plan, left = changed, now
    raise AssertionError(f"the hints lead nowhere: {plan}")


def rendered(one: Mistake, vocabulary: Vocabulary) -> str:
    problems = check(one.plan, vocabulary)
    worth = [p for p in problems if p.severity == "problem"] or [p for p in problems if p.code != "PL205"]
    shown = [problem.render(one.plan, "audit.plan") for problem in worth]
    return "\n".join(shown).encode("utf-8", "backslashreplace").decode() or "nothing to say"


@every()
def test_what_is_said_about_a_mistake(one: Mistake, audit_vocabulary: Vocabulary, snapshot: SnapshotAssertion) -> None:
    assert f"{rendered(one, audit_vocabulary)}\n=> {follow(one.plan, audit_vocabulary)}" == snapshot


@every()
def test_one_mistake_is_one_problem(one: Mistake, audit_vocabulary: Vocabulary) -> None:
    found = problems_of(one.plan, audit_vocabulary)
    assert len(found) == one.problems, [problem.render(one.plan) for problem in found]


def test_most_hints_can_be_applied_as_they_are_written(audit_vocabulary: Vocabulary) -> None:
    wrong = [one for one in GALLERY if one.problems]
    literal = [one for one in wrong if follow(one.plan, audit_vocabulary) == "accepted"]
    assert len(wrong) >= 500
    assert len(literal) >= len(wrong) * 0.55


def test_names_are_given_once_a_topic() -> None:
    names = [(one.topic, one.name) for one in GALLERY]
    assert sorted(set(names)) == sorted(names)


LARGE = {
    "lines": "n = 0\n" + "n = n + 1\n" * 90 + "result = n\n",
    "code": "n = 0\n" + f"n = {' + '.join(['n'] * 40)}\n" * 50 + "result = n\n",
    "text": f"result = '{'word ' * 8000}'\n",
    "levels": f"result = {'[' * 120}1{']' * 120}\n",
    "blocks": "".join(f"{' ' * level}if 1:\n" for level in range(110)) + " " * 110 + "x = 1\nresult = 1\n",
    "fields": "result = 1\nx = " + 'f"{' * 20 + "1" + '}"' * 20 + "\n",
}


@pytest.mark.parametrize("what", LARGE)
def test_a_plan_above_a_bound_is_told_the_bound_once(
    what: str, audit_vocabulary: Vocabulary, snapshot: SnapshotAssertion
) -> None:
    problems = problems_of(LARGE[what], audit_vocabulary)
    assert [f"{p.code} line {p.line}: {p.message}; {p.hint}" for p in problems] == snapshot
    assert len(problems) == 1


def test_prompts_do_not_count_as_code(audit_vocabulary: Vocabulary) -> None:
    prompt = '"""' + "Look at every line.\n" * 300 + '"""'
    assert problems_of(f"result = agent({prompt})\n", audit_vocabulary) == []
