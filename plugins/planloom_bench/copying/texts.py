"""The texts of a benchmark: every file without examples, clean and with its bugs, and where the bugs are in them.

Cutting examples moves lines, so the key counts in the text that auditors read. It is found there by comparing, and
checked: a bug must be the only difference at its line, in its function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from planloom_bench._errors import BadBenchmark
from planloom_bench._key import Key, KeyEntry
from planloom_bench._line_ends import lines_with_ends
from planloom_bench._strip import strip_examples
from planloom_bench.building.library import Planted
from planloom_code import Places, split_lines

from .choosing import Chosen, written

__all__ = ["CopiedFile", "copied_files", "key_of"]


@attrs.frozen(kw_only=True)
class CopiedFile:
    """One file of a benchmark.

    :ivar clean: its text without examples.
    :ivar audited: the same with its bugs, if it has any.
    :ivar clean_data: both as they are written, in the encoding of the file.
    """

    path: str
    clean: str
    audited: str
    clean_data: bytes
    audited_data: bytes


def copied_files(chosen: Chosen, planted: Iterable[Planted]) -> tuple[CopiedFile, ...]:
    """The files of a benchmark with these bugs, by path."""
    bugs: dict[str, list[Planted]] = {}
    for bug in planted:
        bugs.setdefault(bug.path, []).append(bug)
    files = []
    for source in chosen.files:
        clean, here = chosen.stripped[source.path], bugs.get(source.path)
        audited = strip_examples(_with_bugs(source.text, here)) if here else clean
        files.append(
            CopiedFile(
                path=source.path,
                clean=clean,
                audited=audited,
                clean_data=written(source, clean),
                audited_data=written(source, audited),
            )
        )
    return tuple(files)


def _with_bugs(text: str, bugs: Iterable[Planted]) -> str:
    lines = lines_with_ends(text)
    for bug in bugs:
        line = lines[bug.line - 1]
        lines[bug.line - 1] = bug.after_line + line[len(line.rstrip("\r\n")) :]
    return "".join(lines)


def key_of(files: Iterable[CopiedFile], planted: Sequence[Planted], name: str) -> Key:
    """The key of a benchmark, its lines counted in what auditors read.

    :raises BadBenchmark: a bug is not where it should be, which would be a fault of the stripping.
    """
    by_path: dict[str, list[Planted]] = {}
    for bug in sorted(planted, key=lambda bug: (bug.path, bug.line)):
        by_path.setdefault(bug.path, []).append(bug)
    files = tuple(files)
    prefix = _prefix(files, name)
    entries: list[KeyEntry] = []
    for file in files:
        for bug, line in zip(by_path.get(file.path, ()), _differing(file, by_path), strict=True):
            entries.append(_entry(bug, line, file, f"{prefix}-{len(entries) + 1:02}"))
    return Key(tuple(entries))


def _prefix(files: Iterable[CopiedFile], name: str) -> str:
    """What ids begin with: so chosen that nothing in the library reads like an id."""
    texts = [file.audited for file in files]
    prefix = name
    while any(f"{prefix}-" in text for text in texts):
        prefix += "-bug"
    return prefix


def _differing(file: CopiedFile, bugs: Mapping[str, object]) -> list[int]:
    if file.path not in bugs:
        return []
    clean, audited = split_lines(file.clean), split_lines(file.audited)
    if len(clean) != len(audited):
        raise BadBenchmark(f"{file.path} has another number of lines with its bug; leave the file out of the library")
    return [number for number, (a, b) in enumerate(zip(clean, audited, strict=True), start=1) if a != b]


def _entry(bug: Planted, line: int, file: CopiedFile, name: str) -> KeyEntry:
    before, after = split_lines(file.clean)[line - 1], split_lines(file.audited)[line - 1]
    function = Places(file.audited).function_at(line)
    if (before, after, function) != (bug.before_line, bug.after_line, bug.function):
        raise BadBenchmark(
            f"{file.path}:{line} reads {after.strip()!r} in {function} where {bug.after_line.strip()!r} in "
            f"{bug.function} was planted; leave the file out of the library"
        )
    return KeyEntry(
        id=name,
        path=file.path,
        line=line,
        function=bug.function,
        kind=bug.kind,
        before=before.strip(),
        after=after.strip(),
        examples_failed=bug.failed,
        examples_total=bug.total,
    )
