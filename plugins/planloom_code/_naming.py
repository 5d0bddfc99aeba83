"""Which file of the tree a model means.

Models write a path as they like: with a leading slash, the folder's name in front, backslashes, quotes, or
with the first folders left out. A spelling means a file of the tree when it is that file's path, the end of
exactly one path, or a path with something put in front. Nothing is looked up on the disk.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

_DRESS = " \t\r\n`'\"<>"
_LINE_SUFFIX = re.compile(r"(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)$")


class FileNames:
    """The files of a tree, found by how models spell them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._exact = {path: path for path in paths}
        self._tidy: dict[str, str] = {}
        self._by_last: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._exact:
            tidy = _tidy(path)
            self._tidy.setdefault(tidy, path)
            self._by_last[tidy.rpartition("/")[2]].append(tidy)

    def resolve(self, spelling: str) -> str | None:
        """The one path of the tree that ``spelling`` means, or None."""
        if spelling in self._exact:
            return spelling
        plain = spelling.strip(_DRESS).removeprefix("###").strip(_DRESS)
        for candidate in (plain, _LINE_SUFFIX.sub("", plain)):
            tidy = _tidy(candidate)
            found = self._tidy.get(tidy) or self._shortened(tidy) or self._lengthened(tidy)
            if found is not None:
                return found
        return None

    def _shortened(self, tidy: str) -> str | None:
        """The file whose path ends with ``tidy``, when there is one only."""
        alike = [path for path in self._by_last.get(tidy.rpartition("/")[2], ()) if path.endswith("/" + tidy)]
        return self._tidy[alike[0]] if len(alike) == 1 else None

    def _lengthened(self, tidy: str) -> str | None:
        """The file whose path is the longest end of ``tidy``, unless ``tidy`` may also end another's."""
        last = tidy.rpartition("/")[2]
        if any(path.endswith("/" + tidy) for path in self._by_last.get(last, ())):
            return None
        rest = tidy
        while "/" in rest:
            rest = rest.partition("/")[2]
            if rest in self._tidy:
                return self._tidy[rest]
        return None


def _tidy(spelling: str) -> str:
    path = posixpath.normpath("/" + unicodedata.normalize("NFC", spelling).replace("\\", "/"))
    return path.lstrip("/")
