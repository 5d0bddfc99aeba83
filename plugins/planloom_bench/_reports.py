"""What an audit reported, as far as a score needs it.

Findings come from planloom's own ``findings.json`` or from any other tool that writes a list of objects with a file and
a line. Paths are read as leniently as those of workers; what has no file or no line is counted and set aside.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import attrs

from planloom_code import FileNames

from ._errors import BadFindings


@attrs.frozen
class Reported:
    """One finding: a line of a file, the function it names (or none) and how sure it is, from 0 to 1."""

    file: str
    line: int
    function: str | None = None
    confidence: float = 0.5


@attrs.frozen
class Report:
    """All findings of one audit, the surest first, and how many items were no findings."""

    findings: tuple[Reported, ...]
    set_aside: int = 0


def load_report(path: Path, names: FileNames) -> Report:
    """The report that a JSON file holds.

    :raises BadFindings: the file cannot be read or holds no list of findings.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFindings(f"{path} cannot be read ({error.strerror}); give a findings.json") from error
    except ValueError as error:
        raise BadFindings(f"{path} is no JSON: {error}; give a findings.json") from error
    return read_report(raw, names)


def read_report(raw: object, names: FileNames) -> Report:
    """The report that a JSON value means: a list of findings, or an object with the list under ``findings``.

    :param names: the files of the benchmark; a path that means one of them is spelt like it.
    :raises BadFindings: the value is neither.
    """
    items = raw.get("findings") if isinstance(raw, Mapping) else raw
    if not isinstance(items, list):
        raise BadFindings(
            f"expected a list of findings or an object with `findings`, got {type(raw).__name__}; give a findings.json"
        )
    read = [_reported(item, names) for item in items]
    findings = [finding for finding in read if finding is not None]
    return Report(_surest_first(findings), len(read) - len(findings))


def _surest_first(findings: list[Reported]) -> tuple[Reported, ...]:
    return tuple(sorted(findings, key=lambda f: (-f.confidence, f.file, f.line, f.function or "")))


def _reported(item: object, names: FileNames) -> Reported | None:
    if not isinstance(item, Mapping):
        return None
    file, line, function = item.get("file"), _whole(item.get("line")), item.get("function")
    if not isinstance(file, str) or not file.strip() or line is None:
        return None
    named = function.strip() if isinstance(function, str) else ""
    return Reported(names.resolve(file) or file, line, named or None, _confidence(item.get("confidence")))


def _whole(value: object) -> int | None:
    """A line number, from 1, or None."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


def _confidence(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return 0.5
