"""The audit kit's own hooks: what a scan looks for, and who doubts what it found. Hook API 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from planloom.hookspecs import hookspec

if TYPE_CHECKING:
    from .lenses import Lens, Skeptic


@hookspec
def register_lenses(register: Callable[[Lens], None]) -> None:
    """Offer scan lenses that plans can call by name.

    Called once a process, before any plan is checked. Every implementation runs, in no promised order. Must not block
    or touch the network.

    :param register: Call once a lens. ``lens.name`` is what plans write: snake case, at most 40 characters, unique
        across kits. ``lens.paragraph`` is added to the scan instruction: plain text, at most 1,500 characters.
    :returns: Nothing; returned values are ignored.
    :raises DuplicateNameError: From ``register``, naming both plugins.

    Since hook API 1.
    """


@hookspec
def register_skeptics(register: Callable[[Skeptic], None]) -> None:
    """Offer skeptics that plans can call by name with ``check(batch, skeptic="...")``.

    :param register: Call once a skeptic. ``skeptic.prompt`` is its whole instruction: it is told what a numbered report
        looks like and must ask for JSON of the verdicts schema.
    :returns: Nothing; returned values are ignored.
    :raises DuplicateNameError: From ``register``, naming both plugins.

    Since hook API 1.
    """
