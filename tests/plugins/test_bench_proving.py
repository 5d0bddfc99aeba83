"""Proofs count examples and survive whatever a library does; nothing is left running and nothing is changed."""

import hashlib
import os
import py_compile
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from planloom_bench.proving import ForkingProver, FreshProver, Job, Outcome, find_import_root, flags_of, namings
from planloom_bench.proving.inside import server

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="held by the Linux kernel alone")

GOOD = '''
def double(a):
    """
    >>> double(1)
    2
    >>> double(2)
    4
    """
    return a + a
'''


@pytest.fixture(scope="module")
def prover() -> Iterator[ForkingProver]:
    with ForkingProver() as prover:
        yield prover


@pytest.fixture
def library(tmp_path: Path) -> Path:
    root = tmp_path / "library"
    root.mkdir()
    (root / "neighbour.py").write_text("VALUE = 7\n")
    return root


def job(root: Path, text: str, path: str = "module.py", on_disk: str | None = None, limit_s: float = 1.0) -> Job:
    """A proof of ``text`` in a file that holds it, or something else."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text if on_disk is None else on_disk)
    naming = namings(file, find_import_root(root))[0]
    return Job(str(file), text, naming.module, naming.first, naming.last, (f"{root}/",), 0, limit_s)


def example(*lines: str) -> str:
    """A module whose one example runs some lines, then a second one that passes."""
    shown = "\n".join(f"{'>>>' if not line.startswith(' ') else '...'} {line}" for line in lines)
    return f'"""\n{shown}\n>>> 1\n1\n"""\n'


def counts(outcome: Outcome) -> tuple[str, int, int]:
    return outcome.fate, outcome.failed, outcome.total


def processes_of(prover: ForkingProver) -> int:
    """How many processes have the prover's folder in their command line: the server and what it forked."""
    process = prover._process
    assert process is not None
    return sum(process._scratch in line for line in command_lines())


def command_lines() -> Iterator[str]:
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield entry.read_text(errors="replace")


HOSTILE = [
    ("import os; os._exit(3)", "ended"),
    ("import os; os.abort()", "killed"),
    ("import signal; signal.raise_signal(signal.SIGKILL)", "killed"),
    ("import signal, time; signal.alarm(1); time.sleep(30)", "killed"),
    ("while True: pass", "timed out"),
    ("import os; os.closerange(0, 4096); os._exit(0)", "ended"),
    ("import ctypes; ctypes.string_at(0)", "killed"),
    ("raise KeyboardInterrupt", "not run"),
]


def test_examples_are_counted(prover: ForkingProver, library: Path) -> None:
    assert counts(prover.prove(job(library, GOOD))) == ("ran", 0, 2)


def test_the_text_counts_and_not_the_file(prover: ForkingProver, library: Path) -> None:
    assert counts(prover.prove(job(library, GOOD.replace("a + a", "a + 1"), on_disk=GOOD))) == ("ran", 1, 2)


@pytest.mark.parametrize(("line", "fate"), HOSTILE)
def test_code_that_ends_its_process_has_a_named_fate(
    prover: ForkingProver, library: Path, line: str, fate: str
) -> None:
    assert prover.prove(job(library, example(line))).fate == fate


@pytest.mark.slow
@pytest.mark.parametrize(("line", "fate"), HOSTILE)
def test_a_fresh_interpreter_gives_the_same_fate(library: Path, line: str, fate: str) -> None:
    outcome = FreshProver().prove(job(library, example(line)))
    assert outcome.fate == fate


def test_a_proof_that_fills_the_disk_is_ended_and_what_it_wrote_is_removed(
    prover: ForkingProver, library: Path
) -> None:
    line = "for n in range(10**5): _ = open(str(n), 'wb').write(bytes(10**7))"
    assert prover.prove(job(library, example(line))).fate == "flooded"
    assert prover._process is not None
    assert not (Path(prover._process._scratch) / "proof").exists()


@pytest.mark.parametrize(("size_bytes", "flooding"), [(0, False), (9, True)])
def test_a_folder_is_flooded_by_bytes_or_by_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size_bytes: int, flooding: bool
) -> None:
    monkeypatch.setattr(server, "MOST_FILES", 3)
    monkeypatch.setattr(server, "MOST_BYTES", 20)
    (tmp_path / "below").mkdir()
    for number in range(3):
        (tmp_path / "below" / str(number)).write_bytes(bytes(size_bytes))
    assert server._is_flooding(str(tmp_path)) is flooding
    (tmp_path / "one more").touch()
    assert server._is_flooding(str(tmp_path))


@pytest.mark.parametrize("text", ["import sys; sys.exit(1)", "raise ValueError", "import no_such_module", "1 +"])
def test_a_module_that_cannot_be_imported_says_so(prover: ForkingProver, library: Path, text: str) -> None:
    assert prover.prove(job(library, text)).fate in ("no import", "missing module")


def test_a_missing_package_is_named(prover: ForkingProver, library: Path) -> None:
    outcome = prover.prove(job(library, "import no_such_module"))
    assert (outcome.fate, outcome.detail) == ("missing module", "no_such_module")


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("import socket; _ = socket.socket()", "the network"),
        ("import urllib.request; _ = urllib.request.urlopen('http://localhost')", "the network"),
        ("_ = input()", "a person's input"),
        ("import os; _ = os.fork()", "other processes"),
        ("import subprocess; _ = subprocess.run(['true'])", "other processes"),
        ("import os; _ = os.system('true')", "other processes"),
        ("import os; os.kill(os.getppid(), 9)", "other processes"),
        ("import os; os.killpg(0, 9)", "other processes"),
        ("import multiprocessing; multiprocessing.Process(target=print).start()", "other processes"),
    ],
)
def test_what_a_proof_may_not_use_fails_the_example_and_is_named(
    prover: ForkingProver, library: Path, line: str, refused: str
) -> None:
    outcome = prover.prove(job(library, example(line)))
    assert (*counts(outcome), outcome.refused) == ("ran", 1, 2, (refused,))


@pytest.mark.parametrize(
    "line",
    [
        "open({path!r}, 'w').close()",
        "import os; os.remove({path!r})",
        "import os; os.rename({path!r}, 'here')",
        "import os; os.chmod({path!r}, 0)",
        "import os; os.truncate({path!r}, 0)",
        "import os; _ = os.open({path!r}, os.O_WRONLY | os.O_TRUNC)",
        "import os; os.symlink({path!r}, 'link'); open('link', 'w').close()",
        "import shutil; shutil.rmtree({folder!r})",
        "import pathlib; pathlib.Path({folder!r}, 'new').mkdir()",
    ],
)
def test_files_outside_of_its_folder_stay_as_they_are(prover: ForkingProver, library: Path, line: str) -> None:
    victim = library / "neighbour.py"
    before = (victim.read_bytes(), victim.stat().st_mode, sorted(os.listdir(library)))
    code = line.format(path=str(victim), folder=str(library))
    outcome = prover.prove(job(library, example(code), path="module.py"))
    assert (*counts(outcome), outcome.refused) == ("ran", 1, 2, ("files outside its own folder",))
    assert (victim.read_bytes(), victim.stat().st_mode, sorted({*os.listdir(library)} - {"module.py"})) == before


@pytest.mark.parametrize(
    "line",
    [
        "open('mine', 'w').close()",
        "import tempfile; _ = tempfile.mkdtemp(); tempfile.TemporaryDirectory().cleanup()",
        "import pathlib; _ = pathlib.Path.home().joinpath('x').write_text('x')",
        "import os; os.mkdir('d'); open('d/f', 'w').close(); import shutil; shutil.rmtree('d')",
        "import asyncio; asyncio.run(asyncio.sleep(0))",
        "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()",
        "import atexit, time; _ = atexit.register(time.sleep, 60)",
        "print('x' * 10_000_000) # doctest: +SKIP",
        "import sys; _ = sys.stderr.write('x' * 1_000_000)",
        "import os; os.mkdir('closed'); os.chmod('closed', 0)",
    ],
)
def test_what_stays_within_the_process_and_its_folder_is_free(prover: ForkingProver, library: Path, line: str) -> None:
    outcome = prover.prove(job(library, example(line)))
    assert (outcome.fate, outcome.failed, outcome.refused) == ("ran", 0, ())


@pytest.mark.parametrize(
    "line",
    ["_ = bytearray(1 << 40)", "print('x' * (1 << 32))", "open('x', 'wb').write(b'x' * (1 << 26))"],
)
def test_memory_output_and_files_have_limits(prover: ForkingProver, library: Path, line: str) -> None:
    assert counts(prover.prove(job(library, example(line), limit_s=5))) == ("ran", 1, 2)


def test_leaving_by_exit_in_an_example_is_an_example_that_fails(prover: ForkingProver, library: Path) -> None:
    assert counts(prover.prove(job(library, example("import sys; sys.exit()")))) == ("ran", 1, 2)


@linux
@pytest.mark.parametrize(
    "lines",
    [
        ("import threading, time", "threading.Thread(target=time.sleep, args=(60,)).start()"),
        ("import ctypes", "for _ in range(20):", "    if ctypes.CDLL(None).fork() == 0: import time; time.sleep(60)"),
        ("import ctypes", "c = ctypes.CDLL(None)", "if c.fork() == 0: _ = c.setsid(); c.sleep(60)"),
    ],
)
def test_nothing_is_left_running(prover: ForkingProver, library: Path, lines: tuple[str, ...]) -> None:
    prover.prove(job(library, example(*lines)))
    assert processes_of(prover) == 1


@linux
def test_code_beside_python_cannot_write_run_programs_or_signal_either(prover: ForkingProver, library: Path) -> None:
    text = f'''
import ctypes, os
c = ctypes.CDLL(None)
def beside():
    """
    >>> c.open({str(library / "new").encode()!r}, 0o101, 0o600)
    -1
    >>> c.execl(b"/bin/true", b"true", None)
    -1
    >>> c.kill(os.getppid(), 0)
    -1
    """
'''
    outcome = prover.prove(job(library, text))
    assert not (library / "new").exists()
    if outcome.fate != "ran":
        pytest.skip("this kernel has no Landlock")
    assert counts(outcome)[:2] == ("ran", 0)


def test_the_library_is_not_changed_by_being_proved(prover: ForkingProver, library: Path) -> None:
    job(library, GOOD, path="package/__init__.py")
    proof = job(library, GOOD + "from . import more\n", path="package/inner.py")
    (library / "package" / "more.py").write_text("import neighbour\n")
    before = digest(library)
    prover.prove(proof)
    FreshProver().prove(proof)
    assert digest(library) == before


def digest(folder: Path) -> str:
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    return hashlib.sha256(b"\0".join(str(path).encode() + path.read_bytes() for path in names)).hexdigest()


@pytest.mark.parametrize("spell", [lambda p: p, lambda p: f"{p.parent}/./{p.name}", lambda p: f"{p.parent}//{p.name}"])
def test_an_edit_is_seen_however_the_path_is_spelled(
    prover: ForkingProver, library: Path, spell: Callable[[Path], str]
) -> None:
    proof = job(library, GOOD.replace("a + a", "a + 1"), on_disk=GOOD)
    assert prover.prove(proof._replace(path=str(spell(library / "module.py")))).failed == 1


def test_an_edit_is_seen_through_a_link(prover: ForkingProver, library: Path, tmp_path: Path) -> None:
    proof = job(library, GOOD.replace("a + a", "a + 1"), on_disk=GOOD)
    (tmp_path / "link").symlink_to(library)
    assert prover.prove(proof._replace(first=(str(tmp_path / "link"),))).failed == 1


def test_a_module_that_something_else_is_loaded_for_is_not_proved(prover: ForkingProver, library: Path) -> None:
    proof = job(library, GOOD)
    assert prover.prove(proof._replace(module="neighbour")).fate == "not loaded"


def test_compiled_files_in_the_library_are_not_read(prover: ForkingProver, library: Path) -> None:
    proof = job(library, example("from neighbour import VALUE", "assert VALUE == 7"))
    neighbour, stale = library / "neighbour.py", library / "stale.py"
    stale.write_text("VALUE = 8\n")
    os.utime(stale, (1, 1))
    os.utime(neighbour, (1, 1))
    compiled = library / "__pycache__" / f"neighbour.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(stale), cfile=str(compiled), doraise=True)
    assert counts(prover.prove(proof)) == ("ran", 0, 3)


def test_a_library_may_have_the_name_of_a_module_that_python_has_loaded(prover: ForkingProver, library: Path) -> None:
    assert counts(prover.prove(job(library, GOOD, path="fractions.py"))) == ("ran", 0, 2)


def test_a_package_that_the_host_uses_is_proved_from_its_folder(prover: ForkingProver, library: Path) -> None:
    assert counts(prover.prove(job(library, GOOD, path="attrs/__init__.py"))) == ("ran", 0, 2)


def test_no_secret_of_the_host_is_in_the_environment(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    with ForkingProver() as prover:
        outcome = prover.prove(job(library, example("import os; assert 'SOME_API_KEY' not in os.environ")))
    assert counts(outcome) == ("ran", 0, 2)


def test_chance_falls_the_same_way_in_every_interpreter(prover: ForkingProver, library: Path) -> None:
    proof = job(library, example("import random; (random.random(), hash('a'), list({'a', 'b', 'c'}))"))
    details = {prover.prove(proof).detail, FreshProver().prove(proof).detail}
    assert len(details) == 1
    assert "gave" in details.pop()


def test_a_server_that_is_lost_is_started_again(library: Path) -> None:
    with ForkingProver() as prover:
        prover.prove(job(library, GOOD))
        process = prover._process
        assert process is not None
        os.killpg(process._process.pid, 9)
        assert prover.prove(job(library, GOOD)).fate == "lost"
        assert counts(prover.prove(job(library, GOOD))) == ("ran", 0, 2)


@linux
def test_a_prover_that_is_closed_during_a_proof_ends_it_at_once(library: Path) -> None:
    prover = ForkingProver()
    proof = job(library, example("while True: pass"), limit_s=30)
    with ThreadPoolExecutor(1) as thread:
        under_way = thread.submit(prover.prove, proof)
        while prover._process is None or processes_of(prover) < 2:
            time.sleep(0.02)
        mark, began = prover._process._scratch, time.monotonic()
        prover.close()
        assert under_way.result().fate == "lost"
    while any(mark in line for line in command_lines()):
        time.sleep(0.02)
    assert time.monotonic() - began < 5


def test_a_busy_machine_does_not_make_a_proof_time_out(prover: ForkingProver, library: Path) -> None:
    proof = job(library, example("import time; time.sleep(1.2)"), limit_s=0.5)
    assert counts(prover.prove(proof)) == ("ran", 0, 2)


def test_a_proof_that_waits_for_ever_is_ended(prover: ForkingProver, library: Path) -> None:
    began = time.monotonic()
    proof = job(library, example("import threading; _ = threading.Event().wait()"), limit_s=0.2)
    assert prover.prove(proof).fate == "timed out"
    assert time.monotonic() - began < 5


def test_options_make_comparing_lenient(prover: ForkingProver, library: Path) -> None:
    proof = job(library, '"""\n>>> list(range(9))\n[0, ..., 8]\n"""\n')
    strict, lenient = prover.prove(proof), prover.prove(proof._replace(flags=flags_of(["ELLIPSIS"])))
    assert (strict.failed, lenient.failed) == (1, 0)


def test_stopping_at_the_first_failure_is_no_option(prover: ForkingProver, library: Path) -> None:
    proof = job(library, '"""\n>>> 1\n2\n>>> 1\n1\n"""\n')
    assert counts(prover.prove(proof._replace(flags=flags_of(["FAIL_FAST"])))) == ("ran", 1, 2)
