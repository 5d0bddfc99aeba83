"""What a plan does with findings means the same as if every word read each of them anew, and costs much less."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planloom._recorder import Recorder
from planloom.front_door import Asker
from planloom.jobs import compile_plan
from planloom.kits import Kit
from planloom.plugins import Registry
from planloom.runtime import RunHost
from planloom.settings import offline_settings
from planloom.words import build_vocabulary
from planloom.workers import Performed, WorkerRequest
from planloom_audit.work import AuditRun, AuditWork, open_work
from planloom_code import Finding, normalise

TEXTS = {
    "shop/prices.py": "def total(rows):\n    first = rows[0]\n    return sum(rows[1:])\n\n\ndef one():\n    return 1\n",
    "shop/stock.py": "have = sold = 2\n" + "left = sold - have\n" * 14,
    "tools/dates.py": "class Year:\n    def is_leap(self):\n        return self.number % 4 == 0\n",
}
PLAN = """\
found = flatten([scan([p]) for p in work()])
for row, key, value in args["edits"]:
    if found:
        at = row % len(found)
        found[at].pop(key)
        found[at][key] = value
once = dedupe(found)
voted = vote(once + found, args["verdicts"], need=1)
result = {"found": found, "once": once, "twice": dedupe(once + found + voted), "voted": voted}
"""
TAKEN = ("file", "line", "end_line", "function", "claim", "failing_call", "expected", "confidence", "source")
FIELDS = (*TAKEN, "sources", "reports", "key")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> AuditWork:
    root = tmp_path_factory.mktemp("code")
    for path, text in TEXTS.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return open_work(str(root), {})


def played(registry: Registry, work: AuditWork, reports: Sequence[list[Any]], **args: Any) -> Any:
    """Run the plan on workers that report these items, a list for each file, and return its result."""
    kit = registry.get("kit", "audit", Kit)
    program, _ = compile_plan(PLAN, build_vocabulary(registry, offline_settings(), [kit]))
    left = list(reports)

    async def perform(request: WorkerRequest, asker: Asker) -> Performed:
        return Performed(value={"findings": left.pop(0)})

    async def scenario() -> Any:
        host = RunHost(
            "run",
            registry=registry,
            settings=offline_settings(),
            recorder=Recorder("run", None, (), asyncio.get_running_loop().time),
            perform=perform,
            budget_left=lambda full_price: 0,
            args=args,
            states={"audit": work.new_run(rehearsal=False)},
            journal=lambda place, value: None,
        )
        return (await program.run(args, host=host)).result

    return asyncio.run(scenario())


# What the words mean, without regard to time: each reads every row anew.


def read(work: AuditWork, item: object, source: str) -> Finding | None:
    finding = normalise(item, work.tree, source)
    if not isinstance(finding, Finding) or not isinstance(item, Mapping):
        return None
    if not isinstance(item.get("sources"), str):
        return finding
    return attrs.evolve(finding, sources=tuple(item["sources"].split("\n")), source=str(item.get("source", source)))


def all_read(work: AuditWork, items: Sequence[Any], source: str) -> list[Finding]:
    return [finding for item in items if (finding := read(work, item, source)) is not None]


def as_row(finding: Finding) -> dict[str, Any]:
    row = {name: getattr(finding, name) for name in TAKEN}
    return row | {
        "sources": "\n".join(finding.sources),
        "reports": len(finding.sources),
        "key": finding.place.key,
    }


def one_a_place(findings: Sequence[Finding]) -> list[Finding]:
    groups = defaultdict(list)
    for finding in findings:
        groups[finding.place.key].append(finding)
    kept = []
    for group in groups.values():
        best = min(
            group,
            key=lambda f: (
                *(-f.confidence, f.line, f.claim, f.failing_call, f.source, f.expected, f.function or ""),
                *(f.end_line or 0, f.moved_from or 0),
            ),
        )
        labels = [label for finding in group for label in finding.sources]
        named = sorted({label for label in labels if label})
        kept.append(attrs.evolve(best, sources=(*named, *[""] * labels.count(""))))
    return sorted(kept, key=lambda f: (f.file, f.place.block or f.line, f.place.key))


def counted(finding: Finding, verdicts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    said = [verdict["real"] for verdict in verdicts if verdict["key"] == finding.place.key]
    yes, no = said.count(True), said.count(False)
    return {"votes": yes, "no": no, "answers": yes + no, "asked": len(said), "decided": True}


def meant(work: AuditWork, reports: Sequence[list[Any]], edits: Any, verdicts: Any) -> Any:
    found: list[dict[str, Any]] = []
    for path, items in zip(sorted(TEXTS), reports, strict=True):
        label = f"scan:general:{path.partition('/')[0]}#0"
        found += [as_row(finding) for finding in all_read(work, items, label)]
    for row, key, value in edits:
        if found:
            at = row % len(found)
            found[at].pop(key)
            found[at][key] = value
    once = [as_row(finding) for finding in one_a_place(all_read(work, found, "dedupe"))]
    tallied = [(f, counted(f, verdicts)) for f in all_read(work, once + found, "vote")]
    voted = [as_row(finding) | tally for finding, tally in tallied if tally["votes"]]
    twice = [as_row(finding) for finding in one_a_place(all_read(work, once + found + voted, "dedupe"))]
    return {"found": found, "once": once, "twice": twice, "voted": voted}


claims = st.sampled_from(
    ["it is wrong", "`sum(rows[1:])` leaves one out", "`left = sold - have` is turned round", "  padded ", "\0", ""]
)
items = st.fixed_dictionaries(
    {
        "file": st.sampled_from([*TEXTS, "./shop/prices.py", "prices.py", "made/up.py"]),
        "line": st.one_of(st.integers(1, 16), st.sampled_from(["2-3", "L3", [1, 7], 2.0, True, None])),
        "claim": claims,
    },
    optional={
        "function": st.sampled_from(["total", "other", None, 3]),
        "failing_call": st.sampled_from(["total([1])", " left() ", None]),
        "expected": st.sampled_from(["1", {"a": [1]}, None]),
        "confidence": st.sampled_from([0, 0.5, 1, "90%", True, None]),
        "sources": st.sampled_from(["a\nb", "", None]),
        "source": st.sampled_from(["a", "z"]),
    },
)
values = st.one_of(
    st.sampled_from([True, False, None, 0, 1, 1.0, 2, 0.5, "2", "", "a", "total", "shop/stock.py", "it is wrong"]),
    st.sampled_from([[1, 2], {"a": 1}, "b\na", "shop/prices.py::total"]),
)
edits_made = st.lists(st.tuples(st.integers(0, 40), st.sampled_from(FIELDS), values), max_size=4)
reports_made = st.lists(st.lists(items, max_size=8), min_size=len(TEXTS), max_size=len(TEXTS))
keys = [
    *("shop/prices.py::total", "shop/prices.py::one", "shop/prices.py::lines 1-10", "shop/stock.py::lines 1-10"),
    *("shop/stock.py::lines 11-20", "tools/dates.py::Year.is_leap", "tools/dates.py::lines 1-10"),
]
verdicts_given = st.lists(
    st.fixed_dictionaries({"key": st.sampled_from(keys), "real": st.sampled_from([True, False, None])}), max_size=20
)


@given(reports=reports_made, edits=edits_made, verdicts=verdicts_given)
@settings(suppress_health_check=[HealthCheck.too_slow])  # a plan is run for each
def test_findings_that_a_plan_hands_on_mean_what_they_would_were_each_read_anew(
    registry: Registry,
    work: AuditWork,
    reports: list[list[Any]],
    edits: list[tuple[int, str, Any]],
    verdicts: list[dict[str, Any]],
) -> None:
    result = played(registry, work, reports, edits=[list(edit) for edit in edits], verdicts=verdicts)
    expected = meant(work, reports, edits, verdicts)
    assert result == expected
    assert [[list(row) for row in rows] for rows in result.values()] == [
        [list(row) for row in rows] for rows in expected.values()
    ]


REPORTS: list[list[Any]] = [
    [{"file": "shop/prices.py", "line": line, "claim": f"claim {line}", "confidence": 0.9} for line in (2, 3, 6)],
    [{"file": "shop/stock.py", "line": line, "claim": f"claim {line}"} for line in range(1, 15)],
    [{"file": "tools/dates.py", "line": 3, "claim": "claim"}],
]


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The items that were looked up in the files, as they come."""
    items: list[object] = []

    def noted(raw: object, *given: Any) -> Any:
        items.append(raw)
        return normalise(raw, *given)

    monkeypatch.setattr("planloom_audit.work.normalise", noted)
    return items


def test_a_range_of_lines_is_one_still_when_words_have_handed_it_on(registry: Registry, work: AuditWork) -> None:
    reports = [[{"file": "shop/stock.py", "line": "3-5", "claim": "it is wrong", "confidence": 0.9}], [], []]
    verdicts = [{"key": "shop/stock.py::lines 1-10", "real": True}]
    result = played(registry, work, reports, edits=[], verdicts=verdicts)
    assert [(row["line"], row["end_line"]) for rows in result.values() for row in rows] == [(3, 5)] * 5


def test_each_finding_is_looked_up_in_its_file_once(
    registry: Registry, work: AuditWork, looked_up: list[object]
) -> None:
    verdicts = [{"key": key, "real": True} for key in keys]
    result = played(registry, work, REPORTS, edits=[], verdicts=verdicts)
    assert len(result["voted"]) == len(result["found"]) + len(result["once"]) == 18 + 5
    assert looked_up == [item for report in REPORTS for item in report]


def test_a_finding_that_the_plan_changed_is_looked_up_again(
    registry: Registry, work: AuditWork, looked_up: list[object]
) -> None:
    played(registry, work, REPORTS, edits=[[1, "line", 6]], verdicts=[])
    changed = looked_up[len(REPORTS[0]) + len(REPORTS[1]) + len(REPORTS[2]) :]
    assert len(changed) == 3  # by both dedupe and vote
    assert {(row["line"], row["claim"]) for row in changed if isinstance(row, dict)} == {(6, "claim 3")}


def test_more_rows_than_are_held_mean_the_same(
    registry: Registry, work: AuditWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = played(registry, work, REPORTS, edits=[], verdicts=[])
    monkeypatch.setattr("planloom_audit.rows._MOST_HELD", 2)
    assert played(registry, work, REPORTS, edits=[], verdicts=[]) == whole


def test_a_rehearsal_holds_rows_as_a_run_does(work: AuditWork) -> None:
    run = AuditRun(work, rehearsal=True)
    finding = run.finding({"file": "shop/prices.py", "line": 2, "claim": "made up", "confidence": 0.9}, "scan:a")
    assert isinstance(finding, Finding)
    row = run.rows.given(finding)
    assert run.rows.found(dict(row)) is finding
    assert run.finding(row) == finding
