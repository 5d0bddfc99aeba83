"""Whose code raised an error that planloom knows nothing of: a plugin's, or our own.

The innermost frame that is a plugin's or ours decides: what a plugin calls of a library fails for the plugin, and what
it calls of planloom for planloom. A traceback says this of everything that plugins bring, and costs nothing until
something fails.
"""

from __future__ import annotations

import dis
import re
import traceback
from types import ModuleType

from planlang import PlanFailed

from .data_classes import frozen
from .plugins import Registry

__all__ = ["Blamed", "blamed", "word_blamed"]

_OURS = frozenset(("planlang", "planloom", "planloom_code", "planloom_data"))
_MISUSED = (TypeError, ValueError)
_RAISE = dis.opmap["RAISE_VARARGS"]
_NAME = re.compile(r"[^\W\d]\w*")


@frozen
class Blamed:
    """A plugin whose code raised.

    :ivar place: its innermost line: module, line and function.
    """

    plugin: str
    distribution: str
    place: str


def blamed(registry: Registry, error: BaseException) -> Blamed | None:
    """Return the plugin whose code raised an error; ``None`` where it was planloom's own."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for one in error.exceptions if (found := blamed(registry, one))), None)
    plugins = {_package_of(plugin): name for name, plugin in registry.manager.list_name_plugin()}
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        module = str(frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        plugin = plugins.get(package, "")
        distribution = registry.distribution(plugin)
        if package in _OURS or distribution == "planloom":
            return None
        if plugin:
            return Blamed(plugin, distribution, f"{module}, line {line}, in {frame.f_code.co_name}")
    return None


def word_blamed(registry: Registry, fault: PlanFailed, source: str = "") -> str:
    """Return which plugin's word failed at some place of a plan and where; empty where the plan itself did.

    A word that is given what it cannot use says so by raising a ``ValueError`` or a ``TypeError``, which is the plan's
    to mend; whatever else leaves it is not.

    :param source: the plan, which says what the word is called; without it there is no name.
    """
    error = fault.__cause__
    if error is None or (type(error) in _MISUSED and _is_raised_on_purpose(error)):
        return ""
    found = blamed(registry, error)
    return f"the {_word_at(source, fault)} of the plugin {found.plugin} ({found.place})" if found else ""


def _package_of(plugin: object) -> str:
    name = plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__
    return name.partition(".")[0]


def _is_raised_on_purpose(error: BaseException) -> bool:
    """Return whether a ``raise`` raised it, and not what Python does of itself."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return step is not None and step.tb_frame.f_code.co_code[step.tb_lasti] == _RAISE


def _word_at(source: str, fault: PlanFailed) -> str:
    lines = source.splitlines()
    found = _NAME.match(lines[fault.line - 1], fault.column - 1) if fault.line <= len(lines) else None
    return f"word `{found[0]}`" if found else "word"
