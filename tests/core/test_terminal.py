"""What a person sees in a terminal, and what a file or a pipe gets instead."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import pytest
from rich.text import Text

from planloom._phases import Phases
from planloom.cli._console import ForeignConsole
from planloom.control import RunControl
from planloom.stores import Event
from planloom.terminal import EventLines, Progress, event_text

SENTENCE = "the loop leaves out the last element " * 6

ONE_SCAN: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("run.agent_started", {"phase": "Scan"}),
    ("run.agent_ended", {"phase": "Scan", "ok": True, "credits": 0.2}),
    ("run.phase_ended", {"phase": "Scan", "seconds": 1.5}),
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def test_a_terminal_gets_lines_that_break_between_words(terminal: Terminal) -> None:
    ForeignConsole(terminal, forgiven=OSError).print(Text(SENTENCE))
    lines = terminal.getvalue().splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 40
    assert " ".join(lines).split() == SENTENCE.split()


def test_a_pipe_gets_every_line_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    pipe = io.StringIO()
    ForeignConsole(pipe, forgiven=OSError).print(Text(SENTENCE))
    assert pipe.getvalue() == SENTENCE + "\n"


def scanned(**counts: int) -> RunControl:
    """Return a hand on a run whose phase Scan has these counts."""
    control = RunControl()
    control.phases = Phases()
    phase, _ = control.phases.open("Scan", 0.0)
    for name, count in counts.items():
        setattr(phase, name, count)
    return control


def test_a_worker_that_lost_a_race_is_no_hole(terminal: Terminal) -> None:
    lost = ("run.agent_ended", {"phase": "Scan", "ok": None, "credits": 0.0})
    events = (ONE_SCAN[0], *ONE_SCAN[:2], lost, ONE_SCAN[2])
    control = scanned(started=2, done=1, cancelled=1)
    with Progress(ForeignConsole(terminal, forgiven=OSError), control) as progress:
        for seq, (kind, data) in enumerate(events, start=1):
            progress.listener.on_event("run", Event(seq=seq, t=0.0, type=kind, data=data))
    said = " ".join(terminal.getvalue().split())
    assert "Scan: 1 of 2 done, 1 cancelled, 1.5 s" in said
    assert "HOLES" not in said


def test_workers_that_never_had_their_turn_are_not_left_out_of_the_line_of_their_phase(terminal: Terminal) -> None:
    control = scanned(started=3, done=2, cancelled=1, unstarted=7)
    with Progress(ForeignConsole(terminal, forgiven=OSError), control) as progress:
        progress.listener.on_event("run", Event(seq=1, t=0.0, type=ONE_SCAN[2][0], data=ONE_SCAN[2][1]))
    assert "Scan: 2 of 10 done, 1 cancelled, 7 not started, 1.5 s" in " ".join(terminal.getvalue().split())


def test_workers_of_an_earlier_start_are_shown_though_no_event_tells_of_them(terminal: Terminal) -> None:
    with Progress(ForeignConsole(terminal, forgiven=OSError), scanned(started=9, running=1, done=8)) as progress:
        shown = io.StringIO()
        ForeignConsole(shown, forgiven=OSError).print(progress._render())
    assert shown.getvalue().split() == ["Scan", "1", "running", "8", "done", "0.0", "credits"]


def test_what_is_paid_so_far_is_shown_to_the_hundredth(terminal: Terminal) -> None:
    with Progress(ForeignConsole(terminal, forgiven=OSError), scanned(started=2, running=1, done=1)) as progress:
        ended = {"phase": "Scan", "ok": True, "credits": 0.05}
        for seq in range(1, 6):
            progress.listener.on_event("run", Event(seq=seq, t=0.0, type="run.agent_ended", data=ended))
        shown = io.StringIO()
        ForeignConsole(shown, forgiven=OSError).print(progress._render())
    assert shown.getvalue().split()[-2:] == ["0.25", "credits"]


def test_a_failed_worker_of_a_phase_is_a_hole(terminal: Terminal) -> None:
    with Progress(ForeignConsole(terminal, forgiven=OSError), scanned(started=3, done=2, failed=1)) as progress:
        progress.listener.on_event("run", Event(seq=1, t=0.0, type=ONE_SCAN[2][0], data=ONE_SCAN[2][1]))
    assert "Scan: 2 of 3 done, HOLES 1, 1.5 s" in terminal.getvalue()


def test_a_phase_without_workers_is_not_counted_as_none_of_none(terminal: Terminal) -> None:
    ended = Event(seq=1, t=0.0, type="run.phase_ended", data={"phase": "Verify", "agents": 0, "seconds": 0.0})
    control = RunControl()
    control.phases = Phases()
    control.phases.open("Verify", 0.0)
    with Progress(ForeignConsole(terminal, forgiven=OSError), control) as progress:
        progress.listener.on_event("run", ended)
    assert "Verify: no worker, 0.0 s" in terminal.getvalue()
    assert event_text(ended) == "Verify: no worker, 0.0 s"


@pytest.mark.parametrize(
    ("label", "said"),
    [("scan 3", "dropped scan 3: the limit is 1,000 workers"), ("", "dropped a worker: the limit is 1,000 workers")],
)
def test_a_dropped_worker_is_told_by_its_label_where_it_has_one(label: str, said: str) -> None:
    assert event_text(Event(seq=1, t=0.0, type="run.dropped", data={"label": label, "limit": 1_000})) == said


def test_of_many_dropped_workers_a_few_are_told_and_then_that_there_are_more() -> None:
    lines = EventLines()
    dropped = [
        Event(seq=n, t=0.0, type="run.dropped", data={"label": f"scan {n}", "limit": 1_000}) for n in range(1, 600)
    ]
    told = [line for line in map(lines.line, dropped) if line]
    assert told[0] == "dropped scan 1: the limit is 1,000 workers"
    assert told[3:] == ["more workers are dropped, and counted"]


@pytest.mark.parametrize(
    ("open_", "said"),
    [
        (True, "paused at the account behind main: no credit"),
        (False, "goes on: the account behind main answers again"),
    ],
)
def test_an_account_that_answers_again_is_told_as_the_end_of_a_pause(open_: bool, said: str) -> None:
    data = {"endpoint": "main", "until": None, "reason": "no credit", "open": open_}
    assert event_text(Event(seq=1, t=0.0, type="run.breaker", data=data)) == said


def test_who_follows_a_run_is_told_what_a_phase_came_to() -> None:
    counts = {"done": 5, "failed": 1, "cancelled": 1, "unstarted": 2, "dropped": 3, "undecided": 0, "holes": 4}
    data = {"phase": "Scan", "agents": 7, **counts, "seconds": 1.5, "idle_seconds": 0.0}
    ended = Event(seq=1, t=0.0, type="run.phase_ended", data=data)
    assert event_text(ended) == "Scan: 5 of 12 done, 1 cancelled, 2 not started, HOLES 4, 1.5 s"


def test_a_phase_whose_workers_were_dropped_says_so_when_it_ends(terminal: Terminal) -> None:
    control = scanned(started=1, done=1)
    assert control.phases is not None
    (phase,) = control.phases.all()
    phase.dropped = 4
    ended = Event(seq=1, t=0.0, type="run.phase_ended", data={"phase": "Scan", "agents": 1, "seconds": 1.5})
    with Progress(ForeignConsole(terminal, forgiven=OSError), control) as progress:
        progress.listener.on_event("run", ended)
    assert "Scan: 1 of 5 done, HOLES 4, 1.5 s" in terminal.getvalue()


def test_a_phase_that_ended_stays_on_the_terminal(terminal: Terminal) -> None:
    with Progress(ForeignConsole(terminal, forgiven=OSError), scanned(started=1, done=1)) as progress:
        for seq, (kind, data) in enumerate(ONE_SCAN, start=1):
            progress.listener.on_event("run", Event(seq=seq, t=0.0, type=kind, data=data))
    assert "Scan: 1 of 1 done, 1.5 s" in terminal.getvalue()
