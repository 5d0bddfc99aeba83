"""Plans as a model writes them that knows Python and has read the language in brief: all pass, and mean the same."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from tests.grammar.first_try.stand_ins import namespace, vocabulary

import planlang
from planlang import check

HERE = Path(__file__).parent
WORDS = vocabulary()


def plans() -> list[Any]:
    found: list[Any] = []
    for path in sorted(HERE.glob("*.plans")):
        for part in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name, _, source = part.partition("\n")
            found.append(pytest.param(source, id=f"{path.stem}: {name}"))
    return found


@pytest.mark.parametrize("source", plans())
def test_a_plan_is_accepted_as_first_written(source: str) -> None:
    assert [p.render(source) for p in check(source, WORDS) if p.severity == "problem"] == []


@pytest.mark.parametrize("source", plans())
def test_a_plan_gives_what_python_gives(source: str) -> None:
    names = namespace()
    exec(source, names)
    outcome = asyncio.run(planlang.compile(source, WORDS).run())
    assert outcome.result == names["result"]
