"""Tools that people have already, beside the offline analyst: how each is run on a folder, and what it reports."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Found = list[dict[str, Any]]

RUFF_RULES = "F,B,PL,RUF,SIM,C4,E9"
_MYPY_LINE = re.compile(r"(.+?):(\d+): error: .*")


def _said_by(*command: str, folder: Path) -> str:
    """Return what a tool printed; tools that find something end with 1, and pylint with any sum of bits."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and not done.stdout:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def _place(path: str, line: int, folder: Path) -> dict[str, Any]:
    full = (folder / path).resolve()
    return {"file": full.relative_to(folder.resolve()).as_posix(), "line": line}


def ruff(folder: Path) -> Found:
    """Return what ruff reports by the rules that look for mistakes."""
    options = ("--isolated", "--no-cache", "--output-format", "json", "--select", RUFF_RULES)
    said = _said_by(sys.executable, "-m", "ruff", "check", *options, ".", folder=folder)
    return [_place(row["filename"], row["location"]["row"], folder) for row in json.loads(said)]


def pylint(folder: Path) -> Found:
    """Return pylint's errors and warnings."""
    options = (
        "--rcfile=/dev/null",
        "--disable=all",
        "--enable=E,W",
        "--output-format=json",
        "--recursive=y",
        "-j",
        "2",
    )
    said = _said_by(sys.executable, "-m", "pylint", *options, ".", folder=folder)
    return [_place(row["path"], max(row["line"], 1), folder) for row in json.loads(said)]


def mypy(folder: Path) -> Found:
    """Return mypy's errors, bodies without annotations checked too."""
    options = ("--config-file=", "--cache-dir=/dev/null", "--check-untyped-defs", "--ignore-missing-imports")
    said = _said_by(sys.executable, "-m", "mypy", *options, "--no-error-summary", ".", folder=folder)
    read = (_MYPY_LINE.fullmatch(line) for line in said.splitlines())
    return [_place(match[1], int(match[2]), folder) for match in read if match is not None]


def pyright(folder: Path) -> Found:
    """Return pyright's errors by its defaults, those about imports dropped."""
    with tempfile.TemporaryDirectory(prefix="planloom-bench-") as scratch:
        # It would follow the configuration of any folder above.
        copy = Path(shutil.copytree(folder, Path(scratch) / "audited"))
        said = _said_by(sys.executable, "-m", "pyright", "--outputjson", ".", folder=copy)
        return [
            _place(row["file"], row["range"]["start"]["line"] + 1, copy)
            for row in json.loads(said)["generalDiagnostics"]
            if row["severity"] == "error" and "Import" not in row.get("rule", "")
        ]


PEERS: dict[str, Callable[[Path], Found]] = {"ruff": ruff, "pylint": pylint, "mypy": mypy, "pyright": pyright}
