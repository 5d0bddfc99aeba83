"""The rules of .gitignore files, for folders where git cannot be asked.

As in git, the file nearest to a path decides, within a file the last pattern that matches, and nothing inside
an ignored folder can be brought back. Only files below the audited folder count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from planloom.data_classes import frozen
from planloom_code._errors import BadPattern

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# The group of pathspec's expressions that holds the slash after a matched folder.
_FOLDER_MARK = "ps_d"


@frozen
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
            verdict = _verdict(spec, path[len(folder) + 1 :] if folder else path)
            if verdict is not None:
                return verdict
        return False


def patterns(lines: Iterable[str], option: str) -> GitIgnoreSpec | None:
    """The patterns of an option as one spec, None when there are none; raises `BadPattern`."""
    wanted = tuple(lines)
    for line in wanted:
        if _spec([line]) is None:
            raise BadPattern(f"{option} cannot read the pattern {line!r}; write it as a line of .gitignore")
    return _spec(wanted) if wanted else None


def _verdict(spec: GitIgnoreSpec, path: str) -> bool | None:
    """What the last pattern that matches ``path`` itself says; None when there is none.

    pathspec lets a pattern for a folder decide about all inside it. To git ``!src/`` opens the folder and says
    nothing of its files, so a match that ends at a folder above ``path`` is no match here.
    """
    for pattern in reversed(list(spec.patterns)):
        result = None if pattern.include is None else pattern.match_file(path)
        if result is None:
            continue
        end = result.match.start(_FOLDER_MARK) if _FOLDER_MARK in result.match.groupdict() else -1
        if end in (-1, len(path) - 1):
            return pattern.include
    return None


def _read_rules(location: Path) -> GitIgnoreSpec | None:
    try:
        if location.is_symlink() or not location.is_file():
            return None
        lines = os.fsdecode(location.read_bytes()).removeprefix("\ufeff").split("\n")
        lines = [line.removesuffix("\r") for line in lines]
    except OSError:
        return None
    return _spec([line for line in lines if _spec([line]) is not None])


def _spec(lines: Sequence[str]) -> GitIgnoreSpec | None:
    # Most trees have no patterns of their own that git could not be asked about, and need not wait for it.
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(_as_git_means(line) for line in lines)
    except ValueError:
        return None


def _as_git_means(line: str) -> str:
    """The pattern with its ends spelt out where pathspec's short forms match more than the path itself.

    To git ``a/**`` is all inside ``a``, to pathspec also ``a``; ``*/`` is any folder, to pathspec any slash.
    """
    sign, body = ("!", line[1:]) if line.startswith("!") else ("", line)
    if body in ("*/", "**/"):
        return sign + "**/?*/"
    if body.endswith("/**"):
        return line + "/*"
    return line + "*/" if body.endswith("/**/") else line
