"""A plan as a program names it: by its text, a file, or a saved plan's name."""

from __future__ import annotations

import os
from pathlib import Path

from ._errors import Misuse, did_you_mean
from ._given_files import text_of
from .data_classes import frozen
from .kits import Kit
from .plugins import Registry
from .settings import Settings

__all__ = ["GivenPlan", "Plan", "plan_given"]


@frozen
class Plan:
    """A plan's text.

    :ivar name: what it is called in messages; a run of it has the last part as its title, without an ending.
    """

    source: str
    name: str

    @property
    def title(self) -> str:
        """What a run of it is called, unless somebody says otherwise."""
        return Path(self.name).stem


GivenPlan = str | os.PathLike[str] | Plan
"""What names a plan: its text, a file, a saved plan's name, or a :class:`Plan`."""


def plan_given(registry: Registry, settings: Settings, given: GivenPlan) -> Plan:
    """Return the plan that is named.

    :raises Misuse: it is neither text nor a saved plan's name, and no file that can be read.
    """
    if isinstance(given, Plan):
        return given
    from .saved_plans import saved_plans  # brings all that runs one

    known = saved_plans(registry.all("kit", Kit).values(), settings)
    if isinstance(given, str) and given in known:
        return Plan(known[given].source, given)
    if isinstance(given, str) and (not given.strip() or "\n" in given or "=" in given):
        return Plan(given, "plan")
    path = Path(given)
    try:
        return Plan(text_of(path), str(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        saved = did_you_mean(str(given), known)
        raise Misuse(
            f"cannot read the plan {path}: {reason}; name a plan file or a saved plan ({saved}), or give its text"
        ) from error
