"""The offline analyst on shards that no one would write: it answers, whatever the text."""

from __future__ import annotations

import time

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom_audit.schemas import FINDINGS
from planloom_code import numbered_lines
from planloom_offline import TIGHT_RULES, Hit, ParsedFile, Rule
from planloom_offline._analysis import RuleFailed, analyse
from planloom_offline._jobs import JOBS
from planloom_offline._numbered import read_shard

SWAP = ["def area(width, height):", "    return 1", "def f(width, height):", "    return area(height, width)"]


def lines_found(text: str) -> list[int]:
    return [finding.line for finding in analyse(text, TIGHT_RULES)]


@pytest.mark.parametrize(
    "text", ["", "\n", "### a.py", "### a.py\n", "### \n    1| x = 1\n", "    1| x = 1\n", "no code"]
)
def test_a_shard_without_code_gives_no_findings(text: str) -> None:
    assert lines_found(text) == []


def test_a_file_that_does_not_parse_is_passed_over_and_the_next_is_read() -> None:
    text = f"### bad.py\n{numbered_lines(['def f(:'])}\n### good.py\n{numbered_lines(SWAP)}"
    assert lines_found(text) == [4]


def test_a_piece_of_a_file_reports_the_printed_numbers() -> None:
    assert lines_found(f"### a.py\n{numbered_lines(SWAP, 120_000)}") == [120_003]


def test_a_piece_that_is_indented_is_read_as_a_block() -> None:
    assert lines_found(f"### a.py\n{numbered_lines(['    ' + line for line in SWAP], 7)}") == [10]


def test_a_gap_in_the_numbers_starts_a_new_piece() -> None:
    text = f"### a.py\n{numbered_lines(SWAP)}{numbered_lines(['x = 1'], 90)}"
    assert [(piece.first_line, len(piece.lines)) for piece in read_shard(text)] == [(1, 4), (90, 1)]


def test_line_ends_of_another_system_do_not_move_lines() -> None:
    assert lines_found(f"### a.py\n{numbered_lines([line + chr(13) for line in SWAP])}") == [4]


def test_a_form_feed_is_not_the_end_of_a_line() -> None:
    assert lines_found(f"### a.py\n{numbered_lines(['x = 1', chr(12), *SWAP])}") == [6]


def test_text_with_a_nul_is_passed_over() -> None:
    assert lines_found(f"### a.py\n{numbered_lines([*SWAP, 'x = ' + chr(0)])}") == []


def test_a_heading_inside_the_code_is_code() -> None:
    assert lines_found(f"### a.py\n{numbered_lines(['s = 1', '### b.py', *SWAP])}") == [6]


def test_code_whose_escapes_would_warn_is_read_in_silence() -> None:
    assert lines_found(f"### a.py\n{numbered_lines([chr(39) + chr(92) + 'd' + chr(39), '1 is 1', *SWAP])}") == [6]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("x = " + "(" * 5_000 + ")" * 5_000, id="brackets"),
        pytest.param("x = " + "-" * 5_000 + "1", id="signs"),
        pytest.param("x = " + "a." * 5_000 + "b", id="attributes"),
        pytest.param("x = max(" + "+".join("a" * 3_000) + ", 1)", id="sums"),
        pytest.param("def g():\n    y = " + "f(" * 90 + ")" * 90, id="calls"),
    ],
)
def test_code_that_nests_deep_does_not_end_the_analysis(line: str) -> None:
    text = f"### a.py\n{numbered_lines(line.split(chr(10)))}\n### b.py\n{numbered_lines(SWAP)}"
    assert lines_found(text) == [4]


def test_a_long_chain_of_elif_does_not_end_the_analysis() -> None:
    chain = ["def f(x):", "    if x == 0:", "        y = 0"]
    chain += [row for n in range(1, 900) for row in (f"    elif x == {n}:", f"        y = {n}")]
    assert lines_found(f"### a.py\n{numbered_lines(chain)}\n### b.py\n{numbered_lines(SWAP)}") == [4]


@pytest.mark.slow
def test_a_file_of_a_hundred_thousand_lines_is_read_to_its_end_in_seconds() -> None:
    many = [f"def f{n}(a, b): return [a, b, {n}]" if n % 10 == 0 else f"x{n} = {n}" for n in range(100_000)]
    started = time.monotonic()
    assert lines_found(f"### a.py\n{numbered_lines([*many, *SWAP])}") == [100_004]
    assert time.monotonic() - started < 60


def broken(file: ParsedFile) -> list[Hit]:
    raise KeyError(file.path)


def test_a_rule_that_raises_is_named_with_the_file_and_what_to_do() -> None:
    rule = Rule(name="broken", lens="logic", title="t", severity="low", check=broken)
    with pytest.raises(RuleFailed, match=r"offline rule broken failed on a\.py: KeyError.*uninstall"):
        analyse(f"### a.py\n{numbered_lines(SWAP)}", (rule,))


PIECES = st.sampled_from(
    [
        *(
            "def f(a, b):",
            "def g(max_n, min_n):",
            "class C:",
            "if a < 0:",
            "else:",
            "for i in range(n, 0):",
            "while i < n:",
        ),
        *(
            "try:",
            "except E as e:",
            "finally:",
            "with a as b:",
            "match a:",
            "case [x, *y]:",
            "async def h():",
            "lambda a: b",
        ),
        *(
            "    ",
            "        ",
            "return f(b, a)",
            "raise ValueError('a must be positive')",
            "x = 1",
            "x += y",
            "best = min(a)",
        ),
        *(
            "del x",
            "global x",
            "nonlocal x",
            "import a.b",
            "from . import c",
            "break",
            "continue",
            "[x for x in y if x]",
        ),
        *(
            "(y := 1)",
            "@d",
            "*a, b = c",
            "raise",
            "assert a, b",
            "pass",
            "\x0c",
            "\r",
            "\x00",
            "### x",
            "    1| x",
            "é",
            "\ud800",
        ),
    ]
)
SOURCES = st.lists(st.lists(PIECES, max_size=4).map("".join), max_size=14)


@given(SOURCES)
def test_any_lines_in_a_numbered_shard_give_an_answer_of_the_schema(lines: list[str]) -> None:
    answer = JOBS["findings"](f"### a.py\n{numbered_lines(lines)}", TIGHT_RULES)
    jsonschema.validate(answer, dict(FINDINGS.shown))


@given(st.text(), st.sampled_from(sorted(JOBS)))
def test_any_text_gives_an_answer_to_every_job(text: str, job: str) -> None:
    assert isinstance(JOBS[job](text, TIGHT_RULES), dict)
