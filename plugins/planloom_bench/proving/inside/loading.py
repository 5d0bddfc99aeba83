"""Loading one module from a text in memory, and its neighbours from source that is compiled once.

The edited text is never written. A file is recognised by what it is (device and number), not by how its path is
spelled: a link, a ``/./`` or another case in the path would else load the clean file, and every edit would seem to go
unnoticed. Compiled files lying about in the library are never read: one of the same second and size would do the same.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

Compiled = dict[str, CodeType]


class TextFinder:
    """Finds modules as Python does; one file holds ``text``, and the files of the trees come compiled where they are.

    :ivar served: how often the text was loaded.
    :ivar missing: files of the trees that were not compiled yet.
    """

    def __init__(self, path: str, text: str, trees: Sequence[str], compiled: Compiled) -> None:
        self.text = text
        self.served = 0
        self.missing: list[str] = []
        self.compiled = compiled
        self._identity = _identity(path)
        self._trees = tuple(trees)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of the trees, None for every other."""
        if name in sys.builtin_module_names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        if _identity(spec.origin) == self._identity:
            spec.loader = _TextLoader(name, spec.origin, self)
        elif spec.origin.startswith(self._trees):
            spec.loader = _KeptLoader(name, spec.origin, self)
        else:
            return None
        return spec


class _TextLoader(SourceFileLoader):
    """Loads the text in the place of the file."""

    def __init__(self, name: str, path: str, finder: TextFinder) -> None:
        super().__init__(name, path)
        self._finder = finder

    def get_code(self, fullname: str) -> CodeType:
        text = self._finder.text
        self._finder.served += 1
        # Tracebacks and code that reads its own source see the text too; without a time it is never checked.
        linecache.cache[self.path] = (len(text), None, text.splitlines(keepends=True), self.path)
        code: CodeType = compile(text, self.path, "exec", dont_inherit=True)
        return code

    def get_source(self, fullname: str) -> str:
        return self._finder.text


class _KeptLoader(SourceFileLoader):
    """Loads a file from the code that the server holds."""

    def __init__(self, name: str, path: str, finder: TextFinder) -> None:
        super().__init__(name, path)
        self._finder = finder

    def get_code(self, fullname: str) -> CodeType:
        code = self._finder.compiled.get(self.path)
        if code is None:
            self._finder.missing.append(self.path)
            code = compile_file(self.path)
        return code


def compile_file(path: str) -> CodeType:
    """The code of a file, from its source."""
    with open(path, "rb") as file:
        code: CodeType = compile(file.read(), path, "exec", dont_inherit=True)
    return code


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
