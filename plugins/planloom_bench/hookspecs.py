"""The hooks of the bench, for other plugins to implement."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from planloom.hookspecs import hookspec

if TYPE_CHECKING:
    from .scorers import Scorer

__all__ = ["register_scorers"]


@hookspec
def register_scorers(register: Callable[[Scorer], None]) -> None:
    """Offer rules for when a finding counts for a planted bug.

    :param register: Call once a rule. ``scorer.name`` is what ``planloom bench score --scorer`` takes.

    Since hook API 1.
    """
