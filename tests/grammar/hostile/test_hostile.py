"""Plans that mean harm, each in a process of its own: all are refused, or end within seconds and in little memory."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from tests.grammar.hostile.inputs import GROWING, grown

from planlang import Problem, Vocabulary, check

HERE = Path(__file__).parent
CASES = HERE.parent / "cases"
ROOT = HERE.parents[2]
MOST_S = 4.0
"""Of computing: a second of imports and of reading, one of computing without a wait, and as much of tasks that wait."""
MOST_BYTES = 250 << 20
KILLED_AFTER_S = 90.0
"""By the clock, which runs on while other processes have the machine."""
SHOWN = 10
TIMES = 150
MOST_GROWTH = 2.4
"""Twice, and what sorting and looking for near names add."""


@attrs.frozen
class Hostile:
    """One plan, and whether the checker must refuse it."""

    name: str
    source: str
    refused: bool


@attrs.frozen
class Ending:
    """How a plan ended in its own process, and what it cost."""

    name: str
    end: str
    of: object
    took_s: float
    peak_bytes: int


def told(path: Path, refused: bool) -> Iterator[Hostile]:
    for part in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, source = part.partition("\n")
        yield Hostile(name, source, refused)


def given(path: Path, refused: bool) -> Iterator[Hostile]:
    for case in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        yield Hostile(case["id"], case["source"], refused)


ESCAPES = list(told(HERE / "escapes.plans", refused=True))
BOMBS = [plan for name in ("bombs", "combined", "one_call") for plan in told(HERE / f"{name}.plans", refused=False)]
REFUSED = list(given(CASES / "refused_programs.jsonl", refused=True))
INPUTS = [Hostile(name, grown(name), refused=False) for name in GROWING]
BOUNDED = list(given(CASES / "bounded_programs.jsonl", refused=False))


def ended(plan: Hostile) -> Ending:
    """Run a plan in a process of its own."""
    child = subprocess.run(
        [sys.executable, "-m", "tests.grammar.hostile.one_plan"],
        input=plan.source.encode("utf-8", "surrogatepass"),
        stdout=subprocess.PIPE,
        cwd=ROOT,
        timeout=KILLED_AFTER_S,
        check=True,
    )
    said = json.loads(child.stdout)
    return Ending(plan.name, said["end"], said.get("of"), said["took_s"], said["peak_bytes"])


@pytest.mark.parametrize("plan", ESCAPES, ids=lambda plan: plan.name)
def test_a_way_out_of_the_language_is_refused(plan: Hostile, three_words: Vocabulary) -> None:
    problems: list[Problem] = [p for p in check(plan.source, three_words) if p.severity == "problem"]
    assert problems


def calls_of_a_check(source: str, words: Vocabulary) -> int:
    """Return how many calls a check makes, of Python's functions and of the library's."""
    made = 0

    def count(_frame: object, event: str, _about: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        check(source, words)
    finally:
        sys.setprofile(None)
    return made


@pytest.mark.parametrize("name", GROWING)
def test_a_text_twice_as_long_is_checked_with_about_twice_the_calls(name: str, three_words: Vocabulary) -> None:
    once, twice = (calls_of_a_check(grown(name, times), three_words) for times in (TIMES, 2 * TIMES))
    assert twice <= once * MOST_GROWTH


@pytest.mark.slow
def test_every_hostile_plan_ends_in_seconds_and_in_little_memory() -> None:
    plans = [*REFUSED, *BOUNDED, *ESCAPES, *BOMBS, *INPUTS]
    endings = [ended(plan) for plan in plans]
    slowest = sorted(endings, key=lambda ending: -ending.took_s)[:SHOWN]
    print("", *(f"{e.took_s:.2f} s, {e.peak_bytes >> 20} MiB: {e.name}" for e in slowest), sep="\n")
    wrong = [e for e in endings if e.took_s > MOST_S or e.peak_bytes > MOST_BYTES]
    wrong += [e for e, plan in zip(endings, plans, strict=True) if plan.refused and e.end != "refused"]
    assert wrong == []
