"""The rules of .gitignore files, for folders where git cannot be asked.

As in git, the file nearest to a path decides, within a file the last pattern that matches, and nothing inside
an ignored folder can be brought back. Only files below the audited folder count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import attrs
from pathspec import GitIgnoreSpec

from planloom_code._errors import BadPattern


@attrs.frozen
class IgnoreRules:
    """The rules that hold in one folder: its own first, then those of the folders around it."""

    layers: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def below(self, folder: str, location: Path) -> IgnoreRules:
        """The rules inside ``folder`` (relative, empty for the root), whose real place is ``location``."""
        spec = _read_rules(location / ".gitignore")
        return self if spec is None else IgnoreRules(((folder, spec), *self.layers))

    def ignore(self, path: str) -> bool:
        """Whether ``path`` is ignored; a folder's path ends with a slash."""
        for folder, spec in self.layers:
            verdict = spec.check_file(path[len(folder) + 1 :] if folder else path).include
            if verdict is not None:
                return verdict
        return False


def patterns(lines: Iterable[str], option: str) -> GitIgnoreSpec | None:
    """The patterns of an option as one spec, None when there are none; raises `BadPattern`."""
    wanted = tuple(lines)
    for line in wanted:
        if _spec([line]) is None:
            raise BadPattern(f"{option} cannot read the pattern {line!r}. Write it as a line of .gitignore.")
    return GitIgnoreSpec.from_lines(wanted) if wanted else None


def _read_rules(location: Path) -> GitIgnoreSpec | None:
    try:
        if location.is_symlink() or not location.is_file():
            return None
        lines = os.fsdecode(location.read_bytes()).removeprefix("\ufeff").split("\n")
    except OSError:
        return None
    return _spec([line for line in lines if _spec([line]) is not None])


def _spec(lines: list[str]) -> GitIgnoreSpec | None:
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return None
