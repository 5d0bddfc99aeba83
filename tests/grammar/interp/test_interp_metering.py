"""Every operation is charged before it works, in proportion to its work; the table of charges says how much."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import planlang
from planlang import Limits, Outcome, Value, Vocabulary, Word
from planlang._interp.charges import CHARGES, SETUP, Charge
from planlang._vocabulary import Call

WIDE = Limits(steps=1 << 40, memory_bytes=1 << 50, compute_s=600)
ARGUMENTS = Value("args", doc="", make=lambda _host: {})
LONG = 1_000_000
TEXTS = "".join(line for line in SETUP.splitlines(keepends=True) if line.startswith(("n =", "text =", "other =")))


def outcome(source: str, size: int) -> Outcome:
    program = planlang.compile(source, Vocabulary([ARGUMENTS, clock_word()]))
    return asyncio.run(program.run({"n": size}, WIDE))


def clock_word() -> Word:
    import inspect

    def clock(_place: Call) -> float:
        return time.thread_time()

    return Word("clock", clock, signature=inspect.Signature(), doc="")


def cost(example: str, size: int, setup: str = SETUP) -> tuple[int, int]:
    """Return the steps and bytes that the example adds to its setup."""
    without = outcome(f"{setup}result = 1\n", size)
    with_it = outcome(f"{setup}made = {example}\nresult = 1\n", size)
    return with_it.steps - without.steps, with_it.peak_memory - without.peak_memory


@pytest.mark.parametrize("charge", CHARGES, ids=lambda charge: charge.operation)
def test_an_operation_costs_what_the_table_says(charge: Charge) -> None:
    (few_steps, few_bytes), (many_steps, many_bytes) = cost(charge.example, 2_048), cost(charge.example, 6_144)
    halves = 2 if charge.each.endswith(("of the result", "of either")) else 1
    assert (many_steps - few_steps) / 4_096 / halves == pytest.approx(charge.steps, abs=0.002)
    assert (many_bytes - few_bytes) / 4_096 / halves == pytest.approx(charge.size_bytes, abs=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("charge", CHARGES, ids=lambda charge: charge.operation)
def test_a_hundredth_of_the_budget_buys_at_most_50_ms(charge: Charge) -> None:
    size = 20_000
    steps, size_bytes = cost(charge.example, size)
    hundredths = 100 * max(steps / Limits().steps, size_bytes / Limits().memory_bytes)
    timed = f"{SETUP}began = clock()\nmade = {charge.example}\nresult = clock() - began\n"
    least_s = min(outcome(timed, size).result for _ in range(3))
    assert least_s <= 0.05 * hundredths + 100e-6  # the clock itself and a busy machine


@pytest.mark.parametrize(
    "use",
    [
        "other in {text: 1}",
        "{text} == {other}",
        "{text} | {other}",
        "{text} & {other}",
        "{text} <= {other}",
        "{text}.isdisjoint({other})",
        "{text: 1} | {other: 1}",
        "{text: 1} == {other: 1}",
        "{**{text: 1}, **{other: 1}}",
        "{text: 1}.get(other)",
        "{text: 1}.setdefault(other, 2)",
        "{(1, text): 1}.get((1, other))",
        "{text: 1}[other]",
        "text is other",
        "text == other",
        "[text].index(other)",
        "other in [text]",
        "max(text, other)",
        "sorted([text, other])",
        "dict([(text, 1), (other, 2)])",
    ],
)
def test_equal_texts_are_charged_wherever_they_are_compared(use: str) -> None:
    steps, _ = cost(use, LONG, TEXTS)
    assert steps >= LONG // 2_048  # the host compares two thousand characters in 0.1 µs


@pytest.mark.parametrize("change", ["{} |= tiny", "{} &= tiny", "{} -= tiny", "{}.update(tiny)", "{} ^= tiny"])
def test_changing_a_large_set_is_charged_by_what_is_rebuilt(change: str) -> None:
    def spent(size: int) -> Any:
        source = f"{SETUP}tiny = {{-1}}\n{change.format('some')}\nresult = 1\n"
        made = outcome(source, size)
        before = outcome(f"{SETUP}tiny = {{-1}}\nresult = 1\n", size)
        return made.steps - before.steps

    grows = change.startswith(("{} |=", "{}.update"))
    steps = spent(10_000)
    assert steps <= 10 if grows else steps >= 10_000 // 8
