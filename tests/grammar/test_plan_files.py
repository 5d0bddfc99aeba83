"""Plan files with their expected problems: `### CODE "part of the message"` on the line that causes it.

The files in tests/plans are cut by lines of `---`. A problem that is missing or one too many fails. A first line
`#! advice` makes advice count too.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from planlang import Vocabulary, check

PLANS = Path(__file__).parents[1] / "plans"
EXPECTED = re.compile(r"###\s*(?P<marks>.*)$")
MARK = re.compile(r'(?P<code>PL\d{3}) "(?P<part>[^"]*)"')


def chunks() -> list[Any]:
    found = []
    for path in sorted(PLANS.glob("*.plan")):
        for place, chunk in enumerate(re.split(r"^---\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)):
            found.append(pytest.param(chunk, id=f"{path.stem}-{place}"))
    return found


@pytest.mark.parametrize("chunk", chunks())
def test_a_plan_file_has_the_problems_written_in_it(chunk: str, audit_vocabulary: Vocabulary) -> None:
    with_advice = chunk.startswith("#! advice")
    expected: list[tuple[int, str, str]] = []
    bare: list[str] = []
    for number, line in enumerate(chunk.split("\n"), 1):
        found = EXPECTED.search(line)
        if found:
            expected += [(number, m["code"], m["part"]) for m in MARK.finditer(found["marks"])]
        bare.append(EXPECTED.sub("", line).rstrip() if found else line)
    problems = check("\n".join(bare), audit_vocabulary)
    got = [(p.line, p.code, p.message) for p in problems if with_advice or p.severity == "problem"]
    assert [(line, code) for line, code, _ in got] == [(line, code) for line, code, _ in expected], got
    for (_, _, message), (_, _, part) in zip(got, expected, strict=True):
        assert part in message
