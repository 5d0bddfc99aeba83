"""The licence of a library: as it states it, else as its licence file reads.

Statements are kept as they are written. Files are recognised by the few sentences that set the common licences apart;
what is not recognised is named by its file, for a person to read.
"""

from __future__ import annotations

import email.parser
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["find_licence"]

_FILE = re.compile(r"(?:un)?licen[cs]e|copying", re.IGNORECASE)
_LONGEST_STATEMENT = 80
_READ_CHARACTERS = 20_000
_CLASSIFIER = "License :: OSI Approved :: "
# Sentences of the licences' own texts, blanks made one; the first that is found decides, so the narrower come first.
_MARKS = (
    ("GNU AFFERO GENERAL PUBLIC LICENSE Version 3", "AGPL-3.0"),
    ("GNU LESSER GENERAL PUBLIC LICENSE Version 3", "LGPL-3.0"),
    ("GNU LESSER GENERAL PUBLIC LICENSE Version 2.1", "LGPL-2.1"),
    ("GNU GENERAL PUBLIC LICENSE Version 3", "GPL-3.0"),
    ("GNU GENERAL PUBLIC LICENSE Version 2", "GPL-2.0"),
    ("Mozilla Public License Version 2.0", "MPL-2.0"),
    ("Apache License Version 2.0", "Apache-2.0"),
    ("PYTHON SOFTWARE FOUNDATION LICENSE", "PSF-2.0"),
    ("This is free and unencumbered software released into the public domain", "Unlicense"),
    ("Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee", "ISC"),
    ("Permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"),
    ("endorse or promote products derived from", "BSD-3-Clause"),
    ("Redistributions in binary form must reproduce", "BSD-2-Clause"),
)


def find_licence(root: Path) -> str | None:
    """The licence of the library in a folder, None where nothing tells."""
    for metadata in (*sorted(root.glob("*.dist-info/METADATA")), root / "PKG-INFO"):
        stated = _from_metadata(_text(metadata))
        if stated:
            return stated
    return _from_project(_text(root / "pyproject.toml")) or _from_files(root)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:
        return ""


def _from_metadata(text: str) -> str | None:
    headers = email.parser.HeaderParser().parsestr(text)
    for name in ("License-Expression", "License"):
        stated = _statement(headers.get(name))
        if stated:
            return stated
    classifiers = headers.get_all("Classifier") or []
    return next((line.removeprefix(_CLASSIFIER) for line in classifiers if line.startswith(_CLASSIFIER)), None)


def _statement(value: object) -> str | None:
    """A statement is one short line; whole licences are sometimes written in its place."""
    text = value.strip() if isinstance(value, str) else ""
    return text if text and "\n" not in text and len(text) <= _LONGEST_STATEMENT and text != "UNKNOWN" else None


def _from_project(text: str) -> str | None:
    try:
        project: Any = tomllib.loads(text).get("project")
    except tomllib.TOMLDecodeError:
        return None
    licence = project.get("license") if isinstance(project, Mapping) else None
    return _statement(licence.get("text") if isinstance(licence, Mapping) else licence)


def _from_files(root: Path) -> str | None:
    for path in _licence_files(root):
        text = " ".join(_text(path)[:_READ_CHARACTERS].split()).casefold()
        found = next((name for mark, name in _MARKS if mark.casefold() in text), None)
        return found or f"see {path.name}"
    return None


def _licence_files(root: Path) -> Iterator[Path]:
    yield from sorted(
        path for path in root.iterdir() if _FILE.match(path.name) and path.suffix != ".py" and path.is_file()
    )
