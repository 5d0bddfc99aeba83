"""The offline analyst and the tools beside it, on bugs planted in real libraries: ``make bench-offline``.

The rules were chosen on the development key. What counts are the held-out ones: other seeds, and libraries that
nobody looked at while writing rules. Every tool reads the planted copy and the same copy without the bugs, and is
scored as ``planloom score`` does. Keys are built when they are missing; the packages come from the package index.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs
from tests.bench.offline_peers import PEERS, Found
from tests.bench.offline_tables import page

import planloom_data
from planloom_bench import Bench, load_bench, read_report, score
from planloom_code import SourceTree
from planloom_offline import Rule, installed_rules
from planloom_offline._analysis import analyse

REPOSITORY = Path(__file__).parents[2]
WORK = REPOSITORY / "build" / "bench-offline"
RESULTS = REPOSITORY / "docs" / "reference" / "benchmarks-offline.json"
PLANLOOM = (sys.executable, "-m", "planloom")
SHARD_TOKENS = 100_000
"""As the fixed plan packs them."""


@attrs.frozen(kw_only=True)
class Planted:
    """A key: bugs planted in a package, or those of the shelf, which ships, where no package is named.

    :ivar held_out: nobody chose rules by it.
    """

    name: str
    package: str = ""
    seed: int = 0
    bugs: int = 72
    per_file: int = 1
    held_out: bool = True

    @property
    def folder(self) -> Path:
        """The benchmark's folder."""
        return WORK / "keys" / self.name if self.package else planloom_data.shelf_benchmark()

    @property
    def clean(self) -> Path:
        """The same copy without the bugs, whatever the seed."""
        return WORK / "clean" / (self.package or self.name)


KEYS = (
    Planted(name="python-stdnum, seed 7", package="python-stdnum==2.2", seed=7, held_out=False),
    Planted(name="python-stdnum, seed 101", package="python-stdnum==2.2", seed=101),
    Planted(name="python-stdnum, seed 102", package="python-stdnum==2.2", seed=102),
    Planted(name="networkx, seed 103", package="networkx==3.6.1", seed=103),
    Planted(name="the shelf of planloom", held_out=False),
    Planted(name="boltons, seed 104", package="boltons==26.2.0", seed=104, bugs=18, per_file=3),
    Planted(name="toolz, seed 104", package="toolz==1.2.0", seed=104, bugs=18, per_file=6),
    Planted(name="more-itertools, seed 104", package="more-itertools==11.2.1", seed=104, bugs=18, per_file=9),
    Planted(name="pydash, seed 104", package="pydash==8.1.0", seed=104, bugs=18, per_file=6),
)


def build(key: Planted) -> None:
    """Plant a key's bugs, and write the copy without them, where either is missing."""
    if not (key.folder / "hidden").is_dir():
        options = (f"--bugs={key.bugs}", f"--seed={key.seed}", f"--per-file={key.per_file}", "--at-most")
        _run(*PLANLOOM, "bench", "build", f"pypi:{key.package}", "--out", str(key.folder), *options)
    if not key.clean.is_dir():
        key.clean.parent.mkdir(parents=True, exist_ok=True)
        _run(*PLANLOOM, "bench", "clean", str(key.folder), "--out", str(key.clean))


def _run(*command: str, folder: Path = WORK) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def audited(*options: str) -> Callable[[Path], Found]:
    """Return what audits a folder as people do: the whole pipeline, skeptics included."""

    def audit(folder: Path) -> Found:
        with tempfile.TemporaryDirectory(prefix="planloom-bench-") as scratch:
            _run(*PLANLOOM, "audit", str(folder), "--out", "report", *options, folder=Path(scratch))
            told = json.loads((Path(scratch) / "report" / "findings.json").read_text(encoding="utf-8"))
        return list(told["findings"])

    return audit


def rules_alone(folder: Path) -> Found:
    """Return what the tight rules report without a type checker."""
    return found_by([rule for rule in installed_rules() if not rule.wide and rule.slow is None], folder)


def found_by(rules: Iterable[Rule], folder: Path) -> Found:
    """Return every finding of some rules in a folder, packed as the fixed plan packs it."""
    tree, chosen = SourceTree.open(folder), tuple(rules)
    found = [analyse(tree.render(shard.names), chosen) for shard in tree.shards(SHARD_TOKENS)]
    return [attrs.asdict(finding) for each in found for finding in each]


OURS: dict[str, Callable[[Path], Found]] = {
    "planloom, tight rules alone": rules_alone,
    "planloom audit": audited(),
    "planloom audit --wide": audited("--wide"),
}


def measure(key: Planted, name: str, tool: Callable[[Path], Found], *, kept: bool) -> dict[str, Any]:
    """Return a tool's score on a key, with the seconds it took.

    :param kept: take what the tool said last time, where it has been asked.
    """
    name = name.replace(" ", "-")
    planted, clean = (WORK / "found" / folder / f"{name}.json" for folder in (key.name, f"{key.clean.name} clean"))
    for path, folder in ((planted, key.folder / "audited"), (clean, key.clean)):
        if not (kept and path.exists()):
            began = time.perf_counter()
            findings = tool(folder)
            path.parent.mkdir(parents=True, exist_ok=True)
            told = {"seconds": time.perf_counter() - began, "findings": findings}
            path.write_text(json.dumps(told), encoding="utf-8")
    told, anyway = (json.loads(path.read_text(encoding="utf-8")) for path in (planted, clean))
    return {**scored(load_bench(key.folder), told["findings"], anyway["findings"]), "seconds": told["seconds"]}


def scored(bench: Bench, planted: Found, clean: Found) -> dict[str, Any]:
    """Return what ``planloom score`` makes of two reports, cut down to the numbers of a table."""
    told = score(read_report(planted, bench.names), bench, clean=read_report(clean, bench.names))
    return {
        "findings": told.reported,
        "bugs": told.tally.bugs,
        "found": told.tally.found,
        "wrong": len(told.tally.wrong),
        "strict": told.strict.found,
        "caused": told.caused,
        "chance_recall": told.chance.recall,
        "chance_precision": told.chance.precision,
    }


def of_rules(key: Planted) -> dict[str, dict[str, Any]]:
    """Return each rule's own score on a key, every rule asked alone."""
    bench, planted, clean = load_bench(key.folder), _by_rule(key.folder / "audited"), _by_rule(key.clean)
    return {rule.name: scored(bench, planted[rule.name], clean[rule.name]) for rule in installed_rules()}


def _by_rule(folder: Path) -> Mapping[str, Found]:
    found: dict[str, Found] = defaultdict(list)
    for finding in found_by(installed_rules(), folder):
        found[finding["rule"]].append(finding)
    return found


def large() -> dict[str, Any]:
    """Return what an audit of a library of some 1,400 files costs: copies of python-stdnum."""
    with tempfile.TemporaryDirectory(prefix="planloom-bench-") as scratch:
        for name in ("one", "two", "three", "four"):
            shutil.copytree(KEYS[0].clean, Path(scratch) / "library" / name)
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        _run(*PLANLOOM, "audit", "library", folder=Path(scratch))
        seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        tree = SourceTree.open(Path(scratch) / "library")
    return {
        "files": len(tree.files),
        "lines": tree.lines,
        "seconds": seconds,
        "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_mb": after.ru_maxrss // 1024,  # of the largest child so far
    }


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    tools = {name: version(name) for name in ("ruff", "pylint", "mypy", "pyright")}
    return {
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        **tools,
    }


def rounded(value: Any) -> Any:
    """Return plain values with their fractions cut to five digits."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    return round(value, 5) if isinstance(value, float) else value


def main(*given: str) -> None:
    """Measure every key, or those whose names hold one of the given texts; write the page when all were.

    What a tool said before is taken again, and ``--again`` asks planloom anew.
    """
    again, names = "--again" in given, [name for name in given if name != "--again"]
    chosen = [key for key in KEYS if not names or any(name in key.name for name in names)]
    results: dict[str, Any] = {"machine": machine(), "keys": {}}
    WORK.mkdir(parents=True, exist_ok=True)
    build(KEYS[0])
    results["large"] = large()
    for key in chosen:
        build(key)
        tools = {name: measure(key, name, tool, kept=not again) for name, tool in OURS.items()}
        tools |= {name: measure(key, name, tool, kept=True) for name, tool in PEERS.items()}
        results["keys"][key.name] = {"held_out": key.held_out, "tools": tools, "rules": of_rules(key)}
        print(json.dumps({key.name: results["keys"][key.name]}, indent=1), flush=True)
    if not names:
        RESULTS.write_text(json.dumps(rounded(results), indent=1) + "\n", encoding="utf-8")
        RESULTS.with_suffix(".md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
