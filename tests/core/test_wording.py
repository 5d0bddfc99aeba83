"""Numbers in sentences."""

from __future__ import annotations

import pytest

from planloom.wording import counted


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1_373, "1,373 files"), (10**6, "1,000,000 files")],
)
def test_a_number_stands_with_its_noun_and_with_commas_between_thousands(number: int, text: str) -> None:
    assert counted(number, "file") == text


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    assert (counted(1, "reply", "replies"), counted(2, "reply", "replies")) == ("1 reply", "2 replies")
