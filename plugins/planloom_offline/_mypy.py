"""mypy, where a machine has it: how it is found, asked and read.

It is asked without any configuration, plugin or package of the caller's: plugins run code, and other packages would
change answers. mypy alone, because pyright, asked and filtered alike, found the same bugs of the development key with
nine false alarms where mypy had none (2026-11-29).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from planloom.data_classes import frozen

__all__ = ["Mypy", "TypeFault", "installed_mypy", "read_faults"]

_FLAGS = (
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
_LINE = re.compile(r"(.+?):(\d+): error: (.*?)(?:  \[([a-z-]+)\])?")
_CODES = frozenset(("arg-type", "call-overload", "operator", "return-value", "union-attr"))
_SAYS = re.compile(r"incompatible item type|Tuple index out of range|Invalid index type|is not indexable")
"""What it says under codes that hold much else. In code without annotations the rest are mostly false alarms."""


@frozen
class TypeFault:
    """An error about the types of arguments, results or operands; ``path`` is relative to the checked folder."""

    path: str
    line: int
    message: str


@frozen
class Mypy:
    """An installed mypy.

    :ivar version: of the package, or what tells one installed program from another.
    :ivar command: what runs it, without flags.
    """

    version: str
    command: tuple[str, ...]

    def reading(self, paths: Sequence[str], cache_folder: str) -> list[str]:
        """Return the command that checks some files; what it knows of Python itself is kept in a folder."""
        return [*self.command, *_FLAGS, f"--cache-dir={cache_folder}", *paths]


@cache
def installed_mypy() -> Mypy | None:
    """Return the mypy of this Python, else the one on the path, ``None`` where there is none."""
    # Never from the working folder, which may be the code under audit.
    if PathFinder.find_spec("mypy", [entry for entry in sys.path if entry and Path(entry) != Path.cwd()]) is not None:
        try:
            return Mypy(version("mypy"), (sys.executable, "-P", "-m", "mypy"))
        except PackageNotFoundError:
            pass
    program = _program("mypy")
    return Mypy(_marks(program), (program,)) if program else None


def _program(name: str) -> str:
    """The file of a program on the path; a relative path may lead into the code under audit."""
    found = shutil.which(name)
    return found if found and os.path.isabs(found) else ""


def _marks(program: str) -> str:
    stat = os.stat(program)
    return hashlib.sha256(f"{program} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()[:12]


def read_faults(output: str) -> Iterator[TypeFault]:
    """Read the errors that count out of what mypy printed."""
    for line in output.splitlines():
        match = _LINE.fullmatch(line)
        if match is not None and (match[4] in _CODES or _SAYS.search(match[3])):
            yield TypeFault(match[1], int(match[2]), match[3])
