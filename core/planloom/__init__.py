"""planloom: plans written by models, checked, priced and metered before they run."""

from __future__ import annotations

from ._errors import (
    AuthenticationFailed,
    CacheMiss,
    ConfigurationError,
    DuplicateNameError,
    Misuse,
    NothingToDo,
    PlanHeld,
    PlanloomError,
    PlanRefused,
    PluginError,
    RunAborted,
    Runaway,
    RunCancelled,
    RunStopped,
    SpendRefused,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreTooNew,
    UnknownNameError,
    did_you_mean,
)
from .money import Price, Usage

__all__ = [
    "AuthenticationFailed",
    "CacheMiss",
    "ConfigurationError",
    "DuplicateNameError",
    "Misuse",
    "NothingToDo",
    "PlanHeld",
    "PlanRefused",
    "PlanloomError",
    "PluginError",
    "Price",
    "RunAborted",
    "RunCancelled",
    "RunStopped",
    "Runaway",
    "SpendRefused",
    "StoreError",
    "StoreFull",
    "StoreLocked",
    "StoreTooNew",
    "UnknownNameError",
    "Usage",
    "did_you_mean",
]
