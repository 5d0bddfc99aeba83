"""The hidden key: which line of which file was changed, and how many of the clean file's examples notice it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

import planloom_data

from ._errors import BadBenchmark

KINDS = (
    "comparison_boundary",
    "condition_negated",
    "boolean_operator",
    "arithmetic_operator",
    "off_by_one",
    "wrong_constant",
    "arguments_swapped",
    "wrong_variable",
    "start_value",
    "extreme_swapped",
    "return_value",
    "loop_update",
)


@attrs.frozen(kw_only=True)
class KeyEntry:
    """One planted bug. ``line`` counts in the text that auditors read; ``before`` and ``after`` are whole lines."""

    id: str
    path: str
    line: int
    function: str
    kind: str
    before: str
    after: str
    examples_failed: int
    examples_total: int


@attrs.frozen
class Key:
    """All planted bugs of a benchmark."""

    entries: tuple[KeyEntry, ...]

    def __len__(self) -> int:
        return len(self.entries)

    def in_file(self, path: str) -> tuple[KeyEntry, ...]:
        """The bugs of one file, in the order of the key."""
        return self._by_path.get(path, ())

    @cached_property
    def _by_path(self) -> Mapping[str, tuple[KeyEntry, ...]]:
        found: dict[str, tuple[KeyEntry, ...]] = {}
        for entry in self.entries:
            found[entry.path] = (*found.get(entry.path, ()), entry)
        return found


def read_key(path: Path) -> Key:
    """The key that a file holds.

    :raises BadBenchmark: the file is missing, is no JSON or does not fit the schema of keys.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadBenchmark(
            f"{path} cannot be read ({error.strerror}); give the benchmark's folder, the one that holds audited/ and "
            "hidden/"
        ) from error
    except ValueError as error:
        raise BadBenchmark(f"{path} is no JSON: {error}; build the benchmark again") from error
    _check(raw, path)
    return Key(tuple(_entry(item) for item in raw["entries"]))


def _check(raw: object, path: Path) -> None:
    schema = json.loads(planloom_data.schema("answer_key"))
    import jsonschema

    problem = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(raw))
    if problem is not None:
        raise BadBenchmark(f"{path}: {problem.json_path}: {problem.message}; build the benchmark again")


def _entry(raw: Mapping[str, Any]) -> KeyEntry:
    plain = {name: value for name, value in raw.items() if name != "examples"}
    return KeyEntry(**plain, examples_failed=raw["examples"]["failed"], examples_total=raw["examples"]["total"])
