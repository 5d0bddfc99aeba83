"""An audit that is run again goes on with the plan that its lead wrote, also under a higher budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.here import FolderHere

from planloom.testing.folders import Folder
from planloom.testing.loopback import Received, Served, completion, serving

ROLES = "".join(
    f'[roles.{role}]\nendpoint = "main"\nmodel = "m-1"\nprice = {{ call = 0.2 }}\n\n' for role in ("lead", "judge")
)
PLAN = 'phase("Scan")\nfound = flatten([scan([p]) for p in work()])\nresult = report(found)  # plan {number}\n'
BAD = "while True:\n    scan(1)\n"


@attrs.define
class Leading:
    """A folder whose lead writes another plan each time it is asked.

    :ivar drafts: plans that it writes before those. :ivar asked: what it was asked.
    :ivar clumsy: whether workers must be told to answer as they should, which makes them dearer than rehearsed.
    """

    code: Path
    model: Any
    folder: Folder = attrs.field(init=False)
    drafts: list[str] = attrs.field(factory=list)
    asked: list[str] = attrs.field(factory=list)
    clumsy: bool = False

    def answer(self, request: Received) -> Served:
        messages = request.json["messages"]
        if "You plan an audit" in messages[0]["content"]:
            self.asked.append(request.question)
            draft = self.drafts.pop(0) if self.drafts else PLAN.format(number=len(self.asked))
            return completion(f"```\n{draft}```\n")
        if self.clumsy and len(messages) == 2:
            return completion("It is hard to say.")
        served: Served = self.model(request) if len(messages) == 2 else completion('{"findings": []}')
        return served

    def audit(self, *arguments: str, code: int = 0) -> str:
        """Run an audit that ends with a code; return what it remarked."""
        ended, _, remarks = self.folder.run("audit", str(self.code), *arguments)
        assert ended == code, remarks
        return remarks

    def plan(self) -> str:
        """Return the plan of the newest run."""
        return self.folder.newest().plan


@pytest.fixture
def leading(tmp_path: Path, code: Path, model: Any) -> Iterator[Leading]:
    lead = Leading(code, model)
    with ExitStack() as stack:
        desk = tmp_path / "desk"
        desk.mkdir()
        folder = FolderHere(desk, stack.enter_context(serving(lead.answer)), "")
        folder.configure(**{"[limits]": f"{ROLES}[limits]"})
        stack.callback(folder.end)
        lead.folder = folder
        yield lead


def test_under_a_higher_cap_the_written_plan_goes_on_and_nothing_is_asked_twice(leading: Leading) -> None:
    leading.clumsy = True
    assert "run it again with --cap" in leading.audit("--cap", "1.3", "--yes", code=5)
    remarks = leading.audit("--cap", "5")
    assert "the plan that the lead wrote for a budget of 1.3 credits goes on; --new-plan has another written" in remarks
    sent = [json.dumps(request.json["messages"]) for request in leading.folder.server.received]
    # The plan, then four scans of two turns; nothing was found that a report would be asked about.
    assert (len(leading.asked), len(sent), len(set(sent))) == (1, 9, 9)
    row = leading.folder.newest()
    assert row.plan == PLAN.format(number=1)
    assert row.facts["cost"]["planning"] == 200_000
    books = leading.folder.store(lambda store: store.books(row.budget))
    assert (books.cap, books.spent) == (5_000_000, 1_800_000)


def test_a_lead_that_stopped_at_the_cap_before_it_mended_its_plan_goes_on_from_there(leading: Leading) -> None:
    leading.drafts.append(BAD)
    leading.audit("--cap", "0.3", code=5)
    leading.audit("--cap", "5")
    assert ["PL031" in question for question in leading.asked] == [False, True]
    assert "budget: 0.3 credits" in leading.folder.newest().facts["sheet"]


def test_a_lead_that_could_not_be_paid_is_told_the_budget_of_the_day_on_which_it_can(leading: Leading) -> None:
    assert "cannot afford its first call" in leading.audit("--cap", "0.1", code=5)
    leading.audit("--cap", "5")
    assert "budget: 5 credits" in leading.folder.newest().facts["sheet"]


def test_a_lead_plans_for_what_the_stores_cap_leaves_and_its_plan_goes_on_when_that_is_raised(
    leading: Leading,
) -> None:
    leading.folder.run("store", "cap", "0.1")
    assert "the job cannot afford its first call, which may cost 0.2: all jobs of the store" in leading.audit(code=5)
    assert leading.asked == []
    leading.folder.run("store", "cap", "4")
    leading.audit("--yes")
    assert "budget: 4 credits" in leading.asked[0]
    leading.folder.run("store", "cap", "40")
    assert "the plan that the lead wrote for a budget of 4.0 credits goes on" in leading.audit("--yes")
    assert len(leading.asked) == 1


def test_a_plan_that_was_too_dear_is_taken_when_there_is_money_for_it(leading: Leading) -> None:
    told = leading.audit("--cap", "0.9", code=6)
    assert "would stop at the budget" in told
    assert "known by now: run it again with a higher --cap, which pays for none of them twice, run a saved plan" in told
    asked = len(leading.asked)
    leading.audit("--cap", "5")
    assert (len(leading.asked), leading.plan()) == (asked, PLAN.format(number=1))


def test_a_plan_that_was_held_and_approved_goes_on_too(leading: Leading) -> None:
    leading.audit("--cap", "2", code=4)
    code, _, remarks = leading.folder.run("resume", leading.folder.newest().id, "--yes")
    assert code == 0, remarks
    leading.audit("--cap", "5")
    assert (len(leading.asked), leading.plan()) == (1, PLAN.format(number=1))


def test_under_a_lower_cap_the_lead_plans_anew(leading: Leading) -> None:
    leading.audit("--cap", "5")
    leading.audit("--cap", "4")
    assert ["budget: 5 credits" in leading.asked[0], "budget: 4 credits" in leading.asked[1]] == [True, True]
    assert leading.plan() == PLAN.format(number=2)


def test_new_plan_has_the_lead_asked_again_and_later_audits_go_on_with_that_one(leading: Leading) -> None:
    leading.audit("--cap", "5")
    leading.audit("--cap", "5", "--new-plan")
    leading.audit("--cap", "6")
    assert len(leading.asked) == 2
    assert leading.plan() == PLAN.format(number=2)


@pytest.mark.parametrize("change", ["code", "model", "job"])
def test_another_question_has_another_plan(leading: Leading, change: str) -> None:
    leading.audit("--cap", "5")
    if change == "code":
        (leading.code / "more.py").write_text("def one():\n    return 1\n")
    elif change == "model":
        leading.folder.configure(**{"[limits]": f"{ROLES.replace('m-1', 'm-2', 1)}[limits]"})
    leading.audit("--cap", "6", *(["--job", "Look at sums."] if change == "job" else []))
    assert leading.plan() == PLAN.format(number=2)


@pytest.mark.parametrize("option", [["--new-plan"], ["--job", "Look at sums."]])
def test_what_only_a_lead_hears_is_refused_beside_a_plan(leading: Leading, option: list[str]) -> None:
    assert "leave one of them out" in leading.audit(*option, "--plan", "fixed", code=2)


@pytest.mark.parametrize("option", [["--new-plan"], ["--job", "Look at sums."]])
def test_what_only_a_lead_hears_says_what_is_missing_where_there_is_none(leading: Leading, option: list[str]) -> None:
    leading.folder.configure()
    told = leading.audit(*option, code=2)
    assert (option[0] in told, "name a model for the role `lead`" in told) == (True, True)
