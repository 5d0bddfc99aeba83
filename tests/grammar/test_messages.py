"""The wording of problems, reviewed as a whole."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from planlang import Vocabulary, brief, check
from planlang._codes import PAGES, codes

HABITS = """\
import json
import asyncio

async def main():
    found = await scan(work(), "boundary")
    if found.ok:
        print(found)
    try:
        text = json.dumps(found)
    except Exception as error:
        raise ValueError(error)
    while budget.remaining() > 5 and budget.total:
        found = scan(work(), agentType="x", retries=3)
    return "%s" % found, "{}".format(text)

checks = parallel([check(b) for b in batches(work(), 6)])
answer = agnt("x", shema=1)
thunks = []
for s in shards():
    thunks.append(lambda: scan(s))
all_found = parallel(thunks)
return main()
"""


def test_habits_from_elsewhere_get_one_problem_each(audit_vocabulary: Vocabulary, snapshot: SnapshotAssertion) -> None:
    assert "\n".join(p.render(HABITS, "audit.plan") for p in check(HABITS, audit_vocabulary)) == snapshot


@pytest.mark.parametrize("code", [code for code in codes() if PAGES[code].wrong and code not in ("PL001", "PL004")])
def test_the_text_of_each_problem(code: str, audit_vocabulary: Vocabulary, snapshot: SnapshotAssertion) -> None:
    source = PAGES[code].wrong
    source = source if "result" in source or code == "PL109" else f"{source}\nresult = 1"
    shown = [p.render(source) for p in check(source, audit_vocabulary) if p.code == code]
    assert "\n".join(shown) == snapshot


def test_the_language_in_brief(audit_vocabulary: Vocabulary, snapshot: SnapshotAssertion) -> None:
    text = brief(audit_vocabulary)
    assert len(text) / 4 <= 1200
    assert text == snapshot
