"""Each offline rule on code that shows its bug, on the corrected code, and on code that only looks alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from planloom_code import numbered_lines
from planloom_offline import TIGHT_RULES, TYPE_CHECKER, WIDE_RULES, Hit, ParsedFile, Rule
from planloom_offline._analysis import Finding, analyse

RULES = {rule.name: rule for rule in TIGHT_RULES}


def shard(files: Mapping[str, str]) -> str:
    return "\n".join(
        f"### {path}\n{numbered_lines(dedent(text).strip().split(chr(10)))}" for path, text in files.items()
    )


def found(text: str, **others: str) -> list[Finding]:
    return analyse(shard({"m.py": text} | {f"{name}.py": other for name, other in others.items()}), TIGHT_RULES)


def fired(text: str, **others: str) -> list[tuple[str, int]]:
    return [(finding.rule, finding.line) for finding in found(text, **others)]


AREA = "def area(width, height):\n    return width * height\n"


# --- swapped-arguments


def test_a_call_whose_arguments_carry_each_others_names_is_reported_at_its_line() -> None:
    assert fired(AREA + "def room(width, height):\n    return area(height, width)") == [("swapped-arguments", 4)]


def test_a_call_in_the_order_of_the_definition_is_not_reported() -> None:
    assert fired(AREA + "def room(width, height):\n    return area(width, height)") == []


def test_a_call_of_a_function_imported_from_another_file_of_the_shard_is_compared_with_its_definition() -> None:
    call = "from shapes import area\ndef room(width, height):\n    return area(height, width)"
    assert fired(call, shapes=AREA) == [("swapped-arguments", 3)]


def test_a_call_through_an_imported_module_is_compared_with_its_definition() -> None:
    call = "import shapes as s\ndef room(width, height):\n    return s.area(height, width)"
    assert fired(call, shapes=AREA) == [("swapped-arguments", 3)]


def test_a_relative_import_is_followed_inside_the_shard() -> None:
    files = {
        "pkg/shapes.py": AREA,
        "pkg/rooms.py": "from .shapes import area\ndef f(width, height):\n    area(height, width)",
    }
    assert [finding.file for finding in analyse(shard(files), TIGHT_RULES)] == ["pkg/rooms.py"]


def test_a_name_that_two_files_of_the_shard_could_mean_is_not_followed() -> None:
    call = "from shapes import area\ndef room(width, height):\n    return area(height, width)"
    files = {"a/shapes.py": AREA, "b/shapes.py": AREA, "m.py": call}
    assert analyse(shard(files), TIGHT_RULES) == []


def test_a_method_called_through_self_is_compared_without_self() -> None:
    text = """
    class Room:
        def area(self, width, height):
            return width * height

        def half(self, width, height):
            return self.area(height, width) / 2
    """
    assert fired(text) == [("swapped-arguments", 6)]


def test_a_constructor_is_compared_with_the_parameters_of_init() -> None:
    text = """
    class Box:
        def __init__(self, width, height):
            self.size = width, height

    def make(width, height):
        return Box(height, width)
    """
    assert fired(text) == [("swapped-arguments", 6)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "def turned(width, height):\n    if width < height:\n        return area(height, width)", id="ordered"
        ),
        pytest.param("def transpose(width, height):\n    return area(height, width)", id="named so"),
        pytest.param("def both(width, height):\n    return area(width, height) == area(height, width)", id="both ways"),
        pytest.param(
            "def f(width, height):\n    width, height = height, width\n    return area(height, width)", id="exchanged"
        ),
        pytest.param(
            "f = lambda width, height: 1\ndef g(area, width, height):\n    area(height, width)", id="a parameter"
        ),
        pytest.param("def f(height, *width):\n    return area(*height, width)", id="starred"),
        pytest.param("class T:\n    def __rmul__(width, height):\n        return area(height, width)", id="reflected"),
    ],
)
def test_a_deliberate_exchange_of_arguments_is_left_alone(text: str) -> None:
    assert fired(AREA + text) == []


def test_single_letters_count_only_as_parameters_of_both_functions() -> None:
    definition = "def gcd(a, b):\n    return b\n"
    reused = definition + "def f():\n    for a, b in pairs:\n        gcd(b, a)"
    shared = definition + "def lcm(a, b):\n    return a * b // gcd(b, a)"
    assert (fired(reused), fired(shared)) == ([], [("swapped-arguments", 4)])


def test_a_recursive_call_may_exchange_its_arguments() -> None:
    assert fired("def gcd(left, right):\n    return left if not right else gcd(right, left)") == []


# --- guard-against-message

CONTRADICTIONS = [
    ("x > 0", "x <= 0", "x must be positive"),
    ("x < 0", "x < 1", "x must be positive"),
    ("x >= 0", "x < 0", "x must be non-negative"),
    ("x <= 0", "x < 0", "x cannot be negative"),
    ("x > 2", "x < 2", "x must be at least 2"),
    ("x <= 2", "x <= 1", "x must be at least 2"),
    ("x >= 9", "x > 9", "x must not exceed 9"),
    ("limit < x", "limit <= x", "limit must be greater than x"),
    ("x < limit", "x > limit", "x must be at most limit"),
    ("x != 0", "x == 0", "x must not be zero"),
    ("x", "not x", "x must not be empty"),
    ("len(x) > 0", "len(x) == 0", "x cannot be empty"),
    ("x in limit", "x not in limit", "x not found"),
    ("x not in limit", "x in limit", "x already exists"),
    ("len(x) == len(limit)", "len(x) != len(limit)", "x and limit must have the same length"),
    ("x is not None", "x is None", "x must not be None"),
    ("isinstance(x, int)", "not isinstance(x, int)", "x must be an integer"),
    ("x is None or limit >= 0", "x is None or limit < 0", "limit must not be negative"),
]


def guarded(condition: str, message: str) -> str:
    return f"def f(x, limit):\n    if {condition}:\n        raise ValueError('{message}')\n    return x"


@pytest.mark.parametrize(("wrong", "right", "message"), CONTRADICTIONS)
def test_a_guard_that_contradicts_its_message_is_reported(wrong: str, right: str, message: str) -> None:
    assert fired(guarded(wrong, message)) == [("guard-against-message", 2)]


@pytest.mark.parametrize(("wrong", "right", "message"), CONTRADICTIONS)
def test_a_guard_that_says_what_its_message_says_is_not_reported(wrong: str, right: str, message: str) -> None:
    assert fired(guarded(right, message)) == []


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("x > 0", "size must be positive when x is set"),
        ("x > 0", "limit must be positive"),
        ("x > 0 and limit", "x must be positive"),
        ("x % 2 > 0", "x must be positive"),
        ("x == 5", "x must be positive"),
        ("x in limit", "there is no such thing as a second x"),
        ("x.is_empty", "x must not be empty"),
        ("'b' in x", "bookmark in x not found"),
        ("x > 100", "x must be at least 1"),
        ("x < 0 or limit > 0", "x must not be negative"),
    ],
)
def test_a_guard_whose_message_speaks_of_something_else_is_left_alone(condition: str, message: str) -> None:
    assert fired(guarded(condition, message)) == []


def test_an_assert_is_read_with_its_condition_turned_round() -> None:
    wrong = "def f(n):\n    assert n < 0, f'{n} must not be negative'"
    right = "def f(n):\n    assert n >= 0, f'{n} must not be negative'"
    assert (fired(wrong), fired(right)) == ([("guard-against-message", 2)], [])


def test_a_raise_in_an_else_is_read_with_its_condition_turned_round() -> None:
    wrong = "def f(n):\n    if n < 0:\n        pass\n    else:\n        raise ValueError('n must not be negative')"
    assert fired(wrong) == [("guard-against-message", 2)]


def test_the_else_of_a_chain_is_not_held_against_its_last_condition() -> None:
    text = """
    def f(n):
        if n == 0:
            return 1
        elif n > 0:
            return 2
        else:
            raise ValueError("n must be non-negative")
    """
    assert fired(text) == []


# --- min-max-against-target


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("smallest = max(values)", "smallest = min(values)"),
        ("self.highest = min(values)", "self.highest = max(values)"),
        ("earliest: int = max(one, other)", "earliest: int = min(one, other)"),
        ("largest = sorted(values)[0]", "largest = sorted(values)[-1]"),
        ("max_value = min(values) + 1", "max_value = max(values) + 1"),
        ("lowest = sorted(values, reverse=True)[0]", "lowest = sorted(values, reverse=True)[-1]"),
    ],
)
def test_a_name_of_one_extreme_that_is_given_the_other_is_reported(wrong: str, right: str) -> None:
    assert (fired(wrong), fired(right)) == ([("min-max-against-target", 1)], [])


@pytest.mark.parametrize(
    "clamp",
    [
        "min_size = max(min_size, other)",
        "min_size = max(1, other)",
        "max_depth = min(depth, limits.max_depth)",
        "nearest = max(points, key=closeness)",
        "minmax = max(values)",
        "admin = max(values)",
        "min_of_maxima = max(values)",
        "max_degree = min(max(d) for d in degrees)",
    ],
)
def test_a_clamp_or_a_mixed_extreme_is_left_alone(clamp: str) -> None:
    assert fired(clamp) == []


# --- use-before-definition


@pytest.mark.parametrize(
    ("wrong", "right", "line"),
    [
        ("total += 1\ntotal = 0", "total = 0\ntotal += 1", 2),
        ("print(x)\nx = 1", "x = 1\nprint(x)", 2),
        ("for i in y:\n    y = i", "y = []\nfor i in y:\n    y = i", 2),
        ("while go:\n    go = step()", "go = True\nwhile go:\n    go = step()", 2),
        ("for i in a:\n    use(last)\n    last = i", "for i in a:\n    last = i\n    use(last)", 3),
        ("if a:\n    b = 1\n    return b\nreturn b", "if a:\n    b = 1\n    return b\nb = 2\nreturn b", 5),
        ("return [x for i in a if i]\nx = 1", "x = 1\nreturn [x for i in a if i]", 2),
    ],
)
def test_a_local_name_read_before_any_assignment_is_reported_at_the_read(wrong: str, right: str, line: int) -> None:
    def body(text: str) -> str:
        return "def f(a):\n" + "\n".join(f"    {row}" for row in text.split("\n"))

    assert (fired(body(wrong)), fired(body(right))) == ([("use-before-definition", line)], [])


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("for i in a:\n    if i > 0:\n        use(last)\n    last = i", id="guarded in a loop"),
        pytest.param("for i in a:\n    if i:\n        x = 1\n        continue\n    use(x)", id="after a continue"),
        pytest.param("for i in a:\n    for j in range(i):\n        use(x)\n    x = i", id="in an inner loop"),
        pytest.param("if a:\n    x = 1\nreturn x", id="assigned on one path"),
        pytest.param("try:\n    x = 1\nexcept E:\n    return x", id="assigned in a try"),
        pytest.param("while True:\n    x = 1\n    break\nreturn x", id="left by a break"),
        pytest.param("def g():\n    return x\nx = 1\nreturn g()", id="read later by a closure"),
        pytest.param("def g():\n    nonlocal x\n    x = 1\ng()\nuse(x)\nx = 2", id="assigned by a closure"),
        pytest.param("global x\nuse(x)\nx = 1", id="declared global"),
        pytest.param("return [y for i in a if (y := i)]", id="walrus in a condition"),
        pytest.param("return a and (y := a) and y", id="walrus in a chain"),
        pytest.param(
            "match a:\n    case [x, *rest]:\n        return x, rest\n    case {'k': v, **kw}:\n        return v, kw",
            id="match",
        ),
        pytest.param("with a as x:\n    return x", id="with"),
        pytest.param("try:\n    pass\nexcept E as e:\n    use(e)\nfinally:\n    x = 1\nuse(x)", id="finally"),
        pytest.param("import x.y\nuse(x)\nfrom z import w as v\nuse(v)", id="imports"),
        pytest.param("for i in a:\n    x = i\nelse:\n    use(x)\nuse(i)", id="after a loop"),
        pytest.param("with suppress(E):\n    x = 1\n    return x\nuse(x)", id="a body that may be cut short"),
    ],
)
def test_a_read_that_some_assignment_can_reach_is_left_alone(body: str) -> None:
    assert fired("def f(a):\n" + "\n".join(f"    {row}" for row in body.split("\n"))) == []


# --- loop-direction


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("range(10, 0)", "range(10, 0, -1)"),
        ("range(n, 0)", "range(n, 0, -1)"),
        ("range(len(a) - 1, -1)", "range(len(a) - 1, -1, -1)"),
        ("range(0, n, -1)", "range(0, n, 1)"),
        ("range(n + 1, 2)", "range(2, n + 1)"),
        ("range(len(a), 1, 3)", "range(1, len(a), 3)"),
        ("range(0, 10, -2)", "range(10, 0, -2)"),
    ],
)
def test_a_range_that_is_empty_by_its_own_bounds_is_reported(wrong: str, right: str) -> None:
    assert fired(f"def f(n, a):\n    return {wrong}") == [("loop-direction", 2)]
    assert fired(f"def f(n, a):\n    return {right}") == []


def test_a_while_loop_that_steps_away_from_its_end_is_reported() -> None:
    text = "def f(n):\n    i = 0\n    while i < n:\n        use(i)\n        i {}= 1"
    assert (fired(text.format("-")), fired(text.format("+"))) == ([("loop-direction", 3)], [])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(n):\n    if n < 0:\n        return range(0, n, -1)", id="the bound is tested"),
        pytest.param("def f(n):\n    return range(0, 0)", id="no rounds on purpose"),
        pytest.param("def f(n):\n    return range(n, 2)", id="a start that may be small"),
        pytest.param("def f(i, n):\n    while i < n:\n        i -= 1\n        if done(i): break", id="left by a break"),
        pytest.param("def f(i, n):\n    while i < n:\n        i -= 1\n        n -= 2", id="the end moves"),
        pytest.param("def f(i, n):\n    while i < n:\n        i -= 1\n        i = g(i)", id="set in another way"),
    ],
)
def test_a_loop_that_may_end_is_left_alone(text: str) -> None:
    assert fired(text) == []


# --- all rules


def one_of_each() -> dict[str, Finding]:
    text = """
    def area(width, height):
        return width * height

    class Room:
        def size(self, width, height, limit=None):
            if width > 0:
                raise ValueError("width must be positive")
            smallest = max([width, height])
            print(unset)
            unset = 1
            for i in range(10, 0):
                print(i)
            total = 1
            for i in (width, height):
                total += i
                if i == width:
                    print(i)
                    continue
            if limit is not None:
                limit = width - width
            if width is None and width < 1 or height == "a" and height == "b":
                return total
            return area(height, width), limit, smallest
    """
    return {finding.rule: finding for finding in found(text)}


@pytest.mark.parametrize("rule", TIGHT_RULES, ids=lambda rule: rule.name)
def test_every_finding_names_its_rule_and_what_a_trial_says_of_it(rule: Rule) -> None:
    claim = one_of_each()[rule.name].claim
    assert claim.startswith(f"[{rule.name}] ")
    assert claim.endswith(f" ({rule.record})")


@pytest.mark.parametrize("rule", TIGHT_RULES, ids=lambda rule: rule.name)
def test_every_finding_names_the_qualified_function(rule: Rule) -> None:
    assert one_of_each()[rule.name].function == "Room.size"


def nothing(file: ParsedFile) -> list[Hit]:
    return []


def measured(bugs: int, reports: int) -> Rule:
    return Rule(name="odd", lens="logic", title="t", severity="low", check=nothing, bugs=bugs, reports=reports)


def test_a_measured_rule_cites_its_count_and_interval_and_an_unmeasured_one_says_so() -> None:
    assert measured(11, 14).record.endswith(
        "11 of 14 such reports were planted bugs on held-out code, 95 %: 52% to 92%"
    )
    assert measured(0, 0).record.endswith("never fired when measured, so how often it is right is not known")


def test_confidence_is_the_low_end_of_the_interval_so_that_one_right_report_is_no_certainty() -> None:
    assert [measured(*counts).confidence for counts in ((1, 1), (11, 14), (0, 3), (0, 0))] == [0.21, 0.52, 0.0, 0.05]


def test_every_rule_cites_what_the_committed_benchmark_counted_on_held_out_keys() -> None:
    results = json.loads((Path(__file__).parents[2] / "docs/reference/benchmarks-offline.json").read_text())
    keys = [key["rules"] for key in results["keys"].values() if key["held_out"]]
    counted = {
        name: (sum(key[name]["found"] for key in keys), sum(key[name]["found"] + key[name]["wrong"] for key in keys))
        for name in keys[0]
    }
    assert counted == {r.name: (r.bugs, r.reports) for r in (*TIGHT_RULES, TYPE_CHECKER, *WIDE_RULES)}


def test_a_claim_stays_within_its_limit_and_keeps_the_record_when_names_are_long() -> None:
    long = "w" * 300
    text = f"def area({long}, height):\n    return 1\ndef f({long}, height):\n    return area(height, {long})"
    (finding,) = found(text)
    assert len(finding.claim) <= 400
    assert finding.claim.endswith(f"({RULES['swapped-arguments'].record})")


def test_a_check_that_cannot_be_sent_to_another_process_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match="top level of a module"):
        Rule(name="odd", lens="logic", title="t", severity="low", check=lambda file: [])
