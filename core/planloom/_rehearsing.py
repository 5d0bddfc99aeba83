"""A plan rehearsed for who only wants to know: nothing begins, so no gate is asked and nothing is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._given_job import given_job, given_kits
from ._given_plan import Plan
from ._in_thread import in_thread
from ._room import room_for
from .jobs import compile_plan, default_price
from .rehearsal import Rehearsal, rehearse
from .words import build_vocabulary

if TYPE_CHECKING:
    from .loom import Loom

__all__ = ["rehearse_given"]


async def rehearse_given(loom: Loom, plan: Plan, takes: int | None, wanted: Mapping[str, Any]) -> Rehearsal:
    """Return what a plan would need if it were begun now; whether it may begin is not asked.

    :param takes: how many rehearsals, as many as fit its size when ``None``.
    :param wanted: what :func:`given_job` takes of a job.
    :raises PlanRefused: the check found problems. :raises Misuse: as :func:`given_job` says.
    """
    registry, settings = loom.registry, loom.settings
    kits = given_kits(registry, settings, plan, wanted.get("kit"), wanted.get("target"))
    program, _ = compile_plan(plan.source, build_vocabulary(registry, settings, kits), plan.name)
    job = await in_thread(given_job, registry, settings, plan, **wanted)
    room = room_for(loom, job, plan.source)
    return await in_thread(
        rehearse,
        program,
        registry=registry,
        settings=settings,
        works=job.works,
        prices=default_price if settings.offline else lambda role: settings.role(role).price,
        budget=room.left_of_job,
        seen=room.left,
        recorded=room.recorded,
        args=job.args,
        takes=takes,
    )
