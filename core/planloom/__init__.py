"""planloom: plans written by models, checked, priced and metered before they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import (
    AuthenticationFailed,
    CacheMiss,
    ConfigurationError,
    DuplicateNameError,
    JournalDiverged,
    Misuse,
    NothingToDo,
    PlanHeld,
    PlanloomError,
    PlanRefused,
    PluginError,
    PluginFailed,
    RunAborted,
    Runaway,
    RunCancelled,
    RunStopped,
    RunTaken,
    SpendRefused,
    StoreError,
    StoreFull,
    StoreGone,
    StoreLocked,
    StoreTooNew,
    UnknownNameError,
    did_you_mean,
)
from .late import late_names
from .money import Price, Usage

if TYPE_CHECKING:
    from ._proposals import Proposal
    from .api import Plan, Planloom, Run, open  # noqa: A004 - read as `planloom.open`
    from .outcomes import Outcome

__all__ = [
    "AuthenticationFailed",
    "CacheMiss",
    "ConfigurationError",
    "DuplicateNameError",
    "JournalDiverged",
    "Misuse",
    "NothingToDo",
    "Outcome",
    "Plan",
    "PlanHeld",
    "PlanRefused",
    "Planloom",
    "PlanloomError",
    "PluginError",
    "PluginFailed",
    "Price",
    "Proposal",
    "Run",
    "RunAborted",
    "RunCancelled",
    "RunStopped",
    "RunTaken",
    "Runaway",
    "SpendRefused",
    "StoreError",
    "StoreFull",
    "StoreGone",
    "StoreLocked",
    "StoreTooNew",
    "UnknownNameError",
    "Usage",
    "did_you_mean",
    "open",
]

__getattr__ = late_names(
    __name__, {"_proposals": ("Proposal",), "api": ("Plan", "Planloom", "Run", "open"), "outcomes": ("Outcome",)}
)
