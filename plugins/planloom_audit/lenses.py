"""Lenses and skeptics: the two things that people add to an audit."""

from __future__ import annotations

import re
from importlib.resources import files

import attrs

from planloom.data_classes import frozen

__all__ = ["Lens", "Skeptic", "own_lenses", "own_skeptics"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LONGEST_PARAGRAPH = 1_500


def _valid_name(instance: object, attribute: object, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"`{name}` cannot be written in a plan: use snake case of at most 40 characters")


def _short_enough(instance: object, attribute: object, text: str) -> None:
    if len(text) > _LONGEST_PARAGRAPH:
        raise ValueError(f"a lens's paragraph has at most {_LONGEST_PARAGRAPH} characters, this one has {len(text)}")


@frozen
class Lens:
    """A paragraph that points a scan worker at one family of mistakes; empty for no particular one."""

    name: str = attrs.field(validator=_valid_name)
    paragraph: str = attrs.field(validator=_short_enough)


@frozen
class Skeptic:
    """A worker that is told that most reports are false alarms: its name and its whole instruction."""

    name: str = attrs.field(validator=_valid_name)
    prompt: str


def own_lenses() -> tuple[Lens, ...]:
    """Return the lenses that ship with the kit, read from its files."""
    return tuple(Lens(name, text) for name, text in _texts("lenses"))


def own_skeptics() -> tuple[Skeptic, ...]:
    """Return the skeptics that ship with the kit, read from its files."""
    return tuple(Skeptic(name, text) for name, text in _texts("skeptics"))


def _texts(folder: str) -> list[tuple[str, str]]:
    found = (entry for entry in files("planloom_audit").joinpath(folder).iterdir() if entry.name.endswith(".md"))
    return sorted((entry.name.removesuffix(".md"), entry.read_text(encoding="utf-8").strip()) for entry in found)
