"""Words that only who knows the key could write: ids of bugs, the name of its file, and in the manifest, places.

A manifest holds what a build writes into it and nothing else: a table of sizes or of functions gives bugs away without
a word of the key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from planloom_bench._errors import BadBenchmark
from planloom_bench._key import Key

from .leak import Leak

__all__ = ["words_of_the_key", "words_of_the_manifest"]

# Much shorter ones are words that any text may hold.
_SHORTEST_LINE = 12
_COUNTS: frozenset[str] = frozenset({"counts"})
# What stands in a manifest, and in the parts of it; None for a plain value.
_FIELDS: dict[str, frozenset[str] | None] = {
    "source": frozenset({"library", "version", "licence", "kind", "commit", "archive", "archive_sha256", "sha256"}),
    "planted": frozenset({"by", "seed", "bugs"}),
    "type_checker": frozenset({"name", "noticed"}),
    **dict.fromkeys(("kinds", "not_copied", "left_out", "counts"), _COUNTS),
    **dict.fromkeys(("format", "name", "python", "files", "lines", "size_bytes", "file_time", "audited_sha256")),
}


def words_of_the_key(key: Key, files: Iterable[tuple[str, Path]], *, file_too: bool) -> Iterator[Leak]:
    """Places in files, given with the names to show, that name a bug's id.

    :param file_too: look for the name of the key's file as well, which a library's own code might hold.
    """
    ids = sorted({entry.id for entry in key.entries}, key=len, reverse=True)
    pattern = rb"(?<![\w-])(?:%s)(?![\w-])" % b"|".join(re.escape(name.encode()) for name in ids)
    words = re.compile(pattern + (rb"|answer_key\.json" if file_too else b""))
    for shown, path in files:
        named = words.search(shown.encode("utf-8", "surrogateescape"))
        if named:
            message = f"its name holds {named[0].decode()!r}, which only the key knows; remove it"
            yield Leak(path=shown, line=None, message=message)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BadBenchmark(f"{path} cannot be read ({error.strerror}); give files that can") from error
        for match in words.finditer(data):
            word = match[0].decode("utf-8", "replace")
            line = data.count(b"\n", 0, match.start()) + 1
            yield Leak(path=shown, line=line, message=f"names {word!r}, which only the key knows; remove it")


def words_of_the_manifest(key: Key, manifest: Path) -> Iterator[Leak]:
    """Lines of the manifest that tell where a bug is, or what it changed, and fields that no build writes."""
    stems = {PurePosixPath(entry.path).with_suffix("").as_posix() for entry in key.entries if "/" in entry.path}
    words = {entry.path for entry in key.entries} | stems | {stem.replace("/", ".") for stem in stems}
    words |= {line for entry in key.entries for line in (entry.before, entry.after) if len(line) >= _SHORTEST_LINE}
    for number, line in enumerate(manifest.read_text(encoding="utf-8").splitlines(), start=1):
        found = next((word for word in sorted(words, key=len, reverse=True) if word in line), None)
        if found is not None:
            yield Leak(
                path="manifest.json", line=number, message=f"tells of a bug: {found!r}; build the benchmark again"
            )
    for field in _strange_fields(json.loads(manifest.read_text(encoding="utf-8"))):
        yield Leak(path="manifest.json", line=None, message=f"holds {field}, which no build writes; remove it")


def _strange_fields(manifest: Mapping[str, Any]) -> Iterator[str]:
    for name, value in manifest.items():
        inner = _FIELDS.get(name)
        if name not in _FIELDS or (inner is None and isinstance(value, dict | list)):
            yield name
        elif inner is _COUNTS and isinstance(value, Mapping):
            yield from (f"{name}.{field}" for field, count in value.items() if not isinstance(count, int))
        elif inner is not None and isinstance(value, Mapping):
            plain = {field for field, part in value.items() if not isinstance(part, dict | list)}
            yield from (f"{name}.{field}" for field in value if field not in plain & inner)
