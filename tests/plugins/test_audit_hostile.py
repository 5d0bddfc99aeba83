"""``planloom audit`` among hostile code, models, servers, streams and folders."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.here import planloom_here

from planloom import ConfigurationError
from planloom.clients import Endpoint
from planloom.money import Price
from planloom.settings import RoleSettings, Settings
from planloom.testing.loopback import Received, Served, completion, json_answer, serving
from planloom.trust import require_trust
from planloom_audit.words_judge import _verdicts_by_number

ROLES = ("lead", "worker", "judge", "fast")
FILES = ["findings.json", "findings.sarif", "report.html", "report.md"]
HOSTILE = "[/] [red]x[/red] \x1b[31mred\x1b]0;title\x07 \u202eturned \x9b2J"
SHOWN = "[/] [red]x[/red] ⟨U+001B⟩[31mred⟨U+001B⟩]0;title⟨U+0007⟩ ⟨U+202E⟩turned ⟨U+009B⟩2J"


class Desk:
    """A working folder with a configuration, and ``planloom audit`` run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def configure(self, url: str) -> None:
        roles = "".join(f'[roles.{r}]\nendpoint = "main"\nmodel = "m"\nprice = {{ call = 0.2 }}\n' for r in ROLES)
        (self.folder / "planloom.toml").write_text(f'[endpoints.main]\nurl = "{url}"\n{roles}')

    def start(self, *arguments: object, env: dict[str, str] | None = None, **streams: Any) -> subprocess.Popen[bytes]:
        given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [sys.executable, "-m", "planloom", "audit", *map(os.fsencode, map(str, arguments))],
            cwd=self.folder,
            env={**os.environ, "COLUMNS": "300", "XDG_STATE_HOME": str(self.folder / "state"), **(env or {})},
            **(given | streams),
        )

    def audit(self, *arguments: object) -> tuple[int, str, str]:
        """Return the exit code and what was written to both streams."""
        env = {"COLUMNS": "300", "XDG_STATE_HOME": str(self.folder / "state")}
        ended = planloom_here(self.folder, "audit", *arguments, env=env)
        return ended.returncode, ended.stdout, ended.stderr

    def audit_apart(self, *arguments: object, **options: Any) -> tuple[int, str, str]:
        """Do the same in a process of its own; what it wrote is read as UTF-8."""
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=60)
        return process.returncode, (out or b"").decode(), (err or b"").decode()

    def written(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "report").iterdir())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "desk")


def test_what_a_model_says_is_shown_as_it_is_and_commands_no_terminal(code: Path, desk: Desk, model: Any) -> None:
    claim = {"file": "shop/stock.py", "line": 2, "claim": HOSTILE}
    model.overrides.append(("### shop/stock.py", completion(json.dumps({"findings": [claim]}))))
    with serving(model) as server:
        desk.configure(server.url)
        exit_code, out, err = desk.audit(code, "--plan", "fixed", "--out", "report")
    assert exit_code == 0, err
    assert SHOWN in out
    assert "\x1b" not in out + err
    assert desk.written() == FILES


def test_what_a_server_says_is_no_markup(code: Path, desk: Desk) -> None:
    with serving(json_answer({"error": {"message": HOSTILE}}, status=400)) as server:
        desk.configure(server.url)
        exit_code, _, err = desk.audit(code, "--plan", "fixed")
    assert exit_code == 3, err
    # Rich drops a bell of itself.
    assert f"answered 400: {SHOWN.replace('⟨U+0007⟩', '')}" in err


def test_a_reader_that_leaves_loses_no_report(code: Path, desk: Desk) -> None:
    process = desk.start(code, "--out", "report", stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert desk.written() == FILES


def test_remarks_that_nobody_reads_end_no_audit(code: Path, desk: Desk) -> None:
    process = desk.start(code, "--out", "report")
    assert process.stderr is not None
    process.stderr.close()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"4 of them read" in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no stream that is always full")
def test_a_full_stream_is_one_sentence_and_loses_no_report(code: Path, desk: Desk) -> None:
    with open("/dev/full", "w") as full:
        exit_code, _, err = desk.audit_apart(code, "--out", "report", stdout=full)
    assert exit_code == 1
    assert err.splitlines()[-1].startswith("planloom: the output cannot be written: No space left on device; send it")
    assert desk.written() == FILES


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_closed_stream_ends_no_audit(code: Path, desk: Desk, stream: int) -> None:
    exit_code, out, err = desk.audit_apart(code, preexec_fn=lambda: os.close(stream))
    assert exit_code == 0, out + err


def test_a_terminal_without_the_letters_of_a_path_shows_their_codes(tmp_path: Path, desk: Desk) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "größe.py").write_text("def f(a, b):\n    return a\n\n\ndef g(a, b):\n    return f(b, a)\n")
    exit_code, out, err = desk.audit_apart(folder, env={"PYTHONIOENCODING": "ascii"})
    assert exit_code == 0, err
    assert "gr\\xf6\\xdfe.py:6" in out


def test_a_terminal_of_no_width_still_gets_the_findings(code: Path, desk: Desk) -> None:
    assert "4 of them read" in desk.audit_apart(code, env={"COLUMNS": "0"})[1]


def test_a_folder_whose_name_is_no_utf_8_is_audited(tmp_path: Path, desk: Desk) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xff"))
    folder.mkdir()
    (folder / "one.py").write_text("x = 1\n")
    exit_code, out, err = desk.audit_apart(folder)
    assert exit_code == 0, err
    assert "1 of them read" in out


def test_code_that_cannot_be_read_leaves_a_hole_and_is_named(code: Path, desk: Desk) -> None:
    (code / "latin.py").write_bytes(b"x = '\xe9'\n")
    exit_code, out, _ = desk.audit(code)
    assert exit_code == 3
    assert "Not examined, though it should have been: latin.py (not decodable as utf-8: byte 0xe9 in line 1)." in out


def test_an_empty_file_is_no_hole(code: Path, desk: Desk) -> None:
    (code / "__init__.py").touch()
    exit_code, out, _ = desk.audit(code)
    assert exit_code == 0
    assert "No finding in 5 files, 4 of them read, 1 empty." in out


def test_links_and_notebooks_are_left_out_without_a_hole(code: Path, desk: Desk) -> None:
    (code / "link.py").symlink_to("shop/prices.py")
    (code / "cells.ipynb").write_text("{}")
    exit_code, out, _ = desk.audit(code)
    assert exit_code == 0
    assert "2 not read" in out


def test_a_plan_that_gives_back_something_else_is_told(code: Path, desk: Desk) -> None:
    (desk.folder / "odd.plan").write_text('result = {"bugs": 3}\n')
    exit_code, out, err = desk.audit(code, "--plan", "odd.plan")
    assert exit_code == 3, err
    assert 'Note: the plan gave back no list of findings but {"bugs": 3}.' in out


def test_a_finding_that_nobody_doubted_says_so(code: Path, desk: Desk) -> None:
    (desk.folder / "bare.plan").write_text('result = [{"file": "tools/fine.py", "line": 1, "claim": "so"}]\n')
    assert "tools/fine.py:1  one  no skeptic was asked" in desk.audit(code, "--plan", "bare.plan")[1]


def test_items_that_are_no_findings_are_told(code: Path, desk: Desk) -> None:
    (desk.folder / "odd.plan").write_text('result = [{"file": "tools/fine.py", "line": 9, "claim": "so"}, 7]\n')
    _, out, _ = desk.audit(code, "--plan", "odd.plan")
    assert "2 items of the plan's result cannot be shown as findings: line 9 is beyond the 2 lines" in out


@pytest.mark.parametrize("second", ["parallel([lambda: scan(['tools/dates.py'])])", "[scan(['tools/dates.py'])]"])
def test_a_file_that_changes_under_the_audit_is_named(code: Path, desk: Desk, model: Any, second: str) -> None:
    (desk.folder / "two.plan").write_text(f"first = scan(['shop/prices.py'])\nresult = flatten([first] + {second})\n")

    def answer(request: Received) -> Served:
        (code / "tools" / "dates.py").write_text("def is_leap(year):\n    return True\n")
        served: Served = model(request)
        return served

    with serving(answer) as server:
        desk.configure(server.url)
        exit_code, out, err = desk.audit(code, "--plan", "two.plan")
    assert exit_code == 3, err
    assert "1 question could not be asked: tools/dates.py has changed since the run began. Start the run again" in out
    assert "shop/prices.py:2" in out


def test_a_file_of_the_report_that_cannot_be_written_is_named_after_the_findings(code: Path, desk: Desk) -> None:
    (desk.folder / "report" / "report.md").mkdir(parents=True)
    exit_code, out, err = desk.audit(code, "--out", "report")
    assert exit_code == 2
    assert "4 of them read" in out
    assert "cannot write report/report.md: Is a directory; run the same command with another --out" in err
    assert desk.written() == FILES


def test_a_lead_that_cannot_be_asked_is_told_with_what_to_do(code: Path, desk: Desk) -> None:
    with serving(
        json_answer({"error": {"message": "too many"}}, status=429, headers={"retry-after": "3600"})
    ) as server:
        desk.configure(server.url)
        exit_code, _, err = desk.audit(code)
    assert exit_code == 1
    assert "planloom: the lead wrote no plan: " in err
    assert "a saved plan with --plan fixed" in err


def test_a_terminal_that_is_closed_cancels_the_run_and_keeps_what_came(code: Path, desk: Desk, model: Any) -> None:
    with serving(lambda request: model(request).after(1)) as server:
        desk.configure(server.url)
        process = desk.start(code, "--plan", "fixed")
        deadline = time.monotonic() + 30
        while not server.in_flight and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"cancelled | 3 workers, 3 asked" in err


FAULTS = [
    ([""], 2, "it is empty; name a folder or a .py file"),
    (["CODE", "--cap", "1e300"], 2, "`1e300` is too large; write at most 1,000,000,000 credits"),
    (["CODE", "--job", os.fsdecode(b"\xff")], 2, "--job holds bytes that are not UTF-8"),
    (["CODE", "--include", "nothing/*"], 7, "is left by the patterns `nothing/*`; change --include and --exclude"),
]


@pytest.mark.parametrize(("arguments", "exit_code", "text"), FAULTS)
def test_a_wrong_word_is_one_sentence(code: Path, desk: Desk, arguments: list[str], exit_code: int, text: str) -> None:
    given_code, out, err = desk.audit(*[str(code) if word == "CODE" else word for word in arguments])
    assert (given_code, out, len(err.splitlines())) == (exit_code, "", 1), err
    assert text in err


def test_a_lens_that_is_no_name_is_told(code: Path, desk: Desk) -> None:
    (desk.folder / "planloom.toml").write_text("[kits.audit]\nlenses = [[1]]\n")
    exit_code, _, err = desk.audit(code)
    assert exit_code == 2
    assert "kits.audit.lenses names no lens: `[1]`" in err


# --- whose configuration it is


def elsewhere(source: Path) -> Settings:
    role = RoleSettings(name="worker", endpoint="main", model="m", price=Price(), parameters={})
    endpoint = Endpoint(name="main", client="openai", url="https://example.org/v1")
    return Settings(source=source, endpoints={"main": endpoint}, roles={"worker": role})


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a configuration at its top and code in ``src``."""
    (tmp_path / "checkout" / "src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "checkout"


def test_a_configuration_at_the_top_of_the_checkout_needs_trust(checkout: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"may have come with the code .*--trust-config"):
        require_trust(elsewhere(checkout / "planloom.toml"), checkout / "src", given=False, ask=None)


def test_a_configuration_that_a_person_named_outside_the_code_needs_none(checkout: Path, tmp_path: Path) -> None:
    require_trust(elsewhere(tmp_path / "planloom.toml"), checkout / "src", given=False, ask=None)


def ask_times(checkout: Path) -> int:
    asked: list[str] = []

    def yes(question: str) -> bool:
        asked.append(question)
        return True

    for _ in range(2):
        require_trust(elsewhere(checkout / "planloom.toml"), checkout, given=False, ask=yes)
    return len(asked)


def test_a_person_is_asked_once(checkout: Path) -> None:
    assert ask_times(checkout) == 1


def unwritable_state(folder: Path) -> None:
    folder.write_text("a file where the folder should be")


def garbage_state(folder: Path) -> None:
    (folder / "planloom").mkdir(parents=True)
    (folder / "planloom" / "trusted.json").write_text("3")


@pytest.mark.parametrize(("spoil", "times"), [(unwritable_state, 2), (garbage_state, 1)])
def test_a_spoilt_memory_of_trust_only_asks_again(
    checkout: Path, tmp_path: Path, spoil: Callable[[Path], None], times: int
) -> None:
    spoil(tmp_path / "state")
    assert ask_times(checkout) == times


# --- replies


def run(bench: Any, source: str) -> Any:
    return asyncio.run(bench.run(source))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NUMBERS = st.sampled_from(["²", "1" * 5000, "1.5", "1e999", 1e308, 10**400, True, -1]) | JSON


@given(st.lists(st.fixed_dictionaries({"report": NUMBERS, "real": JSON}) | JSON, max_size=6))
def test_any_verdicts_are_read_or_left_out(items: list[Any]) -> None:
    for number, (real, reason) in _verdicts_by_number(items).items():
        assert type(number) is int
        assert type(real) is bool
        assert len(reason) <= 200


@pytest.mark.parametrize(("number", "meant"), [("2", {2}), (2.0, {2}), ("2.0", {2}), (1.5, set()), ("²", set())])
def test_a_verdict_is_about_a_whole_number(number: Any, meant: set[int]) -> None:
    assert set(_verdicts_by_number([{"report": number, "real": True}])) == meant


def test_a_worker_that_reports_without_end_is_cut_and_told(bench: Any, model: Any) -> None:
    claims = [{"file": "shop/prices.py", "line": 2, "claim": f"claim {n}"} for n in range(3_000)]
    model.overrides.append(("### shop/prices.py", completion(json.dumps({"findings": claims}))))
    outcome = run(bench, "found = scan(work())\nresult = [len(found), found[-1]['claim']]\n")
    assert outcome.result == [500, "claim 499"], outcome.error
    assert outcome.states["audit"].set_aside == [
        "scan:general:shop#0: 3,000 findings in one reply; those after 500 are left out"
    ]


def test_votes_stay_with_their_finding_when_another_item_is_none(bench: Any) -> None:
    outcome = run(
        bench,
        "found = dedupe(scan(work()))\n"
        "rows = [{'file': 'nowhere.py', 'votes': 9}] + [f | {'votes': n} for n, f in enumerate(found)]\n"
        "result = [[b['file'], b['votes']] for b in report(rows)['bugs']]\n",
    )
    assert outcome.result == [["shop/prices.py", 0], ["shop/stock.py", 1], ["tools/dates.py", 2]], outcome.error


def test_a_gateway_page_is_quoted_on_one_line(code: Path, desk: Desk) -> None:
    page = Served(body=b"<html>\n\n[bold]gone\x1b[2J</html>", status=404, headers={"content-type": "text/html"})
    with serving(page) as server:
        desk.configure(server.url)
        exit_code, _, err = desk.audit(code, "--plan", "fixed")
    assert exit_code in (2, 3), err
    assert "[bold]gone" in err
    assert "\x1b" not in err
