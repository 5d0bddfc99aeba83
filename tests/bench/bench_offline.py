"""The offline analyst and the tools beside it, on bugs planted in real libraries: ``make bench-offline``.

The rules were chosen on the development key. What counts are the held-out ones: other seeds, and libraries that
nobody looked at while writing rules. Every tool reads the planted copy and the same copy without the bugs, and is
scored by ``planloom score``. Keys are built when they are missing; the packages come from the package index.
"""

from __future__ import annotations

import json
import os
import platform
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
from unittest.mock import patch

import attrs
from tests.bench.offline_peers import PEERS, Found
from tests.bench.offline_tables import page

from planloom_code import SourceTree
from planloom_offline import Rule, _checkers, _types, installed_rules
from planloom_offline._analysis import analyse

REPOSITORY = Path(__file__).parents[2]
WORK = REPOSITORY / "build" / "bench-offline"
RESULTS = REPOSITORY / "docs" / "reference" / "benchmarks-offline.json"
PLANLOOM = (sys.executable, "-m", "planloom")
SHARD_TOKENS = 100_000
"""As the fixed plan packs them."""


@attrs.frozen(kw_only=True)
class Planted:
    """A key to build: bugs planted in a package. ``held_out``: nobody chose rules by it."""

    name: str
    package: str
    seed: int
    bugs: int = 72
    per_file: int = 1
    held_out: bool = True

    @property
    def folder(self) -> Path:
        """The benchmark's folder."""
        return WORK / "keys" / self.name

    @property
    def clean(self) -> Path:
        """The same copy without the bugs."""
        return WORK / "clean" / self.name


KEYS = (
    Planted(name="python-stdnum, seed 7", package="python-stdnum==2.2", seed=7, held_out=False),
    Planted(name="python-stdnum, seed 101", package="python-stdnum==2.2", seed=101),
    Planted(name="python-stdnum, seed 102", package="python-stdnum==2.2", seed=102),
    Planted(name="networkx, seed 103", package="networkx==3.6.1", seed=103),
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
    return found_by([rule for rule in installed_rules() if not rule.wide and not rule.slow], folder)


def found_by(rules: Iterable[Rule], folder: Path) -> Found:
    """Return every finding of some rules in a folder, packed as the fixed plan packs it."""
    tree, chosen = SourceTree.open(folder), tuple(rules)
    found = [analyse(tree.render(shard.names), chosen) for shard in tree.shards(SHARD_TOKENS)]
    return [attrs.asdict(finding) for each in found for finding in each]


def with_pyright(folder: Path) -> Found:
    """Return what the tight rules report with pyright in mypy's place, as where only pyright is installed."""
    with patch.object(_types, "installed_checker", _checkers._pyright):
        return found_by([rule for rule in installed_rules() if not rule.wide], folder)


OURS: dict[str, Callable[[Path], Found]] = {
    "planloom, tight rules alone": rules_alone,
    "planloom audit": audited(),
    "planloom audit --wide": audited("--wide"),
    "planloom, pyright in mypy's place": with_pyright,
}


def measure(key: Planted, name: str, tool: Callable[[Path], Found], *, kept: bool) -> dict[str, Any]:
    """Return a tool's score on a key, with the seconds it took.

    :param kept: take what the tool said last time, where it has been asked: only for tools that have not changed.
    """
    scratch = WORK / "found" / key.name
    name = name.replace(" ", "-")
    scratch.mkdir(parents=True, exist_ok=True)
    planted, clean = (scratch / f"{name}.{which}.json" for which in ("planted", "clean"))
    for path, folder in ((planted, key.folder / "audited"), (clean, key.clean)):
        if not (kept and path.exists()):
            began = time.perf_counter()
            findings = tool(folder)
            told = {"seconds": time.perf_counter() - began, "findings": findings}
            path.write_text(json.dumps(told), encoding="utf-8")
    return {**scored(key, planted, clean), "seconds": json.loads(planted.read_text())["seconds"]}


def scored(key: Planted, planted: Path, clean: Path) -> dict[str, Any]:
    """Return what ``planloom score`` makes of two reports, cut down to the numbers of a table."""
    said = _run(*PLANLOOM, "score", str(planted), "--bench", str(key.folder), "--clean", str(clean), "--json")
    told = json.loads(said)
    return {
        "findings": told["reported"],
        "bugs": told["tally"]["bugs"],
        "found": len(told["tally"]["hits"]),
        "wrong": len(told["tally"]["wrong"]),
        "strict": len(told["strict"]["hits"]),
        "caused": told["caused"],
        "chance_recall": told["chance"]["recall"],
        "chance_precision": told["chance"]["precision"],
    }


def of_rules(key: Planted) -> dict[str, dict[str, Any]]:
    """Return each rule's own score on a key, every rule asked alone."""
    scratch = WORK / "found" / key.name / "rules"
    scratch.mkdir(parents=True, exist_ok=True)
    rows: dict[str, dict[str, Any]] = {}
    by_rule = {which: _by_rule(folder) for which, folder in (("planted", key.folder / "audited"), ("clean", key.clean))}
    for rule in installed_rules():
        paths = {which: scratch / f"{rule.name}.{which}.json" for which in by_rule}
        for which, path in paths.items():
            path.write_text(json.dumps(by_rule[which][rule.name]), encoding="utf-8")
        rows[rule.name] = scored(key, paths["planted"], paths["clean"])
    return rows


def _by_rule(folder: Path) -> Mapping[str, Found]:
    found: dict[str, Found] = defaultdict(list)
    for finding in found_by(installed_rules(), folder):
        found[finding["rule"]].append(finding)
    return found


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


def main(*names: str) -> None:
    """Measure every key, or those whose names hold one of the given texts; write the page when all were."""
    chosen = [key for key in KEYS if not names or any(name in key.name for name in names)]
    results: dict[str, Any] = {"machine": machine(), "keys": {}}
    WORK.mkdir(parents=True, exist_ok=True)
    for key in chosen:
        build(key)
        tools = {name: measure(key, name, tool, kept=False) for name, tool in OURS.items()}
        tools |= {name: measure(key, name, tool, kept=True) for name, tool in PEERS.items()}
        results["keys"][key.name] = {"held_out": key.held_out, "tools": tools, "rules": of_rules(key)}
        print(json.dumps({key.name: results["keys"][key.name]}, indent=1), flush=True)
    if not names:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
        RESULTS.with_suffix(".md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
