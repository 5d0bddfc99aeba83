"""The bugs of the shelf's benchmark: one line of one file each, one for each kind of mistake.

They are planted by hand and meant to look like the slips of a person who knows the code. Whether the shelf's
own examples notice each of them is proved by the tests.
"""

import attrs


@attrs.frozen(kw_only=True)
class Edit:
    """One line to replace: ``before`` stands exactly once in the function, and ``after`` takes its place."""

    path: str
    function: str
    kind: str
    before: str
    after: str


EDITS = (
    Edit(
        path="shelf/dates/workdays.py",
        function="nth_weekday",
        kind="boolean_operator",
        before="if nth == 0 or abs(nth) > len(matching):",
        after="if nth == 0 and abs(nth) > len(matching):",
    ),
    Edit(
        path="shelf/geometry/polygons.py",
        function="edges",
        kind="comparison_boundary",
        before="if len(corners) < 3:",
        after="if len(corners) <= 3:",
    ),
    Edit(
        path="shelf/graphs/paths.py",
        function="distances",
        kind="loop_update",
        before="continue",
        after="break",
    ),
    Edit(
        path="shelf/money/interest.py",
        function="monthly_payment",
        kind="arithmetic_operator",
        before="return loan * monthly / (1 - (1 + monthly) ** -months)",
        after="return loan * monthly / (1 + (1 + monthly) ** -months)",
    ),
    Edit(
        path="shelf/numbers/digits.py",
        function="luhn_valid",
        kind="wrong_constant",
        before="digit -= 9",
        after="digit -= 10",
    ),
    Edit(
        path="shelf/parsing/delimited.py",
        function="records",
        kind="arguments_swapped",
        before="fields = split_fields(line, mark)",
        after="fields = split_fields(mark, line)",
    ),
    Edit(
        path="shelf/ranges/windows.py",
        function="sliding",
        kind="off_by_one",
        before="return [items[start : start + size] for start in range(len(items) - size + 1)]",
        after="return [items[start : start + size] for start in range(len(items) - size)]",
    ),
    Edit(
        path="shelf/search/patterns.py",
        function="excerpt",
        kind="wrong_variable",
        before="first = max(place - around, 0)",
        after="first = max(last - around, 0)",
    ),
    Edit(
        path="shelf/statistics/running.py",
        function="longest_streak",
        kind="start_value",
        before="best = current = 0",
        after="best = current = 1",
    ),
    Edit(
        path="shelf/tables/layout.py",
        function="name_value",
        kind="extreme_swapped",
        before="longest = max((len(name) for name, _ in pairs), default=0)",
        after="longest = min((len(name) for name, _ in pairs), default=0)",
    ),
    Edit(
        path="shelf/text/casing.py",
        function="title",
        kind="condition_negated",
        before="if word in SMALL_WORDS and not at_an_end:",
        after="if word in SMALL_WORDS and at_an_end:",
    ),
    Edit(
        path="shelf/trees/nested.py",
        function="get",
        kind="return_value",
        before="return default",
        after="return value",
    ),
)
