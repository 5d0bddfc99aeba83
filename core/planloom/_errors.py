"""Everything planloom tells a person went wrong, with the exit code that goes with it.

PlanloomError                  exit 1; its text is for the user and is printed without a traceback
├── Misuse                     2   a command or a call was used wrongly
│   ├── ConfigurationError     2   a setting is missing, misspelled or out of range
│   │   └── RoleLacks          2   a plan asks a role that is not configured
│   ├── UnknownNameError       2   nothing of that kind is registered under that name
│   └── DuplicateNameError     2   two plugins brought the same name
├── PluginError                2   a plugin cannot be loaded or broke a hook's contract
│   └── PluginFailed           1   what a plugin brought raised
├── NothingToDo                7   there is no work: no source files
├── PlanRefused                6   refused by the check, the rehearsal or the gate
├── PlanHeld                   4   waits for a person's approval
├── StoreError                 1   the store cannot be read or written
│   ├── StoreLocked            1   another process holds it and does not let go
│   ├── StoreFull              1   the disk is full
│   ├── StoreGone              1   its file was deleted or replaced while it was open
│   ├── RunTaken               1   the run that was to be written is another process's by now
│   └── StoreTooNew            2   a newer planloom wrote it
├── ModelError                 1   a model call failed (see ``planloom.clients``)
└── RunAborted                 1   ends the whole run at once; no plan can catch it
    ├── SpendRefused           2   an unknown question and no client to pay with
    ├── CacheMiss              1   replay met a question the ledger has no answer to
    ├── RunFailed              as its cause: the store or the configuration failed in mid-run
    ├── RunCancelled           130 the person stopped the run
    ├── RunStopped             5   stopped at the budget; everything is kept
    │   └── TakenOver          5   another process drives the run by now
    ├── AuthenticationFailed   2   the endpoint refuses the key or does not know the model
    ├── JournalDiverged        1   what would go on is not what was begun
    └── Runaway                9   the plan asked for twice the workers a run may have
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from planlang import PlanAborted

__all__ = [
    "AuthenticationFailed",
    "CacheMiss",
    "ConfigurationError",
    "DuplicateNameError",
    "JournalDiverged",
    "Misuse",
    "NothingToDo",
    "PlanHeld",
    "PlanRefused",
    "PlanloomError",
    "PluginError",
    "PluginFailed",
    "RoleLacks",
    "RunAborted",
    "RunCancelled",
    "RunFailed",
    "RunStopped",
    "RunTaken",
    "Runaway",
    "SpendRefused",
    "StoreError",
    "StoreFull",
    "StoreGone",
    "StoreLocked",
    "StoreTooNew",
    "TakenOver",
    "UnknownNameError",
    "did_you_mean",
    "listed_differences",
]


_NAMES_SHOWN = 20
_SIDE_LENGTH = 200


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `` did you mean `x`?`` when a name is near, else a list of what there is, of many the first twenty."""
    from difflib import get_close_matches

    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        return f"did you mean `{near[0]}`?"
    if not names:
        return "there are none"
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f"there are: {', '.join(names[:_NAMES_SHOWN])}{more}"


class PlanloomError(Exception):
    """A fault whose text says what happened, where, and what to do next.

    :cvar exit_code: the exit code of a command that ends with it.
    """

    exit_code = 1


class Misuse(PlanloomError):
    """A command or a call was used in a way that cannot work."""

    exit_code = 2


class ConfigurationError(Misuse):
    """A setting is missing, misspelled or out of range."""


class RoleLacks(ConfigurationError):
    """A plan asks a role that is not configured.

    :param source: of the configuration. :param configured: the roles that are.
    """

    def __init__(self, role: str, source: str, configured: Iterable[str]) -> None:
        self.role, self.configured = role, tuple(configured)
        super().__init__(
            f"the plan uses the role `{role}`, which {source} does not configure; add a table [roles.{role}] with "
            f"`endpoint`, `model` and `price` (configured: {', '.join(self.configured) or 'none'})"
        )


class UnknownNameError(Misuse):
    """Nothing of that kind is registered under that name.

    :param where_none: what to do where nothing of that kind is known at all.
    """

    def __init__(self, noun: str, name: str, known: Iterable[str], where_none: str = "") -> None:
        self.noun, self.name = noun, name
        names = tuple(known)
        advice = did_you_mean(name, names) if names or not where_none else where_none
        super().__init__(f"no {noun} is named `{name}`; {advice}")


class DuplicateNameError(Misuse):
    """Two plugins brought the same name."""

    def __init__(self, noun: str, name: str, first: str, second: str) -> None:
        self.noun, self.name, self.plugins = noun, name, (first, second)
        super().__init__(
            f"two plugins bring a {noun} named `{name}`: {first} and {second}; uninstall or rename one of them"
        )


class PluginError(PlanloomError):
    """A plugin cannot be loaded, or it broke the contract of a hook.

    :ivar plugin: the name of the plugin that is to blame, empty where it is not one alone.
    :ivar raised: what its own code raised, where that is what happened.
    """

    exit_code = 2

    def __init__(self, text: str, *, plugin: str = "", raised: Exception | None = None) -> None:
        self.plugin, self.raised = plugin, raised
        super().__init__(text)


class PluginFailed(PluginError):
    """What a plugin brought raised something that planloom knows nothing of.

    :param what: what it is: ``the exporter `pdf```. :param plugin: the name of the plugin that brought it.
    """

    exit_code = 1

    def __init__(self, what: str, plugin: str, raised: Exception) -> None:
        text = f"{what} of the plugin {plugin} failed: {raised_told(raised)}"
        super().__init__(text, plugin=plugin, raised=raised)


def raised_told(error: Exception) -> str:
    """Return an error's class and what it says, which may be nothing."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


class NothingToDo(PlanloomError):
    """There is no work to do."""

    exit_code = 7


class PlanRefused(PlanloomError):
    """The check, the rehearsal or the gate refused the plan."""

    exit_code = 6


class PlanHeld(PlanloomError):
    """The plan waits for a person's approval."""

    exit_code = 4


class StoreError(PlanloomError):
    """The store cannot be read or written."""


class StoreLocked(StoreError):
    """Another process holds the store and does not let go of it."""


class StoreFull(StoreError):
    """The disk is full."""


class StoreGone(StoreError):
    """The store was deleted or replaced while it was open."""


class RunTaken(StoreError):
    """A run was to be written by a process that does not drive it, while or since another one does."""


class StoreTooNew(StoreError):
    """A newer planloom wrote the store."""

    exit_code = 2


class RunAborted(PlanloomError, PlanAborted):
    """Ends the whole run at once; no plan can catch it."""


class SpendRefused(RunAborted):
    """An unknown question, and no client to pay with."""

    exit_code = 2


class CacheMiss(RunAborted):
    """Replay met a question that the ledger has no answer to."""


class RunFailed(RunAborted):
    """Something other than a model failed in mid-run; its text and exit code are those of the cause."""

    def __init__(self, cause: PlanloomError) -> None:
        super().__init__(str(cause))
        self.exit_code = cause.exit_code


class RunCancelled(RunAborted):
    """The person stopped the run."""

    exit_code = 130


class RunStopped(RunAborted):
    """The run stopped at the budget; everything is kept."""

    exit_code = 5


class TakenOver(RunStopped):
    """This process was away for longer than its lease, and another one drives the run by now."""


class AuthenticationFailed(RunAborted):
    """The endpoint refuses the key, or does not know the model."""

    exit_code = 2


class JournalDiverged(RunAborted):
    """What would go on is not what was begun: a run's record says one thing, and its plan, work or settings another.

    :ivar place: where the first difference is: a place in the plan, or what of the job changed (``args.mode``).
    :ivar then: what the record says. :ivar now: what is the case. :ivar more: further differences as such triples.
    :ivar run: the run's id.
    """

    def __init__(self, place: str, then: Any, now: Any, more: Sequence[tuple[str, Any, Any]] = (), *, run: str) -> None:
        self.place, self.then, self.now, self.more, self.run = place, then, now, tuple(more), run
        super().__init__(
            "the run cannot go on as it was begun, since this is not what its record says:\n"
            f"{listed_differences([(place, then, now), *self.more])}\n"
            f"put it back as it was, or make a new run of what is there now with `planloom resume {run} --as-new-run`, "
            "which pays for no answer that still fits"
        )


def listed_differences(rows: Sequence[tuple[str, Any, Any]]) -> str:
    """Return a line each of what differs: where, and both sides. Of very many the first are listed."""
    shown = [f"{where}: then {_side(before)}, now {_side(after)}" for where, before, after in rows[:_NAMES_SHOWN]]
    hidden = [f"and {len(rows) - _NAMES_SHOWN} more"] if len(rows) > _NAMES_SHOWN else []
    return "\n".join(f"  {line}" for line in (*shown, *hidden))


def _side(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SIDE_LENGTH else f"{text[:_SIDE_LENGTH]}…"


class Runaway(RunAborted):
    """The plan asked for twice the workers that a run may have."""

    exit_code = 9
