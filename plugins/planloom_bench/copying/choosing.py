"""Which files of a library auditors read: its Python sources, and nothing that repeats what they should return.

Only ``.py`` files are copied at all. So notebooks, stubs, readmes, changelogs, bytecode, version control and the lists
of hashes that installers leave, which would name the edited files, need no rules of their own.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from planloom_bench._errors import ExamplesLeft
from planloom_bench._strip import strip_examples
from planloom_bench.building.library import LeftOut
from planloom_code import Skipped, SourceFile, Unparsable, discover, read_source, shown_path

__all__ = ["Chosen", "choose", "reason_to_leave_out", "written"]

_FOLDERS = {
    "tests": frozenset({"test", "tests", "_tests"}),
    "documentation": frozenset({"doc", "docs", "documentation"}),
    "examples": frozenset({"demo", "demos", "example", "examples", "tutorial", "tutorials"}),
}
_TEST_FILES = frozenset({"conftest.py", "noxfile.py", "setup.py", "test.py", "tests.py"})
_NEVER_SOURCE = frozenset({".git", ".hg", ".svn", "__pycache__"})
_MARK = b"\xef\xbb\xbf"
REFUSED_WITH_PROMPTS = "holds prompts and is refused by this Python's grammar"


@attrs.frozen(kw_only=True)
class Chosen:
    """The files of a benchmark.

    :ivar files: the sources, by path.
    :ivar stripped: their texts without examples, by path.
    :ivar left_out: why any other Python file is not among them, in their order.
    """

    files: tuple[SourceFile, ...]
    stripped: Mapping[str, str]
    left_out: tuple[LeftOut, ...]


def choose(root: Path, *, everything: bool) -> Chosen:
    """The files below a folder that auditors may read.

    :param everything: take no notice of version control and its ignored files: the folder is a copy of ours.
    """
    files, stripped, left_out = [], {}, []
    for system_path, path in _python_files(root, everything):
        taken = _taken(root / system_path, path)
        if isinstance(taken, LeftOut):
            left_out.append(taken)
        else:
            source, stripped[path] = taken
            files.append(source)
    return Chosen(files=tuple(files), stripped=stripped, left_out=tuple(left_out))


def _taken(location: Path, path: str) -> tuple[SourceFile, str] | LeftOut:
    """A source with its text without examples, or why it is not shown."""
    reason = reason_to_leave_out(path)
    if reason is not None:
        return LeftOut(path=path, reason=reason)
    source = read_source(location, path)
    if isinstance(source, Skipped):
        return LeftOut(path=path, reason="is no Python text", detail=source.reason)
    if hashlib.sha256(written(source, source.text)).hexdigest() != source.sha256:
        return LeftOut(path=path, reason="cannot be written back byte for byte", detail=source.encoding)
    try:
        return source, strip_examples(source.text)
    except ExamplesLeft as error:
        if isinstance(error.__cause__, Unparsable):
            return LeftOut(path=path, reason=REFUSED_WITH_PROMPTS, detail=error.__cause__.reason)
        return LeftOut(path=path, reason="has an example that cannot be cut out", detail=str(error).partition(";")[0])


def _python_files(root: Path, everything: bool) -> Iterator[tuple[str, str]]:
    """Path on the system and path to show of every Python file, sorted."""
    if everything:
        yield from sorted((path, shown_path(path)) for path in _walked(root))
    else:
        yield from ((file.system_path, file.path) for file in discover(root).files)


def _walked(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _NEVER_SOURCE]
        for name in names:
            path = Path(folder, name)
            if name.endswith(".py") and path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix()


def reason_to_leave_out(path: str) -> str | None:
    """What a file belongs to that auditors must not read, by its path, or None."""
    *folders, name = path.lower().split("/")
    for reason, names in _FOLDERS.items():
        if not names.isdisjoint(folders):
            return reason
    tests = name.startswith("test_") or name.endswith("_test.py") or name in _TEST_FILES
    return "tests" if tests else None


def written(source: SourceFile, text: str) -> bytes:
    """A text in the encoding of a file, behind the mark that the file begins with."""
    size_bytes = len(source.text.encode(source.encoding, "replace"))
    mark = _MARK if source.encoding == "utf-8" and source.size_bytes == size_bytes + len(_MARK) else b""
    return mark + text.encode(source.encoding, "replace")
