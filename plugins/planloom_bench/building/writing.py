"""A benchmark on the disk: what auditors read, the hidden key, the manifest."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from planloom_bench._errors import ExamplesLeft
from planloom_bench._strip import strip_examples
from planloom_bench.mutators import ParsedFile
from planloom_code import SourceFile, count_lines, split_lines

from .journal import digest_of
from .library import Built, Library, Planted

__all__ = ["is_for_tests", "unstrippable", "write_benchmark"]

_NOT_COPIED = frozenset({"doc", "docs", "example", "examples", "test", "tests"})
_MARK = b"\xef\xbb\xbf"


def is_for_tests(path: str) -> bool:
    """Whether a file belongs to tests, documentation or examples, which repeat what functions should return."""
    *folders, name = path.split("/")
    tests = name.startswith("test_") or name.endswith("_test.py") or name in ("conftest.py", "setup.py", "noxfile.py")
    return tests or not _NOT_COPIED.isdisjoint(folders)


def unstrippable(source: SourceFile) -> str | None:
    """Why a file cannot be given to auditors without its examples, or None."""
    try:
        strip_examples(source.text)
    except ExamplesLeft:
        return "has an example that cannot be cut out"
    return None


def write_benchmark(library: Library, built: Built, out: Path, *, name: str, seed: int) -> None:
    """Write ``audited/``, ``hidden/answer_key.json`` and ``manifest.json`` below ``out``."""
    audited = {source.path: _stripped(_planted(source, built.entries)) for source in library.files}
    for source in library.files:
        target = out / "audited" / source.path
        target.parent.mkdir(parents=True, exist_ok=True)
        mark = _MARK if (library.root / source.path).read_bytes().startswith(_MARK) else b""
        target.write_bytes(mark + audited[source.path].encode(source.encoding))
    numbered = enumerate(_key_rows(library, built, audited), start=1)
    entries = [{"id": f"{name}-{at:02}", **row} for at, row in numbered]
    _write_json(out / "hidden" / "answer_key.json", {"format": 1, "entries": entries})
    _write_json(out / "manifest.json", _manifest(library, built, audited, name=name, seed=seed))


def _planted(source: SourceFile, entries: Iterable[Planted]) -> str:
    here = [planted for planted in entries if planted.path == source.path]
    if not here:
        return source.text
    lines = list(ParsedFile(source.text).lines)
    for planted in here:
        line = lines[planted.line - 1]
        lines[planted.line - 1] = planted.after_line + line[len(line.rstrip("\r\n")) :]
    return "".join(lines)


def _stripped(text: str) -> str:
    """The text without examples; one that does not parse stays as it is."""
    try:
        return strip_examples(text)
    except SyntaxError:
        return text


def _key_rows(library: Library, built: Built, audited: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The entries of the key, by file; lines count in what auditors read."""
    for source in library.files:
        here = [planted for planted in built.entries if planted.path == source.path]
        if here:
            clean, edited = split_lines(_stripped(source.text)), split_lines(audited[source.path])
            differ = [number for number, (a, b) in enumerate(zip(clean, edited, strict=True), start=1) if a != b]
            yield from (_row(planted, line) for planted, line in zip(here, differ, strict=True))


def _row(planted: Planted, line: int) -> dict[str, Any]:
    return {
        "path": planted.path,
        "line": line,
        "function": planted.function,
        "kind": planted.kind,
        "before": planted.before_line.strip(),
        "after": planted.after_line.strip(),
        "examples": {"failed": planted.failed, "total": planted.total},
    }


def _manifest(library: Library, built: Built, audited: Mapping[str, str], *, name: str, seed: int) -> dict[str, Any]:
    """Where the benchmark comes from and what is in it, without a word on where the bugs are."""
    texts = json.dumps(audited, sort_keys=True).encode("utf-8", "surrogatepass")
    return {
        "format": 1,
        "name": name,
        "source": {"library": name, "sha256": digest_of(library.files)},
        "planted": {"by": "planloom bench build", "seed": seed, "bugs": len(built.entries)},
        "python": ".".join(platform.python_version_tuple()[:2]),
        "kinds": dict(sorted(Counter(planted.kind for planted in built.entries).items())),
        "files": len(audited),
        "lines": sum(map(count_lines, audited.values())),
        "left_out": dict(sorted(Counter(left.reason for left in built.left_out).items())),
        "counts": dict(built.counts),
        "audited_sha256": hashlib.sha256(texts).hexdigest(),
    }


def _write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
