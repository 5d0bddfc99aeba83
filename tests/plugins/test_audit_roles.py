"""Roles that an audit will need: what is not configured is told before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.here import Ended, planloom_here

from planloom.testing.loopback import Received, Served, completion, serving

FAST = 'result = agent("is it so?", model="fast")\n'
SCANS = "found = flatten([scan([p]) for p in work()])\nresult = report(found)\n"


@attrs.define
class Desk:
    """A working folder whose lead writes the plans that it is told to, one after another.

    :ivar told: what the lead was told, each time.
    """

    folder: Path
    code: Path
    model: Any
    url: str = ""
    drafts: list[str] = attrs.field(factory=list)
    told: list[str] = attrs.field(factory=list)

    def answer(self, request: Received) -> Served:
        """Answer as lead or worker."""
        if "You plan an audit" not in request.json["messages"][0]["content"]:
            served: Served = self.model(request)
            return served
        self.told.append(request.question)
        return completion(f"```\n{self.drafts.pop(0)}```\n")

    def audit(self, *roles: str) -> Ended:
        """Audit with these roles configured."""
        tables = "".join(f'[roles.{r}]\nendpoint = "main"\nmodel = "m"\nprice = {{ call = 0.2 }}\n' for r in roles)
        config = f'[endpoints.main]\nclient = "openai"\nurl = "{self.url}"\n{tables}'
        (self.folder / "planloom.toml").write_text(config)
        return planloom_here(self.folder, "audit", self.code, env={"XDG_STATE_HOME": str(self.folder / "state")})


@pytest.fixture
def desk(tmp_path: Path, code: Path, model: Any) -> Iterator[Desk]:
    folder = tmp_path / "desk"
    folder.mkdir()
    desk = Desk(folder, code, model)
    with serving(desk.answer) as server:
        desk.url = server.url
        yield desk


def test_without_a_judge_no_lead_is_paid_for_a_plan_that_cannot_be_run(desk: Desk) -> None:
    done = desk.audit("lead", "worker")
    assert (done.returncode, desk.told) == (2, [])
    assert "does not configure a role that the words of an audit ask: `judge` (check); add [roles.judge]" in done.stderr


def test_a_lead_that_asks_a_role_which_is_not_configured_mends_its_plan(desk: Desk) -> None:
    desk.drafts = [FAST, SCANS]
    done = desk.audit("lead", "worker", "judge")
    assert done.returncode == 0, done.stderr
    said = "the plan uses the role `fast`, which is not configured; configured are `lead`, `worker`, `judge`"
    assert said in desk.told[1]
    assert str(desk.folder) not in desk.told[1]
