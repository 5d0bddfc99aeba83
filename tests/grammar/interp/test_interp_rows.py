"""What crosses between plan and host takes no more memory than it is charged, and is charged no more than once."""

from __future__ import annotations

import asyncio
import gc
import inspect
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planlang
from planlang import Limits, Vocabulary, Word
from planlang._interp.meter import DICT_ENTRY_BYTES, Meter
from planlang._interp.rows import RowsIn, RowsOut
from planlang._interp.tasks import root_task

WIDE = Limits(steps=1 << 40, memory_bytes=1 << 40, compute_s=600)
LONG = "x" * 10_000
COPIES = 40
SLACK_BYTES = 24_000
"""What one run takes beside its data, the measuring included."""


@pytest.fixture(autouse=True, scope="module")
def _only_what_is_new_is_collected() -> Iterator[None]:
    """Thousands of tests before have left objects, and each collection would look at all of them."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


# --- one row ------------------------------------------------------------------------------------------------------


def keys_of_all_kinds(count: int) -> Any:
    """Return a dict whose keys are texts, in a hash table made for keys of all kinds."""
    row: dict[Any, Any] = {0: None} | {f"key{n}": None for n in range(count)}
    del row[0]
    return row | {f"more{n}": None for n in range(2 * count)} if count else row


ROWS: dict[str, Callable[[int], dict[Any, Any]]] = {
    "texts": lambda count: {f"key{n}": f"a text {n}" for n in range(count)},
    "texts of a character more than a block": lambda count: {f"key{n}": f"{n:016}" for n in range(count)},
    "texts that are not ASCII": lambda count: {f"ключ{n}": f"é{n}" for n in range(count)},
    "integers": lambda count: {f"key{n}": 1_000 + n for n in range(count)},
    "large integers": lambda count: {f"key{n}": (1 << 62) + n for n in range(count)},
    "floats": lambda count: {f"key{n}": n / 7 for n in range(count)},
    "nothing": lambda count: {f"key{n}": None for n in range(count)},
    "one of each": lambda count: {f"key{n}": (f"a text {n}", 1_000 + n, n / 7, None)[n % 4] for n in range(count)},
    "integers as keys": lambda count: {1_000 + n: n / 7 for n in range(count)},
    "texts in a table for all": keys_of_all_kinds,
}
COUNTS = (*range(44), 85, 86, 170, 171, 342)


def taken(make: Callable[[], Any], copy: Callable[[Any], Any]) -> float:
    """Return the bytes that a copy takes of something that the host made for it and forgets."""
    copies: list[Any] = [None] * COPIES
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for at in range(COPIES):
            copies[at] = copy(make())
        gc.collect()  # which also gives back what Python keeps of freed dicts for later ones
        return (tracemalloc.get_traced_memory()[0] - before) / COPIES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("way", ["in", "out"])
@pytest.mark.parametrize("kind", ROWS)
def test_the_copy_of_a_row_takes_no_more_than_it_is_charged(kind: str, way: str) -> None:
    async def short() -> list[tuple[int, float, float]]:
        task = root_task(Meter(WIDE, asyncio.get_running_loop()))
        found = []
        for count in COUNTS:

            def copy(row: dict[Any, Any]) -> Any:
                mine = RowsIn(task).copy(row)
                return mine if way == "in" else RowsOut(task.meter).copy(mine)

            before = task.meter.peak_memory
            bytes_a_copy = taken(lambda: ROWS[kind](count), copy)  # noqa: B023 - called at once
            charged = (task.meter.peak_memory - before) / COPIES
            if bytes_a_copy > charged + 4:  # of the counting itself
                found.append((count, bytes_a_copy, charged))
        return found

    assert asyncio.run(short()) == []


# --- rows that a word gives back ----------------------------------------------------------------------------------


def word(name: str, call: Callable[..., Any]) -> Word:
    given = inspect.signature(call)
    return Word(
        name, call, signature=given.replace(parameters=list(given.parameters.values())[1:]), doc="", suspends=False
    )


def charged(back: Callable[[list[dict[str, Any]]], Any], rows: list[dict[str, Any]], times: int = 1) -> int:
    """Return the bytes that one call is charged in which a word is handed these rows."""

    def spent(calls: int) -> int:
        words = Vocabulary([word("give", lambda _place: rows), word("back", lambda _place, given: back(given))])
        source = "rows = give()\n" + "again = back(rows)\n" * calls + "result = 1\n"
        return asyncio.run(planlang.compile(source, words).run(None, WIDE)).peak_memory

    return spent(1 + times) - spent(1)


def rows_of_long_texts() -> list[dict[str, Any]]:
    return [{"n": n, "claim": LONG + str(n)} for n in range(10)]


@pytest.mark.parametrize(
    "back",
    [lambda rows: rows, lambda rows: rows[3:7], lambda rows: [rows[:5], rows[5:]], lambda rows: {"rows": rows}],
    ids=["all", "some", "in batches", "within"],
)
def test_a_row_that_a_word_gives_back_is_charged_without_its_texts(back: Any) -> None:
    assert charged(back, rows_of_long_texts()) < 2 * len(LONG)


def test_what_a_word_is_handed_beside_the_rows_does_not_hide_them() -> None:
    words = Vocabulary(
        [
            word("give", lambda _place: rows_of_long_texts()),
            word("join", lambda _place, one, two, more=(): [*one, *two, *more]),
        ]
    )
    source = "a = give()\nb = give()\nx = join(a, b)\ny = join(a, two=b)\nz = join(a, [], more=b)\nresult = 1\n"
    given_bytes = 2 * 10 * (len(LONG) + 1_000)
    assert asyncio.run(planlang.compile(source, words).run(None, WIDE)).peak_memory < given_bytes + 10 * len(LONG)


@pytest.mark.parametrize(
    "back",
    [
        lambda rows: [{**row, "claim": row["claim"][1:]} for row in rows],
        lambda rows: [row.update(claim=row["claim"][:-1]) or row for row in rows],
        lambda rows: [row.update(more=row["claim"][:-1]) or row for row in rows],
        lambda rows: [{row["claim"][:-1]: 1} for row in rows],
        lambda rows: [row["claim"][:-1] for row in rows],
    ],
    ids=["in other dicts", "changed", "added to", "as keys", "alone"],
)
def test_a_text_that_a_word_makes_is_charged(back: Any) -> None:
    assert charged(back, rows_of_long_texts()) > 10 * len(LONG)


def test_a_text_is_charged_again_where_its_row_is_given_back_by_another_call() -> None:
    kept: list[Any] = []

    def later(rows: list[dict[str, Any]]) -> Any:
        kept.append(rows)
        return kept[0] if len(kept) == 2 else []

    assert charged(later, rows_of_long_texts()) > 10 * len(LONG)


def test_a_row_that_an_argument_changes_after_it_was_handed_over_is_charged() -> None:
    rows = [{"claim": f"a claim {n}"} for n in range(10)]
    words = Vocabulary([word("give", lambda _place: rows), word("first", lambda _place, given, _more: given)])
    source = f"""\
rows = give()
def change(row):
    row["claim"] = "y" * {len(LONG)}
    return 1
got = first(rows, (change(row) for row in rows))
result = [row["claim"] for row in got]
"""
    assert asyncio.run(planlang.compile(source, words).run(None, WIDE)).result == [row["claim"] for row in rows]


# --- rows that a plan changes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "row['k0'] = 1",
        "row['new'] = 1",
        "row['k0'] += 1",
        "row.update({'k0': 1})",
        "row.update(new=1)",
        "row.setdefault('new', 1)",
        "row.pop('k0')",
        "row |= {'k0': 1}",
        "row.clear()",
    ],
)
def test_a_copy_that_a_plan_changes_is_charged_as_a_dict_that_grows_but_once(change: str) -> None:
    words = Vocabulary([word("give", lambda _place: {f"k{n}": n for n in range(100)})])

    def spent(times: int) -> int:
        source = "row = give()\n" + f"{change}\n" * times + "result = 1\n"
        return asyncio.run(planlang.compile(source, words).run(None, WIDE)).peak_memory

    none, one = spent(0), spent(1)
    assert one - none >= 100 * DICT_ENTRY_BYTES
    if "pop" not in change:
        assert spent(2) - one < 3 * DICT_ENTRY_BYTES + 250


def test_a_copy_that_a_task_made_is_its_parents_to_change(run: Any) -> None:
    source = "rows = parallel([lambda: same({'a': 1})])\nrows[0]['b'] = 2\nresult = rows\n"
    assert run(source).result == [{"a": 1, "b": 2}]


def test_a_copy_that_belongs_to_a_parent_is_not_a_tasks_to_change(run: Any, host: Any) -> None:
    source = "row = same({'a': 1})\ndef f(row):\n    row['a'] = 2\nresult = [parallel([lambda: f(row)]), row]\n"
    assert run(source).result == [[None], {"a": 1}]
    assert [error.kind for _, error in host.failures] == ["PermissionError"]


def test_a_copy_that_a_loop_iterates_over_keeps_its_lock(failure: Any) -> None:
    assert failure("row = same({'a': 1})\nfor key in row:\n    row['b'] = 1\nresult = row\n").kind == "RuntimeError"


# --- anything that crosses ----------------------------------------------------------------------------------------

texts = st.one_of(st.text(max_size=40), st.text("ab", min_size=30, max_size=300))
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.integers(0, 2_000), st.floats(), texts
)
keys = st.one_of(texts, st.integers(-(2**63), 2**63 - 1))
rows = st.dictionaries(keys, scalars, max_size=25)
data = st.recursive(
    st.one_of(scalars, rows),
    lambda inner: st.one_of(
        st.lists(inner, max_size=8),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=8),
        st.sets(keys, max_size=12),
    ),
    max_leaves=40,
)


def anew(value: Any) -> Any:
    """Return an equal value that shares nothing with this one."""
    kind = type(value)
    if kind is str:
        return "".join(list(value))
    if kind is int or kind is float:
        return kind(repr(value))
    if kind is dict:
        return {anew(key): anew(item) for key, item in value.items()}
    if kind in (list, tuple, set):
        return kind([anew(item) for item in value])
    return value


class Watched:
    """Words that give, keep and give back, and look at the memory each time."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.kept: list[Any] = []
        self.before_bytes: int | None = None
        self.beyond: list[tuple[int, int]] = []

    def look(self, place: Any) -> None:
        held_bytes, charged_bytes = tracemalloc.get_traced_memory()[0], place.task.meter.peak_memory
        if self.before_bytes is None:
            self.before_bytes = held_bytes
        held = held_bytes - self.before_bytes
        if held > charged_bytes + SLACK_BYTES:
            self.beyond.append((held, charged_bytes))

    def give(self, place: Any) -> Any:
        self.look(place)
        return anew(self.value)

    def same(self, place: Any, value: Any) -> Any:
        self.look(place)
        self.kept.append(value)
        return value

    def fresh(self, place: Any, value: Any) -> Any:
        self.look(place)
        self.kept.append(value)
        return [dict(item) if type(item) is dict else item for item in value] if type(value) is list else value

    def words(self) -> Vocabulary:
        names = ("give", "same", "fresh", "look")
        return Vocabulary([word(name, getattr(self, name)) for name in names])


CROSSING = """\
look()
kept = []
for n in range(30):
    x = give()
    y = same(x)
    z = fresh(y)
    for row in [z, y]:
        if isinstance(row, dict):
            for key in list(row):
                row[key] = n + 500000
            row[n] = n + 600000
    kept.append([x, y, z, same([x, y, z]), fresh([z, z])])
    kept.append([give(), give(), give(), give()])
    look()
result = 1
"""

KEEPING = """\
look()
kept = []
for n in range(60):
    x = give()
    kept.append([x, same(x), same(x)])
    look()
result = 1
"""


@settings(max_examples=40, deadline=None)
@given(data)
def test_data_that_crosses_in_and_out_never_takes_more_than_it_is_charged(value: Any) -> None:
    assert beyond(CROSSING, value) == []


@settings(max_examples=40, deadline=None)
@given(st.lists(rows, min_size=3, max_size=6))
def test_rows_that_cross_and_are_kept_on_both_sides_never_take_more_than_they_are_charged(value: Any) -> None:
    assert beyond(KEEPING, value) == []


def beyond(source: str, value: Any) -> list[tuple[int, int]]:
    """Return the bytes that were held and charged whenever a word was called and more was held than charged."""
    watched = Watched(value)
    program = planlang.compile(source, watched.words())
    gc.collect()
    tracemalloc.start()
    try:
        asyncio.run(program.run(None, WIDE))
    finally:
        tracemalloc.stop()
    return watched.beyond
