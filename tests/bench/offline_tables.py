"""The page of the offline benchmark: tables by tool, by rule and by key, made from the figures alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planloom_bench import wilson

Counts = Mapping[str, Any]
_COUNTED = ("findings", "bugs", "found", "wrong", "strict", "caused")


def pooled(rows: Iterable[Counts]) -> dict[str, Any]:
    """Return the counts of several keys as those of one; chance is what luck would have found on all of them."""
    each = list(rows)
    total = {
        name: sum(row[name] for row in each) for name in ("findings", "bugs", "found", "wrong", "strict", "caused")
    }
    lucky = sum(row["chance_recall"] * row["bugs"] for row in each)
    named = sum(row["chance_recall"] * row["bugs"] / row["chance_precision"] for row in each if row["chance_precision"])
    return {
        **total,
        "chance_recall": lucky / total["bugs"],
        "chance_precision": lucky / named if named else None,
        "seconds": sum(row.get("seconds", 0.0) for row in each),
    }


def held_out(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the results of the keys that nobody chose rules by."""
    return [key for key in results["keys"].values() if key["held_out"]]


def rule_counts(results: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what each rule, asked alone, did on all held-out keys together."""
    keys = held_out(results)
    return {name: pooled(key["rules"][name] for key in keys) for name in keys[0]["rules"]}


def page(results: Mapping[str, Any]) -> str:
    """Return the page in Markdown."""
    keys = held_out(results)
    bugs = pooled(next(iter(key["tools"].values())) for key in keys)["bugs"]
    machine = results["machine"]
    versions = ", ".join(f"{name} {machine[name]}" for name in ("ruff", "pylint", "mypy", "pyright"))
    parts = [
        "# What the offline analyst finds\n",
        "Written by `make bench-offline`; the figures are in `benchmarks-offline.json`.",
        f"{machine['system']}, {machine['processors']} cores, Python {machine['python']}, "
        f"{machine['measured_at'][:10]}; {versions}.",
        "Seconds are of a shared machine: read them as upper bounds.\n",
        _EXPLAINED,
        f"## {bugs} bugs on {len(keys)} held-out keys\n",
        _tools([key["tools"] for key in keys]),
        "## Each rule alone, on the held-out keys\n",
        _RULES_EXPLAINED,
        _rules(rule_counts(results)),
        "## Time on a large library\n",
        _large(results["large"]),
        "## By key\n",
        *(_one_key(name, key) for name, key in results["keys"].items()),
    ]
    return "\n".join(parts)


_EXPLAINED = """\
Bugs are one-line edits that a doctest proves wrong; every tool reads the copy without the examples.
A report is right within five lines of a bug and in its function, which luck alone manages often: so each row has what
as many random lines of code would score (*chance*), the bugs hit in the very statement (*strict*), and those found by
reports that the same tool does not make on the copy without the bugs (*caused*).
Precision is a lower bound: a real bug that nobody planted counts as wrong.
It also depends on how many bugs were planted: in code with fewer bugs, fewer reports are right.
Intervals are Wilson's, 95 %.

Rules were chosen beside python-stdnum with the bugs of another seed, mpmath without bugs, and some thousand edits in
files of Python's own library and of packages that no key holds.
So the held-out python-stdnum keys have new bugs in known code; the other libraries are new.
Three things were decided after a look at the held-out keys: that type errors in functions without annotations belong to
the wide set, by false alarms in mpmath; that mypy is not started for shards without annotations, to save time; and that
rules were taken out which named no bug there, and one edit at most in four thousand elsewhere.
"""

_RULES_EXPLAINED = """\
`planloom audit` runs the tight set and, where mypy is installed, `type-checker`; `--wide` adds the rest.
A rule that never fired has no precision.
`use-before-definition` is there for what no key shows: a planted edit never takes a name's value away.
What the others are worth was seen in files that no key holds, on edits that nothing proves.
Of 4,199 edits `missing-value` named 40, `idle-continue` 13, `fixed-condition` 10, `same-operands` 9, `loop-direction`
and `start-value` 5 each, `clone-difference` 4; `inverted-default` named 6 of 1,065 negated conditions.
In 565,687 lines without edits `idle-continue` named two and `start-value` one; `missing-value`, `fixed-condition`,
`same-operands` and `inverted-default` named none.
"""


def _large(told: Mapping[str, Any]) -> str:
    return (
        f"`planloom audit` of {told['files']:,} files, {told['lines']:,} lines, all annotated: "
        f"{told['seconds']:.0f} s, {told['cpu_s']:.0f} s of processor time, at most {told['peak_mb']:,} MB a process.\n"
    )


def _tools(keys: Sequence[Mapping[str, Counts]]) -> str:
    rows = {name: pooled(key[name] for key in keys) for name in keys[0]}
    return _table("Tool", {name: [*_cells(row), f"{row['seconds']:.0f}"] for name, row in rows.items()}, "seconds")


def _rules(rows: Mapping[str, Counts]) -> str:
    return _table("Rule", {f"`{name}`": _cells(row) for name, row in sorted(rows.items(), key=_surest)})


def _surest(row: tuple[str, Counts]) -> tuple[float, str]:
    named = row[1]["found"] + row[1]["wrong"]
    return (-(row[1]["found"] / named) if named else 1, row[0])


def _one_key(name: str, key: Mapping[str, Any]) -> str:
    role = "held out" if key["held_out"] else "not held out: rules were chosen beside it"
    bugs = next(iter(key["tools"].values()))["bugs"]
    return f"### {name}: {bugs} bugs, {role}\n\n{_tools([key['tools']])}"


_HEADINGS = ("reports", "found", "wrong", "recall", "precision", "chance: recall", "chance: precision", "strict")


def _table(first: str, rows: Mapping[str, Sequence[str]], *more: str) -> str:
    headings = (first, *_HEADINGS, "caused", *more)
    lines = [headings, ("---", *("---:" for _ in headings[1:])), *((name, *cells) for name, cells in rows.items())]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _cells(row: Counts) -> list[str]:
    named = row["found"] + row["wrong"]
    return [
        str(row["findings"]),
        str(row["found"]),
        str(row["wrong"]),
        _share(row["found"], row["bugs"]),
        _share(row["found"], named),
        f"{row['chance_recall']:.1%}",
        "-" if row["chance_precision"] is None else f"{row['chance_precision']:.1%}",
        str(row["strict"]),
        str(row["caused"]),
    ]


def _share(part: int, whole: int) -> str:
    if not whole:
        return "-"
    low, high = wilson(part, whole)
    return f"{part / whole:.1%} ({low:.0%} to {high:.0%})"
