"""``planloom audit`` as a person runs it: its output, its files, its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.here import Ended, planloom_here

from planloom.testing.loopback import Received, Served, completion, json_answer, serving

SWAPPED = (
    "def split(line, mark):\n    return line.split(mark)\n\n\ndef both(line, mark):\n    return split(mark, line)\n"
)
ROLES = ("lead", "worker", "judge", "fast")


def planloom(folder: Path, *arguments: object) -> Ended:
    return planloom_here(folder, *arguments, env={"XDG_STATE_HOME": str(folder / "state")})


def planloom_apart(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "planloom", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def configure(folder: Path, url: str, price: float = 0.2, more: str = "") -> None:
    roles = "".join(f'[roles.{r}]\nendpoint = "main"\nmodel = "m"\nprice = {{ call = {price} }}\n' for r in ROLES)
    (folder / "planloom.toml").write_text(f'{more}[endpoints.main]\nclient = "openai"\nurl = "{url}"\n{roles}')


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A working folder beside the audited one."""
    folder = tmp_path / "desk"
    folder.mkdir()
    return folder


def test_without_a_model_offline_rules_find_a_swap_and_every_file_is_written(code: Path, desk: Path) -> None:
    (code / "swap.py").write_text(SWAPPED)
    done = planloom_apart(desk, "audit", code, "--out", "report")
    assert done.returncode == 0, done.stderr
    assert "swap.py:6" in done.stdout
    assert "no model asked" in done.stdout
    assert sorted(p.name for p in (desk / "report").iterdir()) == [
        "findings.json",
        "findings.sarif",
        "report.html",
        "report.md",
    ]
    found = json.loads((desk / "report" / "findings.json").read_text())["findings"]
    assert [(f["file"], f["line"], f["rule"]) for f in found] == [("swap.py", 6, "swapped-arguments")]


def test_the_answers_are_kept_below_the_working_folder_out_of_git(code: Path, desk: Path) -> None:
    planloom(desk, "audit", code)
    assert (desk / ".planloom" / ".gitignore").read_text().strip() == "*"
    assert not (code / ".planloom").exists()
    again = planloom(desk, "audit", code)
    assert "0 asked" in again.stderr


def test_a_file_that_does_not_parse_is_audited_as_text_and_listed(code: Path, desk: Path) -> None:
    (code / "template.py").write_text("{{ name }}\ndef broken(:\n")
    planloom(desk, "audit", code, "--out", "report")
    data = json.loads((desk / "report" / "findings.json").read_text())
    assert [row["path"] for row in data["unparsable"]] == ["template.py"]


FAULTS = [
    (["nowhere"], 2, "nowhere"),
    (["empty"], 7, "no Python file below"),
    (["code", "--plan", "fixd"], 2, "did you mean `fixed`?"),
    (["code", "--cap", "much"], 2, "not an amount of credits"),
    (["code", "--config", "none.toml"], 2, "none.toml"),
    (["code", "--out", "/proc/nothing"], 2, "/proc/nothing"),
    (["code", "--store", "/proc/nothing/store.db"], 1, "/proc/nothing"),
]


@pytest.mark.parametrize(("arguments", "exit_code", "text"), FAULTS)
def test_a_fault_is_one_sentence_and_an_exit_code(
    tmp_path: Path, code: Path, arguments: list[str], exit_code: int, text: str
) -> None:
    (tmp_path / "empty").mkdir()
    done = planloom(tmp_path, "audit", *arguments)
    assert (done.returncode, done.stdout) == (exit_code, ""), done.stderr
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_a_configuration_in_the_audited_folder_is_not_trusted_by_itself(code: Path) -> None:
    with serving(completion('{"findings": []}')) as server:
        configure(code, server.url)
        refused = planloom(code, "audit", ".", "--plan", "fixed")
        assert refused.returncode == 2
        assert server.url in refused.stderr
        assert server.total == 0
        assert planloom(code, "audit", ".", "--plan", "fixed", "--trust-config").returncode == 0
        assert server.total > 0


def test_a_plan_above_the_gate_is_held_without_a_terminal_and_nothing_is_asked(
    code: Path, desk: Path, model: Any
) -> None:
    with serving(model) as server:
        configure(desk, server.url, price=10)
        held = planloom(desk, "audit", code, "--plan", "fixed")
        assert (held.returncode, server.total) == (4, 0)
        assert "--approve-up-to" in held.stderr
        assert " held " in planloom(desk, "runs").stdout
        assert planloom(desk, "audit", code, "--plan", "fixed", "--yes").returncode == 0


def test_a_budget_that_one_call_may_pass_is_refused_with_one_that_is_enough(code: Path, desk: Path, model: Any) -> None:
    (desk / "each.plan").write_text("result = flatten([scan([p]) for p in work()])\n")
    with serving(model) as server:
        configure(desk, server.url)
        text = (desk / "planloom.toml").read_text()
        # A worst case is 16,000 output tokens, 1.6 credits; a reply of the server costs next to nothing.
        (desk / "planloom.toml").write_text(text.replace("{ call = 0.2 }", "{ output = 100.0 }"))
        refused = planloom(desk, "audit", code, "--plan", "each.plan", "--cap", "1")
        assert (refused.returncode, server.total) == (6, 0), refused.stderr
        assert "after 0 calls, since the next may cost 1.6; all of it needs about 1.66 credits" in refused.stderr
        assert "raise --cap by 0.66 or more" in refused.stderr
        assert planloom(desk, "audit", code, "--plan", "each.plan", "--cap", "1.66").returncode == 0
        assert server.total == 4


PLANNING = (
    "found = dedupe(flatten(parallel([lambda s=s: scan(s) for s in shards(tokens=50000)])))\nresult = report(found)\n"
)


def test_a_lead_mends_its_plan_and_every_attempt_is_kept(code: Path, desk: Path, model: Any) -> None:
    drafts = ["while True:\n    scan(1)\n", PLANNING]
    asked: list[str] = []

    def answer(request: Received) -> Served:
        if "You plan an audit" not in request.json["messages"][0]["content"]:
            served: Served = model(request)
            return served
        asked.append(request.question)
        return completion(
            f"Here is the plan:\n```\n{drafts[len(asked) - 1]}```\n",
            usage={"prompt_tokens": 900, "completion_tokens": 50},
        )

    with serving(answer) as server:
        configure(desk, server.url)
        done = planloom(desk, "audit", code, "--job", "Look for wrong sums.")
        assert done.returncode == 0, done.stderr
    assert asked[0].startswith("THE JOB\nLook for wrong sums.\n\nTHE WORK\n4 Python files")
    assert "PL031 `while` is not part of the plan language" in asked[1]
    assert "shop/prices.py:2" in done.stdout
    run = planloom(desk, "runs").stdout.splitlines()[1].split()[0]
    facts = json.loads(planloom(desk, "show", run, "--json").stdout)["facts"]
    assert [bool(attempt["problems"]) for attempt in facts["planning"]] == [True, False]
    assert facts["plan_name"] == "lead"
    assert facts["cost"]["paid"] == facts["cost"]["full_price"] == 200_000 * server.total
    assert facts["cost"]["planning"] == 400_000
    assert "0.4 of it for planning" in done.stderr
    paid = facts["cost"]["paid"] / 1_000_000
    shown = planloom(desk, "show", run).stdout.splitlines()
    assert (f" | {paid:.1f} credits | " in shown[1], shown[2].startswith(f"{paid:.1f} credits paid")) == (True, True)


def test_a_lead_that_never_mends_its_plan_is_refused_after_two_repairs(code: Path, desk: Path) -> None:
    with serving(completion("I cannot do that.")) as server:
        configure(desk, server.url)
        done = planloom(desk, "audit", code)
        assert (done.returncode, server.total) == (6, 3)
        assert "no acceptable plan in 3 attempts, which took 0.6 of the 150.0 credits" in done.stderr
        assert "say more with --job" in done.stderr
    run, status, *_ = planloom(desk, "runs").stdout.splitlines()[1].split()
    facts = json.loads(planloom(desk, "show", run, "--json").stdout)["facts"]
    assert status == "refused"
    assert [bool(attempt["problems"]) for attempt in facts["planning"]] == [True, True, True]
    assert facts["cost"]["paid"] == 600_000


def test_an_audit_that_stopped_before_its_plan_was_written_is_begun_again_and_not_resumed(
    code: Path, desk: Path
) -> None:
    with serving(completion("I cannot do that.")) as server:
        configure(desk, server.url)
        assert planloom(desk, "audit", code, "--cap", "0.3").returncode == 5
        run, status, *_ = planloom(desk, "runs").stdout.splitlines()[1].split()
        assert status == "paused"
        assert "the command that began it goes on" in planloom(desk, "raise", run, "--cap", "1").stdout
        resumed = planloom(desk, "resume", run)
        assert (resumed.returncode, server.total) == (2, 1)
        assert "begin it again with the command that began it" in resumed.stderr


def test_a_server_that_is_down_leaves_holes_and_says_so(code: Path, desk: Path) -> None:
    configure(desk, "http://127.0.0.1:9/v1")
    done = planloom(desk, "audit", code, "--plan", "fixed")
    assert done.returncode == 3, done.stderr
    assert "seen by no scan that answered" in done.stdout


def test_a_missing_key_is_named_before_anything_is_asked(code: Path, desk: Path) -> None:
    configure(desk, "https://127.0.0.1:9/v1")
    text = (
        (desk / "planloom.toml").read_text().replace('client = "openai"', 'client = "openai"\nkey_env = "NO_SUCH_KEY"')
    )
    (desk / "planloom.toml").write_text(text)
    done = planloom(desk, "audit", code, "--plan", "fixed")
    assert done.returncode == 2
    assert "NO_SUCH_KEY" in done.stderr


def test_the_demonstration_scores_what_it_found_though_a_worker_failed(desk: Path) -> None:
    refused = json_answer({"error": {"message": "no"}}, status=400)
    with serving([refused, *[completion('{"findings": []}')] * 50]) as server:
        configure(desk, server.url)
        text = (desk / "planloom.toml").read_text()
        (desk / "planloom.toml").write_text(
            text.replace('[roles.lead]\nendpoint = "main"', '[roles.lead]\nendpoint = "offline"')
        )
        done = planloom(desk, "demo")
    assert done.returncode == 3, done.stderr
    assert "0 of 24 planted bugs found" in done.stdout


def test_the_demonstration_scores_what_it_found_and_keeps_its_report_out_of_git(desk: Path) -> None:
    done = planloom_apart(desk, "demo")
    assert done.returncode == 0, done.stderr
    assert "of 24 planted bugs found" in done.stdout
    assert "chance" in done.stdout
    assert done.stderr.rstrip().endswith("below .planloom/demo")
    assert (desk / ".planloom" / "demo" / "report.html").is_file()
    assert (desk / ".planloom" / ".gitignore").read_text() == "*\n"
