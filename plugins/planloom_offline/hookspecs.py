"""The hook that this plugin brings. Hook API 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from planloom.hookspecs import hookspec

if TYPE_CHECKING:
    from .rules import Rule

__all__ = ["register_rules"]


@hookspec
def register_rules(register: Callable[[Rule], None]) -> None:
    """Offer rules that the offline analyst runs on every scan.

    Called once a process, before any scan. Every implementation runs, in no promised order. Must not block or touch
    the network.

    :param register: Call once a rule. ``rule.name`` heads every claim in brackets: kebab case, unique across plugins.
        ``rule.check`` is a function at the top level of an importable module, because scans run in other processes; it
        reads the parsed file it is given and nothing else. State ``bugs`` and ``reports`` from a measurement or leave
        both at 0: every finding cites them.
    :returns: Nothing; returned values are ignored.
    :raises DuplicateNameError: From ``register``, naming both plugins.

    Since hook API 1.
    """
