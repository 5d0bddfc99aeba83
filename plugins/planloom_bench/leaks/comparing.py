"""What auditors read beside the published library stripped of its examples: they differ in the bugs' lines alone."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path

from planloom_bench._key import Key, KeyEntry
from planloom_bench._line_ends import lines_with_ends
from planloom_bench.copying.choosing import Chosen, written
from planloom_code import SourceFile, split_lines

from .examples import answers_left
from .leak import Leak

__all__ = ["differences", "holds_original"]

_ASKED = "the key names no bug there; build the benchmark again"
# Shorter lines, `else:` and the like, stand in any comment.
_SHORTEST_ORIGINAL = 6


def differences(audited: Path, published: Chosen, key: Key, texts: Mapping[str, str]) -> Iterator[Leak]:
    """Where ``audited/`` is not what stripping and planting make of the published library.

    :param texts: the audited texts, by path.
    """
    sources = {source.path: source for source in published.files}
    for path in sorted(sources.keys() - texts.keys()):
        yield Leak(path=f"audited/{path}", line=None, message="is not there, though the published library has it")
    for path in sorted(texts.keys() - sources.keys()):
        yield Leak(path=f"audited/{path}", line=None, message="is in no published library; remove it")
    for path in sorted(texts.keys() & sources.keys()):
        bugs = key.in_file(path)
        yield from _in_file(audited / path, sources[path], published.stripped[path], texts[path], bugs)


def _in_file(
    location: Path, source: SourceFile, stripped: str, audited: str, bugs: tuple[KeyEntry, ...]
) -> Iterator[Leak]:
    lines = lines_with_ends(stripped)
    for bug in bugs:
        line = lines[bug.line - 1] if bug.line <= len(lines) else ""
        if line.strip() != bug.before:
            message = (
                f"the published line reads {line.strip()!r}, the key says {bug.before!r}; build the benchmark again"
            )
            yield Leak(path=f"audited/{source.path}", line=bug.line, message=message)
            return
        lines[bug.line - 1] = line.replace(bug.before, bug.after, 1)
    expected = "".join(lines)
    if audited != expected:
        yield from _unlike(source.path, lines, lines_with_ends(audited), bugs)
    elif location.read_bytes() != written(source, expected):
        message = "reads alike and is written with other bytes than the published file; build the benchmark again"
        yield Leak(path=f"audited/{source.path}", line=1, message=message)
    yield from answers_left(source.path, audited, source.text, (bug.after for bug in bugs))


def _unlike(path: str, expected: list[str], audited: list[str], bugs: tuple[KeyEntry, ...]) -> Iterator[Leak]:
    matcher = difflib.SequenceMatcher(None, expected, audited, autojunk=False)
    for tag, first, last, at, to in matcher.get_opcodes():
        if tag == "equal":
            continue
        for number in range(at, max(to, at + 1)):
            was = expected[first + number - at] if first + number - at < last else ""
            now = audited[number] if number < to else ""
            yield Leak(path=f"audited/{path}", line=number + 1, message=_how(was, now, bugs))


def _how(was: str, now: str, bugs: tuple[KeyEntry, ...]) -> str:
    original = holds_original(now, bugs)
    if original is not None:
        return f"holds the line that bug {original.id} replaced: {now.strip()[:80]!r}; remove it"
    if was.rstrip() == now.rstrip():
        return f"ends in {_end(now)!r} where the published line ends in {_end(was)!r}; build the benchmark again"
    return f"reads {now.strip()[:80]!r} where the published file has {was.strip()[:80]!r}, and {_ASKED}"


def holds_original(line: str, bugs: tuple[KeyEntry, ...]) -> KeyEntry | None:
    """The bug whose original line stands somewhere in the line, or None."""
    found = (bug for bug in bugs if len(bug.before) >= _SHORTEST_ORIGINAL and bug.before in line)
    return next(found, None)


def _end(line: str) -> str:
    return line[len(line.rstrip()) :]


def comments_with_originals(path: str, text: str, bugs: tuple[KeyEntry, ...]) -> Iterator[Leak]:
    """Comments that hold a line which a bug replaced, for where nothing published is at hand."""
    for number, line in enumerate(split_lines(text), start=1):
        _, mark, comment = line.partition("#")
        original = holds_original(comment, bugs) if mark else None
        if original is not None:
            message = f"a comment holds the line that bug {original.id} replaced: {comment.strip()[:80]!r}; remove it"
            yield Leak(path=f"audited/{path}", line=number, message=message)
