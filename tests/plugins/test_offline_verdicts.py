"""The offline skeptic: what it calls real, what it refuses, and the reason it gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest

from planloom_audit.schemas import VERDICTS
from planloom_code import numbered_lines
from planloom_offline import TIGHT_RULES, Rule
from planloom_offline._analysis import Finding, analyse
from planloom_offline._skeptic import verdicts

FIRST_LINE = 41
GUARD = ["def f(x):", "    if x > 0:", "        raise ValueError('x must be positive')", "    return x"]
MENDED = ["def f(x):", "    if x <= 0:", "        raise ValueError('x must be positive')", "    return x"]
SHAPES = ["def area(width, height):", "    return 1", "class R:", "    def f(self, width, height):"]
CALL = "        return area(height, width)"


def finding_in(lines: Sequence[str], first_line: int = FIRST_LINE) -> Finding:
    (finding,) = analyse(f"### a.py\n{numbered_lines(lines, first_line)}", TIGHT_RULES)
    return finding


def block(number: int, claim: str, line: int, code: str) -> str:
    head = f"--- report {number} ---\nfile: a.py\nfunction: f\nline: {line}\nclaim: {claim}"
    return f"{head}\nfailing call: (none given)\nexpected: (not given)\ncode:\n{code}"


def judged(claim: str, line: int, code: str, rules: Sequence[Rule] = TIGHT_RULES) -> dict[str, Any]:
    (verdict,) = verdicts(block(1, claim, line, code), rules)["verdicts"]
    return dict(verdict)


def test_a_report_whose_rule_fires_again_on_the_code_shown_is_real() -> None:
    finding = finding_in(GUARD)
    assert judged(finding.claim, finding.line, numbered_lines(GUARD, FIRST_LINE))["real"] is True


def test_the_reason_gives_the_rules_record_and_that_samples_do_not_differ() -> None:
    finding = finding_in(GUARD)
    reason = judged(finding.claim, finding.line, numbered_lines(GUARD, FIRST_LINE))["reason"]
    assert next(rule for rule in TIGHT_RULES if rule.name == "guard-against-message").record in reason
    assert "whatever the sample" in reason


def test_a_report_on_code_that_was_mended_is_not_real() -> None:
    finding = finding_in(GUARD)
    assert judged(finding.claim, finding.line, numbered_lines(MENDED, FIRST_LINE))["real"] is False


def test_a_report_at_another_line_than_the_rule_fires_is_not_real() -> None:
    finding = finding_in(GUARD)
    assert judged(finding.claim, finding.line + 1, numbered_lines(GUARD, FIRST_LINE))["real"] is False


def test_a_swapped_call_is_confirmed_without_the_definition_it_calls() -> None:
    finding = finding_in([*SHAPES, CALL])
    shown = numbered_lines([SHAPES[3], CALL], finding.line - 1)
    assert judged(finding.claim, finding.line, shown)["real"] is True


def test_a_swapped_call_that_was_put_right_is_not_real() -> None:
    finding = finding_in([*SHAPES, CALL])
    shown = numbered_lines([SHAPES[3], "        return area(width, height)"], finding.line - 1)
    assert judged(finding.claim, finding.line, shown)["real"] is False


def test_a_report_in_a_cut_out_that_starts_and_ends_inside_blocks_is_still_read() -> None:
    finding = finding_in(GUARD)
    around = ["            deeper()", "        except E:", "    x = 1", *GUARD[1:], "    if x:"]
    assert judged(finding.claim, finding.line, numbered_lines(around, FIRST_LINE - 2))["real"] is True


@pytest.mark.parametrize("code", ["(no such file)", "", "   41| def f(:"])
def test_code_that_cannot_be_read_makes_a_report_not_real(code: str) -> None:
    verdict = judged("[guard-against-message] x", 41, code)
    assert (verdict["real"], "cannot be read" in verdict["reason"]) == (False, True)


def test_a_report_of_a_model_is_real_where_a_rule_fires_near_it() -> None:
    assert judged("the sign is wrong", FIRST_LINE + 3, numbered_lines(GUARD, FIRST_LINE))["real"] is True


def test_a_report_of_a_model_is_not_real_where_no_rule_fires() -> None:
    assert judged("the sign is wrong", FIRST_LINE + 1, numbered_lines(MENDED, FIRST_LINE))["real"] is False


def test_a_rule_at_the_level_of_chance_confirms_nothing() -> None:
    weak = tuple(
        Rule(name=r.name, lens=r.lens, title=r.title, severity=r.severity, check=r.check, bugs=1, reports=100)
        for r in TIGHT_RULES
    )
    finding = finding_in(GUARD)
    verdict = judged(finding.claim, finding.line, numbered_lines(GUARD, FIRST_LINE), weak)
    assert (verdict["real"], "chance" in verdict["reason"]) == (False, True)


def test_every_block_gets_the_verdict_of_its_number_in_the_form_of_the_schema() -> None:
    finding = finding_in(GUARD)
    good = block(1, finding.claim, finding.line, numbered_lines(GUARD, FIRST_LINE))
    bad = block(7, finding.claim, finding.line, numbered_lines(MENDED, FIRST_LINE))
    answer = verdicts(f"Judge these.\n\n{good}\n\n{bad}", TIGHT_RULES)
    jsonschema.validate(answer, dict(VERDICTS.shown))
    assert [(verdict["report"], verdict["real"]) for verdict in answer["verdicts"]] == [(1, True), (7, False)]


def test_a_reason_keeps_to_its_limit() -> None:
    finding = finding_in(GUARD)
    assert len(judged(finding.claim, finding.line, numbered_lines(GUARD, FIRST_LINE))["reason"]) <= 200
