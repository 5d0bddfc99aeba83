"""Words that only who knows the key could write: ids of bugs, the name of its file, and in the manifest, places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from planloom_bench._errors import BadBenchmark
from planloom_bench._key import Key

from .leak import Leak

__all__ = ["words_of_the_key", "words_of_the_manifest"]

# Much shorter ones are words that any text may hold.
_SHORTEST_LINE = 12


def words_of_the_key(key: Key, files: Iterable[tuple[str, Path]], *, file_too: bool) -> Iterator[Leak]:
    """Places in files, given with the names to show, that name a bug's id.

    :param file_too: look for the name of the key's file as well, which a library's own code might hold.
    """
    ids = sorted({entry.id for entry in key.entries}, key=len, reverse=True)
    pattern = rb"(?<![\w-])(?:%s)(?![\w-])" % b"|".join(re.escape(name.encode()) for name in ids)
    words = re.compile(pattern + (rb"|answer_key\.json" if file_too else b""))
    for shown, path in files:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BadBenchmark(f"{path} cannot be read ({error.strerror}); give files that can") from error
        for match in words.finditer(data):
            word = match[0].decode("utf-8", "replace")
            line = data.count(b"\n", 0, match.start()) + 1
            yield Leak(path=shown, line=line, message=f"names {word!r}, which only the key knows; remove it")


def words_of_the_manifest(key: Key, manifest: Path) -> Iterator[Leak]:
    """Lines of the manifest that tell where a bug is, or what it changed."""
    words = {entry.path for entry in key.entries}
    words |= {line for entry in key.entries for line in (entry.before, entry.after) if len(line) >= _SHORTEST_LINE}
    for number, line in enumerate(manifest.read_text(encoding="utf-8").splitlines(), start=1):
        found = next((word for word in sorted(words) if word in line), None)
        if found is not None:
            yield Leak(
                path="manifest.json", line=number, message=f"tells of a bug: {found!r}; build the benchmark again"
            )
