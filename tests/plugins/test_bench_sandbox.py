"""The sandbox of proofs holds what it can on systems that lack a part of it, and says what is not held."""

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from planloom_bench.building.command import say_what_is_not_held
from planloom_bench.proving import Job, namings, sandbox_lacks
from planloom_bench.proving.inside import calls

PROCESS = Path(__file__).parent / "sandbox_process.py"
WRITING, PROCESSES, NETWORK = "writing outside its own folder", "other processes", "the network"
simulated = pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() != "x86_64" or sandbox_lacks() != (),
    reason="a system without a layer is simulated on one that has them all",
)


def proofs_without(layers: str, library: Path) -> dict[str, Any]:
    command = [sys.executable, str(PROCESS), layers, str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def failing(proofs: dict[str, list[object]]) -> set[str]:
    return {name for name, outcome in proofs.items() if outcome[:2] != ["ran", 0]} - {"python writes"}


@simulated
@pytest.mark.parametrize(
    ("layers", "lacks", "not_held"),
    [
        ("none", [], set()),
        ("namespaces", [], set()),
        ("landlock", [WRITING], {"beside writes"}),
        ("filters", [PROCESSES], {"beside forks", "beside opens a socket"}),
        ("filters,namespaces", [PROCESSES, NETWORK], {"beside forks", "beside opens a socket"}),
        (
            "landlock,filters,namespaces",
            [WRITING, PROCESSES, NETWORK],
            {"beside writes", "beside forks", "beside opens a socket", "beside runs"},
        ),
    ],
)
def test_what_a_system_does_not_hold_is_said_and_the_rest_is_held(
    tmp_path: Path, layers: str, lacks: Sequence[str], not_held: set[str]
) -> None:
    answer = proofs_without(layers, tmp_path)
    assert answer["lacks"] == list(lacks)
    assert failing(answer["proofs"]) == not_held
    # Python code is held everywhere, and nothing is left running.
    assert answer["proofs"]["python writes"] == ["ran", 1, 1, "files outside its own folder"]
    assert not (tmp_path / "python").exists()
    assert answer["left"] == 1


@simulated
def test_calls_beyond_the_filter_are_those_of_the_process_itself(tmp_path: Path) -> None:
    text = (
        "import os, signal, socket, threading\n"
        "from planloom_bench.proving.inside.calls import refuse_calls\n"
        "assert refuse_calls()\n"
        "thread = threading.Thread(target=list)\nthread.start()\nthread.join()\n"
        "socket.socketpair()\n"
        "signal.signal(signal.SIGUSR1, lambda *_: print('heard'))\nsignal.raise_signal(signal.SIGUSR1)\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["heard", "heard"]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_the_filter_lands_within_it(machine: str) -> None:
    mark, numbers = calls._TABLES[machine]
    steps = calls.program(mark, numbers | calls._COMMON, me=1)
    count = len(steps) // 8
    assert all(at + 1 + max(steps[at * 8 + 2 : at * 8 + 4]) < count for at in range(count - 1))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes where Linux shows them")
def test_a_host_that_is_killed_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    scratch, path = tmp_path / "scratch", tmp_path / "module.py"
    scratch.mkdir()
    text = '"""\n>>> import time; time.sleep(1)\n"""\n'
    path.write_text(text)
    naming = namings(path, tmp_path)[0]
    job = Job(str(path), text, naming.module, naming.first, naming.last, (f"{tmp_path}/",), flags=0, limit_s=5.0)
    code = (
        "import sys, json\nfrom planloom_bench.proving import ForkingProver\n"
        "from planloom_bench.proving.inside.jobs import job_from\n"
        "ForkingProver().prove(job_from(sys.stdin.buffer.readline()))\n"
    )
    host = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, env={**os.environ, "TMPDIR": str(scratch)}
    )
    assert host.stdin is not None
    host.stdin.write(json.dumps(job._asdict()).encode() + b"\n")
    host.stdin.flush()
    while not list(scratch.glob("*/proof")):
        time.sleep(0.01)
    host.send_signal(signal.SIGKILL)
    host.wait()
    host.stdin.close()
    until = time.monotonic() + 60
    while list(scratch.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert list(scratch.iterdir()) == []


def test_an_interpreter_that_cannot_be_started_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no python"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(FileNotFoundError):
        sandbox_lacks()
    assert list(tmp_path.iterdir()) == []


def test_a_build_says_nothing_of_the_sandbox_where_all_is_held(capsys: pytest.CaptureFixture[str]) -> None:
    say_what_is_not_held(())
    assert capsys.readouterr().err == ""
    say_what_is_not_held((WRITING, PROCESSES))
    assert capsys.readouterr().err == (
        "sandbox: this system holds only Python code from writing outside its own folder, other processes; code beside "
        "Python, as in extension modules, is not held from it\n"
    )
