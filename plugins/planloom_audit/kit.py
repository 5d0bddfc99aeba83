"""The audit kit: its words, values, prompts, saved plans and work, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from planloom import ConfigurationError, did_you_mean
from planloom.kits import Finished, Kit, KitWork, Prompt, SavedPlan
from planloom.prompts import resolved_prompt

from .lenses import Lens, Skeptic, own_lenses, own_skeptics

if TYPE_CHECKING:
    from planlang import Value, Word
    from planloom.plugins import Registry
    from planloom.settings import Settings

__all__ = ["AUDIT", "DEFAULT_LENSES"]

DEFAULT_LENSES = ("boundaries", "logic", "state")
"""What ``LENSES`` holds unless configured: installing a lens makes it callable by name, not part of every plan."""

_ROLES = ("lead", "worker", "judge", "fast")
_SETTINGS = ("lenses", "wide")


def _vocabulary(registry: Registry, settings: Settings) -> Sequence[Word | Value]:
    from .words_find import find_words
    from .words_judge import judge_words
    from .words_report import report_words
    from .words_source import source_words

    lenses = {lens.name: _lens(lens, settings) for lens in registry.all("lens", Lens).values()}
    skeptics = {skeptic.name: _skeptic(skeptic, settings) for skeptic in registry.all("skeptic", Skeptic).values()}
    own = settings.kits.get("audit", {})
    for key in own:
        if key not in _SETTINGS:
            raise ConfigurationError(f"kits.audit.{key} is not a setting; {did_you_mean(key, _SETTINGS)}")
    return [
        *source_words(_configured_lenses(own, lenses)),
        *find_words(resolved_prompt(AUDIT, "scan", settings), lenses, _ROLES, wide=settings.offline and _wide(own)),
        *judge_words(skeptics, _ROLES),
        *report_words(resolved_prompt(AUDIT, "report", settings), _ROLES),
    ]


def _lens(lens: Lens, settings: Settings) -> Lens:
    """Return a lens with the project's own paragraph, where there is one."""
    name = f"lens.{lens.name}"
    if f"audit.{name}" not in settings.prompts:
        return lens
    try:
        return Lens(lens.name, resolved_prompt(AUDIT, name, settings).text.strip())
    except ValueError as error:
        raise ConfigurationError(f"{settings.source}: prompts.audit.{name}: {error}; shorten it") from error


def _skeptic(skeptic: Skeptic, settings: Settings) -> Skeptic:
    """Return a skeptic with the project's own prompt, where there is one."""
    name = f"skeptic.{skeptic.name}"
    if f"audit.{name}" not in settings.prompts:
        return skeptic
    return Skeptic(skeptic.name, resolved_prompt(AUDIT, name, settings).text)


def _wide(own: Mapping[str, Any]) -> bool:
    """Whether offline rules with more false alarms are asked for."""
    wide = own.get("wide", False)
    if not isinstance(wide, bool):
        raise ConfigurationError(f"kits.audit.wide is {wide!r}; write true or false")
    return wide


def _configured_lenses(own: Mapping[str, Any], lenses: Mapping[str, Lens]) -> tuple[str, ...]:
    names = own.get("lenses", DEFAULT_LENSES)
    if not isinstance(names, list | tuple) or not names:
        raise ConfigurationError(f"kits.audit.lenses is {names!r}; write a list of lens names")
    for name in names:
        if not isinstance(name, str) or name not in lenses:
            raise ConfigurationError(f"kits.audit.lenses names no lens: `{name}`; {did_you_mean(str(name), lenses)}")
    # A lens named twice would pay for the same answers twice.
    return tuple(dict.fromkeys(names))


def _open(target: str, options: Mapping[str, Any]) -> KitWork:
    from .work import open_work

    return open_work(target, options)


def _finish(finished: Finished) -> int:
    from .finishing import report_on

    return report_on(finished)


def _prompts() -> tuple[Prompt, ...]:
    """Return every text that a worker of the kit is told, as it ships."""
    texts = [(name, _text("prompts", f"{name}.md")) for name in ("scan", "report", "lead")]
    texts += [(f"lens.{lens.name}", lens.paragraph) for lens in own_lenses() if lens.paragraph]
    texts += [(f"skeptic.{skeptic.name}", skeptic.prompt) for skeptic in own_skeptics()]
    return tuple(Prompt(name=name, text=text) for name, text in texts)


def _text(folder: str, name: str) -> str:
    return files("planloom_audit").joinpath(folder, name).read_text(encoding="utf-8").strip() + "\n"


AUDIT = Kit(
    name="audit",
    version=version("planloom"),
    summary="audits a code base for behaviour bugs",
    vocabulary=_vocabulary,
    open=_open,
    prompts=_prompts(),
    saved_plans=(
        SavedPlan(name="fixed", title="three lenses, three skeptics", source=_text("plans", "fixed.plan")),
        SavedPlan(name="fit", title="fits itself to the budget", source=_text("plans", "fit.plan")),
    ),
    roles=_ROLES,
    job="Find the behaviour bugs of this code base: for each its file, its line and a call that shows it.",
    finish=_finish,
)
