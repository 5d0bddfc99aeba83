"""The built wheel: what it holds, and that the demonstration runs from it alone."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="the sources are not beside these tests"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=300)
    return next(folder.glob("planloom-*.whl"))


def test_the_wheel_holds_the_packages_and_nothing_of_the_folders_around_them(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    packages = {top for top in tops if not top.endswith(".dist-info")}
    assert packages == {
        "planlang",
        "planloom",
        "planloom_anthropic",
        "planloom_audit",
        "planloom_bench",
        "planloom_code",
        "planloom_data",
        "planloom_offline",
        "planloom_openai",
        "planloom_sqlite",
    }
    assert "planlang/tables.json" in names
    assert any(name.endswith("hidden/answer_key.json") for name in names)


def test_the_demonstration_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=120)
    python = tmp_path / "venv" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run(install, check=True, capture_output=True, timeout=300)
    run = [str(tmp_path / "venv" / "bin" / "planloom"), "demo"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "of 24 planted bugs found" in done.stdout
