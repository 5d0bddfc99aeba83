"""Rules that tell what cannot be meant: on code that shows the mistake, and on code that only looks alike."""

from __future__ import annotations

from textwrap import dedent

import pytest

from planloom_code import numbered_lines
from planloom_offline import TIGHT_RULES
from planloom_offline._analysis import analyse


def fired(body: str, parameters: str = "x, y, d, limit=None") -> list[tuple[str, int]]:
    lines = [f"def f({parameters}):", *(f"    {line}" for line in dedent(body).strip().split("\n"))]
    found = analyse(f"### m.py\n{numbered_lines(lines)}", TIGHT_RULES)
    return [(finding.rule, finding.line) for finding in found]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("return x is None and x.size", "return x is None or x.size"),
        ("return x is not None or x > 1", "return x is not None and x > 1"),
        ("return x or x[0] == 1", "return x and x[0] == 1"),
        ("return not x and x[-1] == 1", "return not x or x[-1] == 1"),
        ("return x.size if x is None else 0", "return 0 if x is None else x.size"),
        ("return max(x) if not x else 0", "return 0 if not x else max(x)"),
        ("return y in d or d[y]", "return y in d and d[y]"),
        ("return d[y] if y not in d else 0", "return 0 if y not in d else d[y]"),
        ("if x is None:\n    return len(x)", "if x is not None:\n    return len(x)"),
        ("if x == None:\n    return x + 1", "if x != None:\n    return x + 1"),
        ("if not x:\n    y = x.pop()", "if x:\n    y = x.pop()"),
        ("if x is not None:\n    return 1\nreturn x.size", "if x is None:\n    return 1\nreturn x.size"),
        ("if x:\n    raise ValueError\nreturn x[0]", "if not x:\n    raise ValueError\nreturn x[0]"),
        ("if y not in d:\n    d.remove(y)", "if y in d:\n    d.remove(y)"),
    ],
)
def test_a_use_of_what_is_known_to_be_missing_is_reported(wrong: str, right: str) -> None:
    assert [rule for rule, _ in fired(wrong)] == ["missing-value"]
    assert fired(right) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("if x is None:\n    x = []\nreturn x[0]", id="given a value"),
        pytest.param("if x is None:\n    x = y\n    return x.size", id="given a value in the branch"),
        pytest.param("if not x:\n    x.append(1)\n    return x[0]", id="filled"),
        pytest.param("if not x:\n    fill(x)\n    return x[0]", id="filled by a call"),
        pytest.param("if y not in d:\n    d[y] = 1\nreturn d[y]", id="entered"),
        pytest.param("if y not in d:\n    y = y.lower()\n    return d[y]", id="another key"),
        pytest.param("if y in d:\n    return 1\ny = y.lower()\nif y in d:\n    return d[y]", id="another key later"),
        pytest.param("if x is None:\n    return x if x else x.size if x else 0", id="asked again"),
        pytest.param("if x is None:\n    return lambda: x.size", id="used later"),
        pytest.param("if x is None:\n    return '%s' % x, str(x), x == 1, x.__class__", id="what None can do"),
        pytest.param("if x is None:\n    try:\n        x.size\n    except AttributeError:\n        pass", id="tried"),
        pytest.param("if not x:\n    return x.strip(), len(x), x[1:]", id="what holds nothing can do"),
        pytest.param("if not x:\n    return x['size']", id="a mapping that makes entries"),
        pytest.param("while x is None:\n    x = y\nreturn x.size", id="a loop until it is there"),
        pytest.param("if x is not None:\n    print(x)\nreturn x.size", id="no way out of the branch"),
    ],
)
def test_a_value_that_may_be_there_is_left_alone(text: str) -> None:
    assert fired(text) == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("if limit is not None:\n    limit = 10", "if limit is None:\n    limit = 10"),
        ("if limit:\n    limit = []", "if not limit:\n    limit = []"),
        ("if not limit is None:\n    limit = y", "if limit is not None:\n    limit = limit.lower()"),
        ("limit = y if limit is not None else limit", "limit = y if limit is None else limit"),
    ],
)
def test_a_default_that_replaces_what_was_given_is_reported(wrong: str, right: str) -> None:
    assert fired(f"{wrong}\nreturn limit") == [("inverted-default", 2)]
    assert fired(f"{right}\nreturn limit") == []


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("if limit is not None:\n    limit = 10\nreturn limit", "limit"),
        ("if limit is not None:\n    limit = 10\nreturn limit", "limit=3"),
        ("if limit is not None:\n    limit = None\nreturn limit", "*, limit=None"),
        ("if limit is not None:\n    limit = 10\nelse:\n    limit = 1\nreturn limit", "*, limit=None"),
    ],
)
def test_a_parameter_that_is_replaced_for_a_reason_is_left_alone(text: str, parameters: str) -> None:
    assert fired(text, parameters) == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("x == 'a' and x == 'b'", "x == 'a' or x == 'b'"),
        ("x != 1 or x != 2", "x != 1 and x != 2"),
        ("not x == 1 or not x == 2", "not x == 1 and not x == 2"),
        ("x < 1 and x > 9", "x < 1 or x > 9"),
        ("1 > x and 9 < x", "1 > x or 9 < x"),
        ("x >= 1 or x <= 9", "x >= 1 and x <= 9"),
        ("len(x) < 3 and len(x) > 5", "len(x) < 3 or len(x) > 5"),
        ("x.size < y.min_size and x.size > y.max_size", "x.size < y.min_size or x.size > y.max_size"),
        ("isinstance(x, str) and isinstance(x, bytes)", "isinstance(x, str) or isinstance(x, bytes)"),
        ("x.startswith('+') and x.startswith('-')", "x.startswith('+') or x.startswith('-')"),
        ("len(x) >= 0", "len(x) > 0"),
        ("len(x) < 0", "len(x) <= 0"),
    ],
)
def test_a_condition_with_one_outcome_is_reported(wrong: str, right: str) -> None:
    assert fired(f"return {wrong}") == [("fixed-condition", 2)]
    assert fired(f"return {right}") == []


@pytest.mark.parametrize(
    "condition",
    [
        "x() == 1 and x() == 2",
        "x == y and x == d",
        "x == 1 and x == 1.0",
        "x <= 3 and x >= 3",
        "x < y.end and x > y.start",
        "x < d and x > y",
        "isinstance(x, int) and isinstance(x, Number)",
        "isinstance(x, bool) and isinstance(x, int)",
        "x.startswith('a') and x.startswith('ab')",
        "x == 1 and y == 2",
    ],
)
def test_a_condition_that_some_values_meet_is_left_alone(condition: str) -> None:
    assert fired(f"return {condition}") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("for i in x:\n    if i == y:\n        d.append(i)\n        continue", 5),
        ("while x.step():\n    y += 1\n    continue", 4),
    ],
)
def test_a_continue_at_the_end_of_a_turn_is_reported(text: str, line: int) -> None:
    assert fired(text) == [("idle-continue", line)]
    assert fired(text.replace("continue", "break")) == []


@pytest.mark.parametrize(
    "text",
    [
        "for i in x:\n    if i == y:\n        d.append(i)\n        continue\n    print(i)",
        "for i in x:\n    if i == y:\n        continue\n    else:\n        print(i)",
        "for i in x:\n    try:\n        print(i)\n    except ValueError:\n        continue",
        "for i in x:\n    if i == y:\n        continue",
    ],
)
def test_a_continue_that_skips_something_or_stands_for_nothing_is_left_alone(text: str) -> None:
    assert fired(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p = 0\nfor i in x:\n    p *= i\nreturn p", [("start-value", 2)]),
        ("p = 2\nfor i in x:\n    p *= i\nreturn p", []),
        ("total = 1\nfor i in x:\n    total += i\nreturn total", [("start-value", 2)]),
        ("n = 1\nfor i in x:\n    n += i\nreturn n", []),
        ("return x - x", [("same-operands", 2)]),
        ("return x() - x()", []),
        ("return x != x", []),
    ],
)
def test_starts_and_operands_tell_a_mistake_from_what_looks_alike(text: str, expected: list[tuple[str, int]]) -> None:
    assert fired(text) == expected
