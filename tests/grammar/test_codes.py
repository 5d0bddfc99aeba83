"""Every code has a page, and every page's example has that problem while its rewrite has not."""

from __future__ import annotations

import ast
import inspect
import re
from importlib.resources import files

import pytest

from planlang import Vocabulary, check, codes, explain
from planlang._codes import PAGES, is_advice


def finished(text: str, code: str) -> str:
    return text if "result" in text or code == "PL109" else f"{text}\nresult = 1"


EXAMPLES = [code for code in codes() if PAGES[code].wrong and code != "PL001"]


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_example_of_a_page_has_its_problem(code: str, audit_vocabulary: Vocabulary) -> None:
    problems = check(finished(PAGES[code].wrong, code), audit_vocabulary)
    found = [p.code for p in problems if is_advice(code) or p.severity == "problem"]
    assert code in found if is_advice(code) else found == [code]


@pytest.mark.parametrize("code", codes())
def test_the_rewrite_of_a_page_is_accepted(code: str, audit_vocabulary: Vocabulary) -> None:
    problems = check(finished(PAGES[code].right, code), audit_vocabulary)
    assert [p for p in problems if p.severity == "problem" or p.code == code] == []


def test_every_code_that_the_package_complains_with_has_a_page() -> None:
    used: set[str] = set()
    for path in files("planlang").iterdir():
        if path.name.endswith(".py") and path.name != "_codes.py":
            used |= set(re.findall(r'"(PL\d{3})"', path.read_text(encoding="utf-8")))
    assert used - {"PL200"} <= set(codes())


def test_a_page_says_what_to_write_instead() -> None:
    page = explain("PL031")
    assert "while True:" in page
    assert "for attempt in range(100):" in page


def test_an_unknown_code_is_answered_with_the_codes_there_are() -> None:
    with pytest.raises(KeyError, match="no problem has the code 'PL999'"):
        explain("PL999")


def test_the_package_offers_exactly_what_it_names() -> None:
    import planlang

    tree = ast.parse(inspect.getsource(planlang))
    named = {a.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names}
    assert set(planlang.__all__) == named - {"annotations", "TYPE_CHECKING", "Any", "import_module"}
