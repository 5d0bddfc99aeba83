"""Findings as other tools write them in JSON of their own: where the list is, and where in an item are file and line.

Tables of places, not of tools, so that the next tool is likely read too: the reports of ruff, pylint, bandit, mypy,
pyright, semgrep and Code Climate are. Editors count lines from 0 in ranges; all others count from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["file_in", "line_in", "list_in", "rule_in"]

_LISTS = ("findings", "results", "messages", "issues", "diagnostics", "generalDiagnostics", "violations")
_FILES = (
    *(("file",), ("path",), ("filename",), ("file_path",)),
    *(("location", "path"), ("location", "file"), ("location", "filename")),
)
_LINES = (
    *(("line",), ("row",), ("line_number",), ("lineno",), ("start_line",), ("startLine",)),
    *(("start", "line"), ("location", "row"), ("location", "line"), ("location", "start", "line")),
    *(("location", "start", "row"), ("location", "lines", "begin")),
)
_LINES_FROM_0 = (("range", "start", "line"), ("location", "range", "start", "line"))
_RULES = (("rule",), ("code",), ("rule_id",), ("check_id",), ("test_id",), ("check_name",), ("message-id",))


def list_in(raw: object) -> list[Any] | None:
    """The list of items that a JSON value is or holds, or None."""
    if isinstance(raw, Mapping):
        raw = next((raw[name] for name in _LISTS if isinstance(raw.get(name), list)), None)
    return raw if isinstance(raw, list) else None


def file_in(item: Mapping[Any, Any]) -> object:
    """What an item gives as its file."""
    return _first(item, _FILES)


def line_in(item: Mapping[Any, Any]) -> object:
    """What an item gives as its line, from 1."""
    line = _first(item, _LINES)
    if line is not None:
        return line
    line = _first(item, _LINES_FROM_0)
    return line + 1 if isinstance(line, int) and not isinstance(line, bool) else line


def rule_in(item: Mapping[Any, Any]) -> object:
    """What an item gives as the rule behind it."""
    return _first(item, _RULES)


def _first(item: Mapping[Any, Any], places: tuple[tuple[str, ...], ...]) -> object:
    found = (_at(item, place) for place in places)
    return next((value for value in found if value is not None and not isinstance(value, Mapping)), None)


def _at(value: object, place: tuple[str, ...]) -> object:
    for name in place:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
