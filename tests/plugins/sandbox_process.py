"""Proofs on a system that refuses what the sandbox asks of it: ``python sandbox_process.py LAYERS LIBRARY``.

LAYERS is ``none`` or a list with commas of ``landlock``, ``namespaces`` and ``filters``. The refusals are a filter of
this process that every process below it inherits. Prints what the sandbox says that it lacks, how some proofs went, and
how many processes of proofs are left, the server among them.
"""

import json
import sys
from pathlib import Path

from planloom_bench.proving import ForkingProver, Job, namings, sandbox_lacks
from planloom_bench.proving.inside import calls

_INVALID, _NO_PERMISSION, _NO_SUCH_CALL = 0x00050016, 0x00050001, 0x00050026
_ALLOW = (0x06, 0, 0, 0x7FFF0000)


def refuse(layers: list[str]) -> None:
    """Make this system one without these layers (x86_64)."""
    steps = [(0x20, 0, 0, 0)]
    if "landlock" in layers:
        steps += [(0x15, 0, 1, 444), (0x06, 0, 0, _NO_SUCH_CALL)]
    if "namespaces" in layers:
        steps += [(0x15, 0, 1, 272), (0x06, 0, 0, _NO_PERMISSION)]
    if "filters" in layers:
        # prctl(PR_SET_SECCOMP)
        steps += [(0x15, 0, 3, 157), (0x20, 0, 0, 16), (0x15, 0, 1, 22), (0x06, 0, 0, _INVALID)]
    assert calls.install(b"".join(calls.packed(step) for step in [*steps, _ALLOW]))


def proved(prover: ForkingProver, library: Path, lines: str) -> list[object]:
    """The outcome of one proof, without its times."""
    path = library / "module.py"
    text = '"""\n' + "".join(f">>> {line}\n" for line in lines.split("\n")) + '"""\n'
    path.write_text(text)
    naming = namings(path, library)[0]
    outcome = prover.prove(
        Job(str(path), text, naming.module, naming.first, naming.last, (f"{library}/",), flags=0, limit_s=5.0)
    )
    return [outcome.fate, outcome.failed, outcome.total, *outcome.refused]


def processes_of(prover: ForkingProver) -> int:
    """How many processes have the prover's folder in their command line."""
    assert prover._process is not None
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    return sum(prover._process._scratch.encode() in line for line in lines)


def main() -> None:
    layers, library = sys.argv[1].split(","), Path(sys.argv[2])
    refuse(layers)
    beside = "import ctypes; c = ctypes.CDLL(None)\n"
    with ForkingProver() as prover:
        proofs = {
            "plain": proved(
                prover, library, "import threading; t = threading.Thread(target=list); t.start(); t.join()"
            ),
            "python writes": proved(prover, library, f"open({str(library / 'python')!r}, 'w')"),
            "beside writes": proved(
                prover, library, f"{beside}assert c.creat({bytes(library / 'beside')!r}, 0o600) < 0"
            ),
            "beside forks": proved(prover, library, f"{beside}p = c.fork()\nassert p < 0 or (p == 0 and c.sleep(60))"),
            "beside runs": proved(prover, library, f"{beside}assert c.execl(b'/bin/true', b'true', None) < 0"),
            "beside opens a socket": proved(prover, library, f"{beside}assert c.socket(2, 1, 0) < 0"),
        }
        left = processes_of(prover)
    print(json.dumps({"lacks": sandbox_lacks(), "proofs": proofs, "left": left}))


if __name__ == "__main__":
    main()
