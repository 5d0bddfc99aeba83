"""Audits that were stopped: reported as far as they came, gone on with, and reported again."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.here import FolderHere

from planloom.testing.folders import Folder
from planloom.testing.loopback import Received, json_answer, serving

EACH = 'phase("Scan")\nfound = flatten([scan([p]) for p in work()])\nresult = report(found)\n'
LEAD = '[roles.lead]\nendpoint = "main"\nmodel = "m-1"\nprice = { call = 0.2 }\n\n[limits]'

MakeFolder = Callable[..., Folder]


@pytest.fixture
def folder_with(tmp_path: Path, model: Any) -> Iterator[MakeFolder]:
    """Make a working folder whose models answer as the audit's tests have them, after a while."""

    with ExitStack() as stack:

        def make(delay_s: float = 0.0) -> Folder:
            def script(request: Received) -> Any:
                return model(request).after(delay_s)

            desk = tmp_path / "desk"
            desk.mkdir()
            folder = FolderHere(desk, stack.enter_context(serving(script)), EACH)
            folder.configure(**{"[limits]": LEAD})
            stack.callback(folder.end)
            return folder

        yield make


def report_of(folder: Folder) -> Any:
    return json.loads((folder.path / "report" / "findings.json").read_text())


def stopped_audit(folder: Folder, code: Path) -> str:
    """Cancel an audit in the middle of its scans; return its run's id."""
    process = folder.start("audit", str(code), "--plan", "job.plan", "--out", "report")
    folder.wait_for(process, 2)
    os.kill(process.pid, signal.SIGINT)
    _, remarks = process.communicate(timeout=60)
    assert process.returncode == 130, remarks
    return folder.newest().id


def test_an_audit_that_was_cancelled_is_reported_with_what_is_missing(folder_with: MakeFolder, code: Path) -> None:
    folder = folder_with(delay_s=0.5)
    run = stopped_audit(folder, code)
    report = report_of(folder)
    assert report["run"]["status"] == "cancelled"
    assert "The run is cancelled, not completed" in report["caveats"][0]
    assert "No scan that answered has seen" in report["caveats"][-1]
    assert [row["reason"] for row in report["undecided"]] == [
        "the audit is cancelled: nobody has judged this report yet"
    ] * len(report["undecided"])
    assert report["undecided"]
    assert f"planloom resume {run}" in report["notes"][-1]
    assert "cancelled, not completed" in (folder.path / "report" / "report.md").read_text().split("\n## ")[0]


def test_a_resumed_audit_writes_its_report_again_where_it_was_asked_for(folder_with: MakeFolder, code: Path) -> None:
    folder = folder_with(delay_s=0.5)
    run = stopped_audit(folder, code)
    code_, output, remarks = folder.run("resume", run)
    assert code_ == 0, remarks
    report = report_of(folder)
    assert (report["run"]["status"], report["caveats"], report["undecided"]) == ("completed", [], [])
    assert len(report["findings"]) == 3
    assert "3 findings in 4 files" in output
    assert max(folder.server.asked.values()) == 1


def test_a_resumed_audit_names_the_files_that_changed(folder_with: MakeFolder, code: Path) -> None:
    folder = folder_with(delay_s=0.5)
    run = stopped_audit(folder, code)
    (code / "tools" / "fine.py").unlink()
    (code / "shop" / "stock.py").write_text("def left():\n    return 0\n")
    (code / "new.py").write_text("x = 1\n")
    exit_code, _, remarks = folder.run("resume", run)
    assert exit_code == 1
    assert re.search(r"file tools/fine.py: then \d+ bytes, hash \w+, now \(none\)", remarks)
    assert "file new.py: then (none), now 6 bytes" in remarks
    assert "file shop/stock.py: then " in remarks
    assert "prices.py" not in remarks
    assert folder.run("resume", run, "--as-new-run")[0] == 0
    assert report_of(folder)["run"]["status"] == "completed"
    assert folder.newest().id != run


def test_a_detached_audit_writes_its_report(folder_with: MakeFolder, code: Path) -> None:
    folder = folder_with()
    exit_code, output, remarks = folder.run("audit", str(code), "--plan", "job.plan", "--out", "report", "--detach")
    assert exit_code == 0, remarks
    assert folder.run("follow", output.strip())[0] == 0
    folder.wait_until((folder.path / "report" / "report.md").exists)
    assert len(report_of(folder)["findings"]) == 3


def test_a_repeat_of_an_audit_draws_answers_of_its_own(folder_with: MakeFolder, code: Path) -> None:
    folder = folder_with()
    first = ("audit", str(code), "--plan", "job.plan")
    assert folder.run(*first)[0] == 0
    once = folder.server.total
    assert folder.run(*first)[0] == 0
    assert folder.server.total == once
    assert folder.run(*first, "--repeat", "2")[0] == 0
    assert folder.server.total == 2 * once
    assert folder.newest().facts["repeat"] == 1


JUDGED = """
phase("Scan")
found = dedupe(flatten(parallel([lambda s=s: scan(s) for s in shards(tokens=50000)])))
phase("Check")
rounds = parallel([lambda n=n: check(found, sample=n) for n in range(3)])
result = report(vote(found, flatten(rounds), need=2))
"""


@pytest.mark.slow
def test_findings_whose_skeptics_met_a_limit_are_undecided_and_not_refuted(
    folder_with: MakeFolder, code: Path, model: Any
) -> None:
    folder = folder_with()
    folder.configure(**{"[limits]": f"{LEAD.removesuffix('[limits]')}{LEAD.replace('lead', 'judge')}"})
    (folder.path / "job.plan").write_text(JUDGED)
    model.overrides.append(("false alarms", json_answer({"error": {"message": "slow down"}}, status=429)))
    exit_code, _, remarks = folder.run("audit", str(code), "--plan", "job.plan", "--out", "report")
    assert exit_code == 3, remarks
    report = report_of(folder)
    assert report["findings"] == []
    assert len(report["undecided"]) == 3
    assert "holes" in report["caveats"][0]
    model.overrides.clear()
    assert folder.run("resume", folder.newest().id)[0] == 0
    assert len(report_of(folder)["findings"]) == 3


def test_an_audit_that_failed_after_it_was_paid_for_is_reported_as_far_as_it_came(
    folder_with: MakeFolder, code: Path
) -> None:
    folder = folder_with()
    # What a rehearsal makes up is worded otherwise.
    fails = '[0][len([f for f in found if f["claim"] == "it is wrong"])]'
    (folder.path / "job.plan").write_text(EACH.replace("report(found)", fails))
    code_, _, remarks = folder.run("audit", str(code), "--plan", "job.plan", "--out", "report")
    assert code_ == 1, remarks
    report = report_of(folder)
    run = folder.newest()
    assert (run.status, report["run"]["status"]) == ("failed", "failed")
    assert report["cost"]["paid"] == folder.store(lambda store: store.money(run.id)["spent"]) / 1e6 > 0
    assert report["undecided"]
    assert any(f"planloom resume {run.id}" in note for note in report["notes"])
    assert report["notes"][-1].startswith("it ended so: the plan failed at line 3")


def test_an_audit_that_failed_before_it_had_anything_leaves_an_earlier_report_alone(
    folder_with: MakeFolder, code: Path, model: Any
) -> None:
    folder = folder_with()
    folder.run("audit", str(code), "--plan", "job.plan", "--out", "report")
    earlier = report_of(folder)
    (folder.path / "job.plan").write_text('result = agent("are you there?")\n')
    model.overrides.append(("are you there", json_answer({"error": {"message": "no such key"}}, status=401)))
    code_, _, remarks = folder.run("audit", str(code), "--plan", "job.plan", "--out", "report")
    assert (code_, folder.newest().status) == (2, "failed"), remarks
    assert report_of(folder) == earlier
