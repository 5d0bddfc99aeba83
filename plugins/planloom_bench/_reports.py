"""What an audit reported, as far as a score needs it.

Findings come from planloom's own ``findings.json``, from SARIF, or from any tool that writes JSON objects with a file
and a line, as a list or one a line; compressed by gzip or not. Paths are read as leniently as those of workers; what
has no file or no line is counted and set aside.
"""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from planloom.wording import counted
from planloom_code import FileNames

from ._errors import BadFindings
from ._plain import file_in, line_in, list_in, rule_in
from ._sarif import is_sarif, items_of

__all__ = ["Report", "Reported", "load_report", "read_report"]

# No file has more lines; longer numbers cannot even be printed.
_LAST_LINE = 10**9
# A mark of byte order tells that a text is UTF-16; PowerShell writes all that a program prints so.
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_GZIP = b"\x1f\x8b"
_WHAT = "give a findings.json, a SARIF file or a JSON list of objects with `file` and `line`"


@attrs.frozen
class Reported:
    """One finding: a line of a file, the function it names (or none), how sure it is, from 0 to 1, and its rule."""

    file: str
    line: int
    function: str | None = None
    confidence: float = 0.5
    rule: str | None = None


@attrs.frozen
class Report:
    """All findings of one audit, the surest first, and how many items were no findings."""

    findings: tuple[Reported, ...]
    set_aside: int = 0


def load_report(path: Path, names: FileNames, audited: Path | None = None) -> Report:
    """The report that a file holds.

    :param audited: the folder that was audited; an absolute path below it means the very file.
    :raises BadFindings: the file cannot be read or holds no list of findings.
    """
    raw = _parsed(_text_of(path), path)
    report = read_report(raw, names, audited)
    if report.set_aside and not report.findings and not is_sarif(raw):
        raise BadFindings(f"{path} holds {counted(report.set_aside, 'item')}, none with a file and a line; {_WHAT}")
    return report


def _text_of(path: Path) -> str:
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
        # Some tools write a mark of byte order before their JSON.
        return data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFindings(f"{path} is no UTF-8 text ({error.reason}); {_WHAT}") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadFindings(f"{path} cannot be read ({reason}); {_WHAT}") from error


def _parsed(text: str, path: Path) -> object:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise BadFindings(f"{path} is nested too deeply; {_WHAT}") from error
    except ValueError as error:
        try:
            lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            lines = []
        if len(lines) > 1:
            return lines
        raise BadFindings(f"{path} is no JSON: {error}; {_WHAT}") from error


def read_report(raw: object, names: FileNames, audited: Path | None = None) -> Report:
    """The report that a JSON value means: a list of findings, an object that holds one, or SARIF.

    :param names: the files of the benchmark; a path that means one of them is spelt like it.
    :param audited: the folder that was audited; an absolute path below it means the very file.
    :raises BadFindings: the value is none of these.
    """
    if is_sarif(raw):
        if str(raw.get("version")).startswith("1."):
            raise BadFindings(f"expected SARIF 2.1.0, got {raw['version']}; have the tool write 2.1.0")
        items: list[Any] | None = list(items_of(raw))
    else:
        items = list_in(raw)
    if items is None:
        raise BadFindings(
            f"expected a list of findings, an object with `findings` or SARIF, got {type(raw).__name__}; {_WHAT}"
        )
    root = "" if audited is None else audited.resolve().as_posix() + "/"
    read = [_reported(item, names, root) for item in items]
    findings = [finding for finding in read if finding is not None]
    # Among equals the report's own order stays: it may mean something.
    findings.sort(key=lambda finding: -finding.confidence)
    return Report(tuple(findings), len(read) - len(findings))


def _reported(item: object, names: FileNames, root: str) -> Reported | None:
    if not isinstance(item, Mapping):
        return None
    file, line = file_in(item), _whole(line_in(item))
    if not isinstance(file, str) or not file.strip() or line is None:
        return None
    return Reported(
        file=_path(file, names, root),
        line=line,
        function=_text(item.get("function")),
        confidence=_confidence(item.get("confidence")),
        rule=_text(rule_in(item)),
    )


def _path(file: str, names: FileNames, root: str) -> str:
    if root and file.startswith(root):
        return file.removeprefix(root)
    return names.resolve(file) or file


def _text(value: object) -> str | None:
    return (value.strip() or None) if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    """A line number, from 1, or None."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) < len(str(_LAST_LINE)):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value < _LAST_LINE else None


def _confidence(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return 0.5
