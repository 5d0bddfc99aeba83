"""Plans as a lead writes them that run saved plans and pipelines, with the audit's real words."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from planlang import check
from planloom._room import Room
from planloom.jobs import kits_in, price_plan
from planloom.kits import Kit
from planloom.money import MICRO
from planloom.plugins import Registry
from planloom.settings import Settings
from planloom.words import build_vocabulary

LEAD_PLANS = Path(__file__).parents[1] / "grammar" / "cases" / "lead_plans.jsonl"
MODULE_AUDIT = """
paths = [path for path in work() if path.startswith(args["folder"] + "/")]
found = dedupe(flatten(parallel([lambda p=p: scan([p], "logic") for p in paths])))
verdicts = flatten(parallel([lambda i=i: check(found, sample=i) for i in range(args["need"])]))
result = {"bugs": vote(found, verdicts, need=args["need"])}
"""


def lead_plan(name: str) -> str:
    cases = map(json.loads, LEAD_PLANS.read_text(encoding="utf-8").splitlines())
    return next(str(case["source"]) for case in cases if case["id"] == name)


@pytest.fixture
def project(bench: Any, tmp_path: Path) -> Any:
    """The bench as a project that keeps a saved plan ``module-audit``."""
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "module-audit.plan").write_text(MODULE_AUDIT)
    return attrs.evolve(bench, settings=attrs.evolve(bench.settings, source=tmp_path / "planloom.toml"))


def test_a_saved_plan_is_run_once_for_every_module(project: Any) -> None:
    outcome = asyncio.run(project.run(lead_plan("LP34")))
    assert (outcome.status, outcome.holes) == ("completed", 0)
    assert outcome.result["per_module"] == {"shop": 2, "tools": 1}
    assert outcome.result["not_covered"] == []


def test_a_saved_plan_is_priced_before_it_runs(project: Any, code: Path) -> None:
    source = lead_plan("LP34")
    kits = kits_in(project.registry, project.settings, source)
    priced = price_plan(
        source,
        build_vocabulary(project.registry, project.settings, kits),
        registry=project.registry,
        settings=project.settings,
        works={kit.name: kit.open(str(code), {}) for kit in kits},
        room=Room(job=150 * MICRO),
    )
    assert priced.rehearsal.problems == ()
    assert priced.rehearsal.agents >= 4


def test_a_plan_that_only_runs_a_saved_one_is_a_job_of_that_ones_kit(project: Any) -> None:
    source = 'result = plan("module-audit", folder="shop", need=1)\n'
    assert [kit.name for kit in kits_in(project.registry, project.settings, source)] == ["audit"]
    assert kits_in(project.registry, project.settings, "result = agent('plan')\n") == ()


def test_a_saved_plan_that_there_is_not_is_a_problem_with_the_near_name(registry: Registry) -> None:
    kits = (registry.get("kit", "audit", Kit),)
    problems = check('result = plan("fixd")\n', build_vocabulary(registry, Settings(), kits))
    (problem,) = [one for one in problems if one.severity == "problem"]
    assert problem.hint == 'write `"fixed"`; there are: fit, fixed.'


def test_items_and_a_function_in_place_of_lambdas_is_the_one_problem_of_a_plan_with_a_pipeline(project: Any) -> None:
    kits = (project.registry.get("kit", "audit", Kit),)
    found = check(lead_plan("LP31"), build_vocabulary(project.registry, project.settings, kits))
    (problem,) = [one for one in found if one.severity == "problem"]
    assert (problem.line, "[lambda n=n:" in problem.hint) == (2, True)
