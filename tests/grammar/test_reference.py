"""The reference says what the tables say, and its example is a plan."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planlang import Limits, Rules, Vocabulary, check, codes
from planlang._interp.builtins import BUILTINS
from planlang._interp.methods import METHODS
from planlang._names import BUILTINS as KNOWN_BUILTINS
from planlang._names import METHODS as KNOWN_METHODS
from planlang.reference import codes_page, language_page

FOLDER = Path(__file__).parents[2] / "docs/reference"


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the documents are not beside these tests")
@pytest.mark.parametrize(("name", "page"), [("language.md", language_page()), ("codes.md", codes_page())])
def test_the_reference_in_the_documents_is_the_generated_one(name: str, page: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == page, f"docs/reference/{name} is out of date: run `make docs`"


def test_the_example_of_the_reference_passes_the_check_without_advice(audit_vocabulary: Vocabulary) -> None:
    plans = re.findall(r"```python\n(.*?)```", language_page(), re.DOTALL)
    assert len(plans) == 1
    assert check(plans[0], audit_vocabulary) == []


def test_every_code_builtin_method_and_limit_stands_in_the_reference() -> None:
    page = language_page()
    limits = [field for owner in (Rules, Limits) for field in owner._fields]
    missing = [name for name in (*BUILTINS, *METHODS, *limits) if f"`{name}`" not in page]
    assert missing == []
    assert [code for code in codes() if f"| {code}" not in page and f"{code} |" not in page] == []


def test_the_checker_knows_exactly_the_builtins_and_methods_that_the_interpreter_has() -> None:
    assert set(BUILTINS) == KNOWN_BUILTINS
    assert set(METHODS) == KNOWN_METHODS


def test_every_code_has_a_heading_and_whole_examples_in_the_pages_of_codes() -> None:
    page = codes_page()
    assert re.findall(r"^## (PL\d{3}): ", page, re.MULTILINE) == list(codes())
    assert page.count("```") % 2 == 0
    assert "```python\nfor attempt in range(100):\n    break\n```" in page
