"""Pricing audits: the given figures, the same on any machine."""

from __future__ import annotations

import random
from pathlib import Path

import attrs
import pytest

from planloom._room import Room
from planloom.jobs import compile_plan, decide, default_price
from planloom.kits import Kit
from planloom.money import MICRO, credits_of
from planloom.plugins import Registry
from planloom.rehearsal import Rehearsal, rehearse
from planloom.settings import Settings, offline_settings
from planloom.words import build_vocabulary
from planloom_audit.work import AuditWork, open_work

FILES, TOKENS = 849, 1_350_000
RUNAWAY = 'for n in range(1000000):\n    agent(f"question {n}")\nresult = None\n'


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> AuditWork:
    """A tree of 849 files and 1.35 million tokens in thirty folders."""
    root = tmp_path_factory.mktemp("large")
    rng = random.Random(7)
    weights = [rng.lognormvariate(0, 1) for _ in range(FILES)]
    scale = TOKENS / sum(weights)
    for number, weight in enumerate(weights):
        path = root / f"folder{number % 30:02d}" / f"module{number:03d}.py"
        path.parent.mkdir(exist_ok=True)
        lines = max(3, round(weight * scale * 2.54542 / 40))
        path.write_text("".join(f"value_{n} = compute({n})".ljust(32)[:32] + "\n" for n in range(lines)))
    return open_work(str(root), {})


def plan_of(registry: Registry, name: str) -> str:
    kit = registry.get("kit", "audit", Kit)
    return next(plan.source for plan in kit.saved_plans if plan.name == name)


def rehearsed(
    registry: Registry, work: AuditWork, source: str, cap: int, settings: Settings | None = None
) -> Rehearsal:
    settings = settings or offline_settings()
    kit = registry.get("kit", "audit", Kit)
    program, _ = compile_plan(source, build_vocabulary(registry, settings, [kit]))
    return rehearse(
        program,
        registry=registry,
        settings=settings,
        works={"audit": work},
        prices=default_price,
        budget=cap * MICRO,
    )


@pytest.fixture(scope="module")
def fixed(registry: Registry, large: AuditWork) -> Rehearsal:
    """How the fixed plan was rehearsed on those files."""
    return rehearsed(registry, large, plan_of(registry, "fixed"), 150)


def test_the_fixed_plan_on_849_files_costs_what_real_runs_cost(large: AuditWork, fixed: Rehearsal) -> None:
    assert len(large.tree.files) == FILES
    assert large.tree.tokens == pytest.approx(TOKENS, rel=0.02)
    assert len(large.shards(100_000)) == 14
    assert fixed.phases["Scan"] == 42
    assert 12 <= credits_of(fixed.credits_p50) <= 14
    assert (fixed.takes, fixed.problems) == (20, ())


def test_a_rehearsal_gives_the_same_figures_every_time(registry: Registry, large: AuditWork, fixed: Rehearsal) -> None:
    assert rehearsed(registry, large, plan_of(registry, "fixed"), 150) == fixed


def test_a_rehearsal_sees_the_budget_of_the_real_run(registry: Registry, large: AuditWork) -> None:
    settings = offline_settings()
    fit = plan_of(registry, "fit")
    rich, poor = rehearsed(registry, large, fit, 150), rehearsed(registry, large, fit, 45)
    assert poor.agents < rich.agents / 2
    assert decide(registry, settings, rich, Room(job=45 * MICRO)).verdict == "held"
    assert decide(registry, settings, poor, Room(job=45 * MICRO)).verdict == "approved"


def test_the_gate_approves_the_fixed_plan_at_a_budget_of_45(registry: Registry, large: AuditWork) -> None:
    rehearsal = rehearsed(registry, large, plan_of(registry, "fixed"), 45)
    assert decide(registry, offline_settings(), rehearsal, Room(job=45 * MICRO)).verdict == "approved"


def test_a_plan_that_runs_away_is_refused_naming_the_worker_limit(registry: Registry, large: AuditWork) -> None:
    rehearsal = rehearsed(registry, large, RUNAWAY, 1_500)
    assert rehearsal.problems[0].startswith("rehearsal: worker limit:")
    assert decide(registry, offline_settings(), rehearsal, Room(job=1_500 * MICRO)).verdict == "refused"


def test_a_plan_that_breaks_when_a_worker_fails_is_refused_with_its_line(registry: Registry, large: AuditWork) -> None:
    plan = 'texts = [agent(f"part {n}") for n in range(30)]\nresult = " ".join(texts)\n'
    assert "line 2: TypeError" in rehearsed(registry, large, plan, 150).problems[0]


def test_asking_one_question_twice_is_worth_knowing(registry: Registry, large: AuditWork) -> None:
    plan = 'result = [agent("the same", label="twin") for n in range(2)]\n'
    assert rehearsed(registry, large, plan, 150).advice == ("the plan asks one question twice, with one answer: twin",)


def test_a_rehearsal_builds_no_prompt(registry: Registry, large: AuditWork, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_text(self: AuditWork, names: object) -> None:
        raise AssertionError("a shard was rendered")

    monkeypatch.setattr(AuditWork, "text", no_text)
    assert rehearsed(registry, large, plan_of(registry, "fixed"), 150).problems == ()


def test_more_workers_than_a_run_may_have_is_a_problem(registry: Registry, large: AuditWork) -> None:
    settings = attrs.evolve(offline_settings(), workers=20)
    rehearsal = rehearsed(registry, large, plan_of(registry, "fixed"), 150, settings)
    assert "more than 20 workers" in rehearsal.problems[0] or "twice the limit of 20" in rehearsal.problems[0]


def test_an_empty_tree_says_so(tmp_path: Path) -> None:
    from planloom import NothingToDo

    with pytest.raises(NothingToDo, match="no Python file below"):
        open_work(str(tmp_path), {})
