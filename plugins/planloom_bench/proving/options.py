"""The doctest options that a library's own configuration asks for.

Read where pytest reads them: ``doctest_optionflags`` in pytest.ini, pyproject.toml, tox.ini and setup.cfg, in this
order; the first file that has any decides. A library as it is installed carries no such file.
"""

from __future__ import annotations

import configparser
import doctest
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["LENIENT", "configured_options", "flags_of"]

# What most libraries that configure anything ask for. An example that passes plain passes with them.
LENIENT = ("ELLIPSIS", "IGNORE_EXCEPTION_DETAIL", "NORMALIZE_WHITESPACE")
_KEY = "doctest_optionflags"
_INI_FILES = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))


def configured_options(folder: Path) -> tuple[str, ...] | None:
    """The names of the options that the configuration in a folder asks for; None where it says nothing."""
    found = [_from_ini(folder / name, section) for name, section in _INI_FILES[:2]]
    found.append(_from_toml(folder / "pyproject.toml"))
    found += [_from_ini(folder / name, section) for name, section in _INI_FILES[2:]]
    return next((options for options in found if options is not None), None)


def flags_of(names: Iterable[str]) -> int:
    """The bits of options by their names; names that only other runners know count for nothing."""
    flags = 0
    for name in names:
        flags |= doctest.OPTIONFLAGS_BY_NAME.get(name, 0)
    return flags


def _from_ini(path: Path, section: str) -> tuple[str, ...] | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
        return tuple(parser.get(section, _KEY).split())
    except (OSError, UnicodeDecodeError, configparser.Error):
        # A file that pytest could not read either asks for nothing.
        return None


def _from_toml(path: Path) -> tuple[str, ...] | None:
    try:
        raw: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    for part in ("tool", "pytest", "ini_options", _KEY):
        raw = raw.get(part) if isinstance(raw, dict) else None
    if isinstance(raw, str):
        return tuple(raw.split())
    return tuple(map(str, raw)) if isinstance(raw, list) else None
