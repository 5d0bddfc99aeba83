"""The hooks of the bench, for other plugins to implement."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from planloom.hookspecs import hookspec

if TYPE_CHECKING:
    from .mutators import Mutator
    from .scorers import Scorer

__all__ = ["register_mutators", "register_scorers"]


@hookspec
def register_mutators(register: Callable[[Mutator], None]) -> None:
    """Offer kinds of one-line edits that ``planloom bench build`` may plant.

    An edit is taken only when it stays in one line of one function, still parses, and the file's examples notice it.

    :param register: Call once a kind. ``mutator.name`` is the kind that keys name: snake case, unique across plugins.

    Since hook API 1.
    """


@hookspec
def register_scorers(register: Callable[[Scorer], None]) -> None:
    """Offer rules for when a finding counts for a planted bug.

    :param register: Call once a rule. ``scorer.name`` is what ``planloom bench score --scorer`` takes.

    Since hook API 1.
    """
