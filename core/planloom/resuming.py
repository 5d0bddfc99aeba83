"""A stored run made ready to go on: its job opened again, and compared with what the run's record says.

What a run comes to is decided by its plan, its arguments, its work, its kits with their prompts and settings, and what
the roles it uses are asked. Each of these is stored with the run. Where one is no longer what it was, going on would
mix two jobs in one record; every difference is named then, and the person may make a new run of what is there now. A
role that never had an answer in the run may be mended: nothing can be mixed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

import attrs

from planlang import Program

from ._errors import JournalDiverged, Misuse, PlanRefused
from .data_classes import frozen
from .former import Former, read_former
from .job import Job, books_of, job_facts
from .jobs import compile_plan
from .kits import Kit
from .money import Spent
from .plugins import Registry
from .saved_plans import plans_called
from .settings import Settings
from .status import driven_text, status_now
from .stores import RunRow, Store
from .targets import target_of
from .words import build_vocabulary

__all__ = [
    "Reopened",
    "cap_of",
    "changed_since",
    "check_resumable",
    "is_whole",
    "job_of",
    "lacks_nothing",
    "reopen",
    "unapproved",
]

Difference = tuple[str, Any, Any]

_GONE = "(none)"
_HASH_SHOWN = 12


@frozen(kw_only=True)
class Reopened:
    """A run ready to go on.

    :ivar former: what it is so far. :ivar roles: those that it uses.
    :ivar workers: how many workers it may have. :ivar planned: what planning cost.
    """

    job: Job
    source: str
    program: Program
    former: Former
    roles: tuple[str, ...]
    workers: int
    planned: Spent


def check_resumable(store: Store, row: RunRow, workers: int) -> None:
    """Return when a run can go on and nobody drives it.

    :param workers: how many workers it may have from now on.
    :raises Misuse: somebody drives it, it needs more workers than it may have, or no plan was written for it yet.
    :raises PlanRefused: its plan was refused.
    """
    holder = store.driver(row.id)
    if holder is not None:
        raise Misuse(driven_text(row.id, holder))
    status = status_now(store, row)
    if status == "refused":
        raise PlanRefused(
            f"{row.id} did not run: {row.error}; `planloom resume {row.id} --as-new-run` tries again with another "
            f"budget (--cap N) or a mended plan (--plan FILE; `planloom show {row.id} --plan` prints it)"
        )
    if not row.plan:
        raise Misuse(
            f"{row.id} has no plan to go on with: it is {status} since before its lead had written one; begin it again "
            "with the command that began it, what is answered is not asked again"
        )
    had = int(row.facts.get("workers", 0))
    if status == "runaway" and workers <= had:
        raise Misuse(
            f"the plan of {row.id} asked for twice the {had:,} workers that it may have; give it more with "
            "--workers N, or raise `limits.workers` in the configuration"
        )


def cap_of(store: Store, row: RunRow) -> int:
    """Return the budget of a run's job as it was last set, in micro-credits."""
    return store.books(books_of(row)).cap or int(row.facts["cap"])


def lacks_nothing(
    registry: Registry,
    settings: Settings,
    store: Store,
    row: RunRow,
    *,
    args: Mapping[str, Any] | None,
    source: str | None,
) -> bool:
    """Return whether a run has come to its end whole, so that there is nothing to go on with.

    :param args: arguments as they are given now. :param source: the plan as it is given now.
    :raises JournalDiverged: it has, and those are not what its record says.
    """
    if not is_whole(row):
        return False
    if args or source is not None:
        _unchanged_job(registry, settings, store, row, args=args, source=source)
    return True


def is_whole(row: RunRow) -> bool:
    """Return whether a run has come to its end, and lacks nothing."""
    return row.status == "completed" and not row.facts.get("counts", {}).get("holes")


def unapproved(row: RunRow) -> bool:
    """Return whether the gate held a run's plan and nobody approved it since, whatever became of the run."""
    return row.status == "held" or row.facts.get("decision", {}).get("verdict") == "held"


def job_of(registry: Registry, row: RunRow, args: Mapping[str, Any] | None = None) -> Job:
    """Return the job of a stored run with its work opened again.

    :param args: arguments that replace stored ones of the same names.
    :raises UnknownNameError: one of its kits is not installed. :raises Misuse: its work cannot be opened.
    :raises NothingToDo: its work is no longer there.
    """
    facts = row.facts
    kits = tuple(registry.get("kit", name, Kit) for name in facts["kits"])
    target = target_of(facts)
    had_work = facts.get("work", {})  # of none, where a plan only might have come to a kit's words
    return Job(
        title=row.title,
        kits=kits,
        works={kit.name: kit.open(target, facts["options"]) for kit in kits if target or kit.name in had_work},
        target=facts["target"],
        options=facts["options"],
        text=facts["text"],
        plan=facts.get("given_plan", ""),
        args={**facts["args"], **(args or {})},
        cap=facts["cap"],
        repeat=facts.get("repeat", 0),
        refresh=facts.get("refresh", False),
    )


def reopen(
    registry: Registry,
    settings: Settings,
    store: Store,
    row: RunRow,
    *,
    args: Mapping[str, Any] | None = None,
    source: str | None = None,
    workers: int | None = None,
) -> Reopened:
    """Return a run ready to go on.

    :param args: arguments as they are given now. :param source: the plan as it is given now.
    :param workers: how many workers it may have; never fewer than before where ``None``.
    :raises JournalDiverged: it is not what its record says. :raises PlanRefused: its plan fails the check now.
    """
    job = _unchanged_job(registry, settings, store, row, args=args, source=source)
    program, _ = compile_plan(row.plan, build_vocabulary(registry, settings, job.kits), row.title)
    before = int(row.facts.get("workers", settings.workers))
    return Reopened(
        job=attrs.evolve(job, cap=cap_of(store, row)),
        source=row.plan,
        program=program,
        former=read_former(store, row),
        roles=tuple(row.facts.get("roles", settings.roles)),
        workers=max(before, settings.workers) if workers is None else workers,
        planned=Spent(**row.facts.get("planned", {})),
    )


def _unchanged_job(
    registry: Registry,
    settings: Settings,
    store: Store,
    row: RunRow,
    *,
    args: Mapping[str, Any] | None = None,
    source: str | None = None,
) -> Job:
    """Return a run's job, opened again and found to be what the run's record says.

    :param args: arguments as they are given now. :param source: the plan as it is given now.
    :raises JournalDiverged: it is something else now.
    """
    job = job_of(registry, row, args)
    differences = changed_since(settings, store, row, job, source)
    if differences:
        raise JournalDiverged(*differences[0], more=differences[1:], run=row.id)
    return job


def changed_since(
    settings: Settings, store: Store, row: RunRow, job: Job, source: str | None = None
) -> list[Difference]:
    """Return what of a run's job, or of the plan as it is given now, is no longer what the run's record says."""
    now = _as_stored(job_facts(job, settings, row.facts.get("roles")))
    return list(_differences(row, now, source, _answered(store, row, _changed_roles(row, now))))


def _as_stored(facts: Mapping[str, Any]) -> dict[str, Any]:
    """A pair that went through the store is a list."""
    stored: dict[str, Any] = json.loads(json.dumps(facts))
    return stored


def _changed_roles(row: RunRow, now: Mapping[str, Any]) -> set[str]:
    return {name for name, role in row.facts.get("roles", {}).items() if role != now["roles"].get(name)}


def _answered(store: Store, row: RunRow, roles: set[str]) -> set[str]:
    """Return those of the roles that had an answer in a run."""
    if not roles:
        return set()
    named = {thread.role for thread in store.threads(row.id) if any(thread.versions)}
    sent = {reply.role for reply in store.replies(store.own_versions(row.id)).values()}
    return roles & (named | sent)


def _differences(row: RunRow, now: Mapping[str, Any], source: str | None, answered: set[str]) -> Iterator[Difference]:
    """Yield what a run's record says and what is the case, where they differ.

    :param answered: the changed roles that had an answer.
    """
    then, plan = row.facts, row.plan
    if source is not None and source != plan:
        yield _first_line_that_differs(plan, source)
    yield from _changed("argument", then["args"], now["args"])
    yield from _changed("kit", then["kits"], now["kits"])
    yield from _changed("prompt", then.get("prompts", {}), now["prompts"])
    yield from _saved_plans_changed(then.get("saved_plans", {}), now["saved_plans"], plan)
    for kit, settings in then.get("settings", {}).items():
        yield from _changed(f"setting kits.{kit}", settings, now["settings"].get(kit, {}))
    for name, role in then.get("roles", {}).items():
        if name in now["roles"] and name not in answered:
            continue
        yield from _changed(f"role {name}", role, now["roles"].get(name, {}))
    for kit in then.get("manifest", {}):
        yield from _work_changed(kit, then, now)


def _first_line_that_differs(then: str, now: str) -> Difference:
    pairs = enumerate(zip_longest(then.splitlines(), now.splitlines(), fillvalue=_GONE), start=1)
    number, before, after = next(((n, a, b) for n, (a, b) in pairs if a != b), (0, then, now))
    return f"plan line {number}", before, after


def _changed(what: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys((*then, *now)):
        before, after = then.get(name, _GONE), now.get(name, _GONE)
        if before != after:
            yield f"{what} {name}", before, after


def _saved_plans_changed(then: Mapping[str, Any], now: Mapping[str, Any], plan: str) -> Iterator[Difference]:
    called = plans_called(plan, {**then, **now})
    before, after = ({name: facts[name] for name in called if name in facts} for facts in (then, now))
    yield from _changed("saved plan", before, after)


def _work_changed(kit: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield the files that changed, by name; where a kit names no files, only that its work did."""
    rows = list(_changed("file", _files(then["manifest"][kit]), _files(now["manifest"].get(kit, {}))))
    yield from rows
    before, after = then.get("work", {}).get(kit), now["work"].get(kit)
    if not rows and before is not None and before != after:
        yield f"work of the kit {kit}", f"hash {before[:_HASH_SHOWN]}", f"hash {str(after)[:_HASH_SHOWN]}"


def _files(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return size and content hash of each file of a manifest, by path."""
    return {path: f"{size:,} bytes, hash {digest[:_HASH_SHOWN]}" for path, size, digest in manifest.get("files", ())}
