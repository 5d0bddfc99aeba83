"""A job as a program names it: a plan, what it works on, its arguments and its budget."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._errors import Misuse
from ._given_plan import Plan
from ._given_values import given_args, given_count, given_credits
from .job import Job, plan_hash
from .jobs import check_target, kits_in
from .kits import Kit
from .plugins import Registry
from .settings import Settings
from .targets import target_facts
from .visible import visible

__all__ = ["given_job", "given_kits"]


def given_kits(
    registry: Registry, settings: Settings, plan: Plan, kit: str | None, target: str | os.PathLike[str] | None
) -> tuple[Kit, ...]:
    """Return the kits of a plan's run: those whose words it uses, and one that is asked for besides.

    :raises Misuse: they lack something to work on, or nothing works on what there is.
    :raises PlanRefused: the plan uses no kit because the check finds problems.
    """
    path = "" if target is None else os.fspath(target)
    if kit is None:
        check_target(registry, settings, plan.source, plan.name, path, "`target`")
    elif not path:
        raise Misuse(f"the kit {kit} has nothing to work on; say what with `target`")
    kits = kits_in(registry, settings, plan.source)
    if kit is not None and kit not in [one.name for one in kits]:
        kits = (*kits, registry.get("kit", kit, Kit))
    return kits


def given_job(
    registry: Registry,
    settings: Settings,
    plan: Plan,
    *,
    kit: str | None = None,
    target: str | os.PathLike[str] | None = None,
    args: Mapping[str, Any] | None = None,
    cap: float | None = None,
    title: str | None = None,
    repeat: int = 1,
    refresh: bool = False,
) -> Job:
    """Return the job with its work opened, which may take a while.

    :param cap: in credits, the configured one when ``None``. :param repeat: which repeat of the job, from 1.
    :raises Misuse: a value cannot be used, or as :func:`given_kits` says. :raises NothingToDo: there is no work.
    """
    credit_cap = settings.cap if cap is None else given_credits("cap", cap)
    given, number = given_args({} if args is None else args), given_count("repeat", repeat)
    kits = given_kits(registry, settings, plan, kit, target)
    # Whole from here on: who opens the work again, perhaps elsewhere, must hand the kits the very same path.
    path = str(Path(target).resolve()) if target else ""
    return Job(
        title=title or plan.title,
        kits=kits,
        works={one.name: one.open(path, {}) for one in kits} if path else {},
        target=visible(path),
        plan=plan_hash(plan.source),
        args=given,
        cap=credit_cap,
        repeat=number - 1,
        refresh=refresh,
        facts=target_facts(path, visible(path)),
    )
