"""The commands that say what there is, and those that check and price a plan without running it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from tests.here import planloom_here

PLAN = 'phase("Ask")\nresult = parallel([lambda i=i: agent(f"question {i}") for i in range(10)])\n'


def planloom(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run a command that ends with a code; return its output."""
    done = planloom_here(folder, *arguments)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_init_writes_a_configuration_that_can_be_read_and_overwrites_none(tmp_path: Path) -> None:
    assert planloom(tmp_path, "init").startswith("wrote planloom.toml")
    written = (tmp_path / "planloom.toml").read_text()
    assert tomllib.loads(written)["budget"] == {"cap": 150}
    assert planloom(tmp_path, "runs").startswith("no runs yet")
    planloom(tmp_path, "init", code=2)
    assert (tmp_path / "planloom.toml").read_text() == written


def test_what_init_writes_works_when_its_comments_are_taken_away(tmp_path: Path) -> None:
    planloom(tmp_path, "init")
    path = tmp_path / "planloom.toml"
    settings = re.sub(r"^# (?=\[|\w+ = )", "", path.read_text(), flags=re.MULTILINE)
    assert set(tomllib.loads(settings)["roles"]) == {"lead", "worker", "judge", "fast"}
    path.write_text(settings)
    planloom(tmp_path, "runs")


@pytest.mark.parametrize("group", [(), ("store",), ("bench",)])
def test_a_list_of_commands_cuts_no_sentence(tmp_path: Path, group: tuple[str, ...]) -> None:
    assert "..." not in planloom(tmp_path, *group, "--help").replace("[ARGS]...", "")


def test_the_commands_stand_under_what_they_are_for_and_those_of_kits_come_first(tmp_path: Path) -> None:
    lines = planloom(tmp_path, "--help").splitlines()
    sections = [line for line in lines if re.fullmatch(r"[A-Z][a-z ]+:", line)]
    assert sections == ["Options:", "Jobs:", "Plans:", "Runs:", "Looking after it:"]
    jobs = lines[lines.index("Jobs:") + 1 : lines.index("Plans:") - 1]
    assert [line.split()[0] for line in jobs] == ["audit", "bench", "demo", "score"]


def test_every_command_that_takes_a_run_says_where_its_id_comes_from(tmp_path: Path) -> None:
    for command in ("show", "follow", "cancel", "raise", "resume", "replay", "export"):
        assert "RUN is an id that `planloom runs` lists" in " ".join(planloom(tmp_path, command, "--help").split())


def test_a_command_that_touches_no_store_takes_none(tmp_path: Path) -> None:
    (tmp_path / "job.plan").write_text(PLAN)
    planloom(tmp_path, "check", "job.plan", "--store", "store.db", code=2)


def test_the_plugins_are_listed_with_version_and_hooks(tmp_path: Path) -> None:
    lines = planloom(tmp_path, "plugins").splitlines()
    assert any(line.startswith("audit  (planloom ") for line in lines)
    assert "  lens: boundaries, general, logic, state" in lines


def test_prompts_are_listed_and_shown_and_a_projects_own_goes_before(tmp_path: Path) -> None:
    listed = planloom(tmp_path, "prompts").splitlines()
    assert any(line.startswith("audit.scan  ") for line in listed)
    assert len({line.rindex(" ") for line in listed}) == 1
    assert len(planloom(tmp_path, "prompts", "audit.scan")) > 100
    (tmp_path / "scan.md").write_text("Look hard.\n")
    (tmp_path / "planloom.toml").write_text('[prompts]\n"audit.scan" = "scan.md"\n')
    assert planloom(tmp_path, "prompts", "audit.scan") == "Look hard.\n"
    assert f"(from {tmp_path / 'scan.md'})" in planloom(tmp_path, "prompts")


def test_what_lenses_and_skeptics_are_told_is_printed_and_replaced_as_any_prompt(tmp_path: Path) -> None:
    shown = planloom(tmp_path, "prompts")
    assert all(
        f"audit.{name}  " in shown for name in ("lens.boundaries", "lens.logic", "lens.state", "skeptic.doubter")
    )
    assert "Most reports are false alarms" in planloom(tmp_path, "prompts", "audit.skeptic.doubter")
    (tmp_path / "own.md").write_text("Edges!\n")
    (tmp_path / "planloom.toml").write_text('[prompts]\n"audit.lens.boundaries" = "own.md"\n')
    (tmp_path / "a.plan").write_text("result = [scan(s) for s in shards()]\n")
    planloom(tmp_path, "check", "a.plan")
    (tmp_path / "own.md").write_text("edges " * 500)
    planloom(tmp_path, "check", "a.plan", code=2)


def test_every_code_is_listed_with_its_title_and_has_a_page(tmp_path: Path) -> None:
    titles = planloom(tmp_path, "explain").splitlines()
    assert "PL031: while (problem, blocks a plan)" in titles
    assert planloom(tmp_path, "explain", "pl031") == planloom(tmp_path, "explain", "PL031") != ""


def test_a_good_plan_is_checked_with_no_problem(tmp_path: Path) -> None:
    (tmp_path / "job.plan").write_text("result = 1 + 1\n")
    assert planloom(tmp_path, "check", "job.plan") == "job.plan: no problems\n"
    assert json.loads(planloom(tmp_path, "check", "job.plan", "--json")) == []


def test_problems_are_told_as_json_with_place_code_and_hint(tmp_path: Path) -> None:
    (tmp_path / "job.plan").write_text("result = agnet('x')\n")
    (problem,) = json.loads(planloom(tmp_path, "check", "job.plan", "--json", code=6))
    assert (problem["line"], problem["column"], problem["code"]) == (1, 10, "PL101")
    assert "agent" in problem["hint"]


def test_a_plan_is_rehearsed_at_default_prices_where_no_model_is_configured(tmp_path: Path) -> None:
    (tmp_path / "job.plan").write_text(PLAN)
    told = json.loads(planloom(tmp_path, "rehearse", "job.plan", "--json"))
    assert (told["agents"], told["credits"]["p50"], told["phases"]) == (10, 2.0, {"Ask": 10})
    assert not (tmp_path / ".planloom").exists()


def test_a_rehearsal_over_the_cap_is_refused(tmp_path: Path) -> None:
    (tmp_path / "job.plan").write_text(PLAN)
    told = json.loads(planloom(tmp_path, "rehearse", "job.plan", "--json", "--cap", "1", code=6))
    assert "would stop at the budget of 1.0 credits" in told["problems"][0]


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_a_question_about_the_command_itself_is_answered(tmp_path: Path, flag: str) -> None:
    assert "planloom" in planloom(tmp_path, flag)


def test_the_store_is_where_the_flag_or_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.plan").write_text("result = 1\n")
    monkeypatch.setenv("PLANLOOM_STORE", str(tmp_path / "environment.db"))
    planloom(tmp_path, "run", "one.plan")
    planloom(tmp_path, "run", "one.plan", "--store", "flag.db")
    assert {path.name for path in tmp_path.glob("*.db")} == {"environment.db", "flag.db"}


def test_a_runs_plan_can_be_saved_and_is_what_was_run(tmp_path: Path) -> None:
    (tmp_path / "one.plan").write_text("result = 1\n")
    planloom(tmp_path, "run", "one.plan")
    run = planloom(tmp_path, "runs").splitlines()[1].split()[0]
    assert planloom(tmp_path, "show", run, "--plan") == "result = 1\n"
