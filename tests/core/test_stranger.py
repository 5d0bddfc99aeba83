"""A stranger's package, built, installed beside planloom and used, as anybody's would be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

STRANGER = Path(__file__).parents[1] / "stranger"

CONFIG = """
[endpoints.birds]
client = "parrot"

[roles.worker]
endpoint = "birds"
model = "parrot-1"
price = { call = 0.1 }

[store]
path = "store.db"
"""

PLAN = """
phase("Translate")
result = parallel([lambda language=language: translate("hello", language) for language in LANGUAGES])
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build and install the package into a folder of its own; return the folder."""
    pytest.importorskip("hatchling", reason="the stranger's package is built with hatchling: pip install hatchling")
    target = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(STRANGER)], check=True, timeout=120)
    return target


def planloom(folder: Path, installed: Path, *arguments: str) -> tuple[int, str, str]:
    """Run a command in a folder, with the package on the path; its exit code, output and remarks."""
    done = subprocess.run(
        [sys.executable, "-m", "planloom", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def written(folder: Path, plan: str) -> Path:
    (folder / "planloom.toml").write_text(CONFIG)
    (folder / "job.plan").write_text(plan)
    return folder


def test_it_is_listed_with_its_version_its_hooks_and_what_it_brings(installed: Path, tmp_path: Path) -> None:
    code, output, _ = planloom(tmp_path, installed, "plugins")
    assert code == 0
    assert output[output.index("translate  (") :].splitlines()[:8] == [
        "translate  (planloom-translate 0.3.1)",
        "  hooks: register_clients, register_exporters, register_kits, register_lenses, register_skeptics, "
        "register_stand_ins",
        "  client: parrot",
        "  exporter: audit-lines",
        "  kit: translate",
        "  lens: units",
        "  skeptic: pedant",
        "  stand-in: translate",
    ]


def test_its_word_is_checked_rehearsed_and_run_by_its_client(installed: Path, tmp_path: Path) -> None:
    folder = written(tmp_path, PLAN)
    code, output, remarks = planloom(folder, installed, "run", "job.plan", "--target", ".", "--json", "--trust-config")
    assert code == 0, remarks
    assert json.loads(output) == {"result": ["squawk: hello", "squawk: hello"], "status": "completed", "error": None}
    assert "2 workers, 2 asked" in " ".join(remarks.split())


def test_the_checker_knows_its_lens_and_its_skeptic(installed: Path, tmp_path: Path) -> None:
    plan = 'found = scan(shards()[0], "units")\nresult = check(found, skeptic="pedant")\n'
    code, output, _ = planloom(written(tmp_path, plan), installed, "check", "job.plan")
    assert (code, "no problems" in output) == (0, True), output


def test_a_misspelled_name_of_it_is_answered_with_the_right_one(installed: Path, tmp_path: Path) -> None:
    plan = 'result = [scan(shards()[0], "unitz"), translat("x")]\n'
    code, output, _ = planloom(written(tmp_path, plan), installed, "check", "job.plan")
    assert code == 6
    assert '"units"' in output
    assert "translate" in output


def test_its_word_takes_only_what_its_signature_says(installed: Path, tmp_path: Path) -> None:
    code, output, _ = planloom(written(tmp_path, "result = translate(3)\n"), installed, "check", "job.plan")
    assert (code, "`text` of `translate` takes str" in output) == (6, True), output


def test_a_second_package_with_the_same_names_is_refused_naming_both(installed: Path, tmp_path: Path) -> None:
    info = tmp_path / "copycat-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: copycat\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[planloom]\ncopycat = copycat\n")
    (tmp_path / "copycat.py").write_text(
        "from planloom.hookspecs import hookimpl\n"
        "from planloom_translate import KIT\n"
        "@hookimpl\n"
        "def register_kits(register):\n"
        "    register(KIT)\n"
    )
    both = Path(f"{installed}{os.pathsep}{tmp_path}")
    code, _, remarks = planloom(tmp_path, both, "plugins")
    assert code == 2
    assert remarks.startswith("planloom: two plugins bring a kit named `translate`: ")
    assert {"copycat", "translate"} <= set(remarks.replace(":", " ").replace(";", " ").split())


def test_a_package_that_cannot_be_imported_is_named(installed: Path, tmp_path: Path) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[planloom]\nbroken = broken_module\n")
    (tmp_path / "broken_module.py").write_text("import not_there\n")
    code, _, remarks = planloom(tmp_path, tmp_path, "plugins")
    assert code == 2
    assert remarks.startswith(
        "planloom: plugin broken of broken cannot be imported: ModuleNotFoundError: No module named 'not_there'; "
        "update it, or go without: `pip uninstall broken`; its traceback is in "
    )
