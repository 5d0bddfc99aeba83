"""Data classes with shared methods: shown, compared and hashed as attrs would."""

from __future__ import annotations

import attrs
import pytest

from planloom._often_made import often_made
from planloom.data_classes import frozen


@attrs.frozen(kw_only=True)
class AsAttrs:
    name: str
    key: str = attrs.field(repr=False, default="secret")
    detail: str = attrs.field(eq=False, default="")
    inner: object = None


class Written:
    @frozen(kw_only=True)
    class AsAttrs:
        name: str
        key: str = attrs.field(repr=False, default="secret")
        detail: str = attrs.field(eq=False, default="")
        inner: object = None


@frozen
class Point:
    x: int
    y: int = 0


@often_made
class Row:
    items: list[object]


VALUES = [
    {"name": "a"},
    {"name": "a", "detail": "not compared"},
    {"name": "a", "key": "another"},
    {"name": "b", "inner": (1, "x")},
]


@pytest.mark.parametrize("values", VALUES, ids=str)
def test_it_is_shown_as_attrs_shows_it(values: dict[str, object]) -> None:
    ours, theirs = Written.AsAttrs(**values), AsAttrs(**values)  # type: ignore[arg-type]  # a mapping of names to what they are to hold
    assert repr(ours) == repr(theirs).replace("AsAttrs", "Written.AsAttrs", 1)


@pytest.mark.parametrize("one", VALUES, ids=str)
@pytest.mark.parametrize("other", VALUES, ids=str)
def test_two_are_equal_and_hashed_alike_where_attrs_says_so(one: dict[str, object], other: dict[str, object]) -> None:
    ours = [Written.AsAttrs(**values) for values in (one, other)]  # type: ignore[arg-type]  # likewise
    theirs = [AsAttrs(**values) for values in (one, other)]  # type: ignore[arg-type]  # likewise
    assert (ours[0] == ours[1], len(set(ours))) == (theirs[0] == theirs[1], len(set(theirs)))


def test_nothing_is_equal_to_a_thing_of_another_class() -> None:
    other: object = (1, 0)
    assert Point(1) != other
    assert Point(1) == Point(1, 0)


def test_nothing_in_it_can_be_changed() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Point(1).x = 2  # type: ignore[misc]  # that is what is tried


def test_one_that_holds_itself_can_be_shown() -> None:
    row = Row([])
    row.items.append(row)
    assert repr(row) == "Row(items=[...])"


def test_a_method_that_a_class_writes_itself_is_kept() -> None:
    @frozen
    class Secret:
        text: str

        def __repr__(self) -> str:
            return "Secret(...)"

    assert repr(Secret("x")) == "Secret(...)"


def test_what_is_not_to_be_compared_is_told_apart_as_objects() -> None:
    @frozen(eq=False)
    class Tree:
        text: str

    assert Tree("x") != Tree("x")
    assert repr(Tree("x")).endswith("Tree(text='x')")


def test_it_can_be_changed_into_another_and_matched() -> None:
    match attrs.evolve(Point(1, 2), y=3):
        case Point(1, y):
            assert y == 3
