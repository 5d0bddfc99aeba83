"""A job, and what the store keeps of its runs: what is to be done, the row it begins with, how it ended."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from planlang import PlanFailed, PlanLimitError

from ._errors import RunAborted, Runaway, RunCancelled, RunStopped, TakenOver
from .data_classes import frozen
from .kits import Kit, KitWork
from .money import MICRO, Spent
from .prompts import prompt_digests
from .questions import canonical_json
from .saved_plans import plan_digests
from .settings import Settings
from .stores import RunRow

__all__ = [
    "Job",
    "books_of",
    "cost_facts",
    "ending_of",
    "is_plan_fault",
    "is_unfinished",
    "job_facts",
    "limit_facts",
    "limit_told",
    "may_have_more",
    "new_row",
    "plan_hash",
    "role_facts",
    "run_id_of",
]

_BARE_BUDGET = 1_500 * MICRO
_NOTHING = Spent()
_ERROR_LENGTH = 2_000
_UNFINISHED = ("created", "held", "running", "paused", "cancelled", "interrupted", "failed")
_RAISED_BY = {"steps": "limits.plan_steps", "memory_bytes": "limits.plan_memory_mb"}
_FAILED, _STOPPED = "the plan failed at line", "the plan was stopped at line"


@frozen(kw_only=True)
class Job:
    """What is to be done, whatever plan does it.

    :ivar target: what the kit's work is opened from; part of what makes two jobs the same.
    :ivar options: how it is opened, such as patterns of files; likewise.
    :ivar text: the job in words. :ivar cap: its budget in micro-credits.
    :ivar plan: hash of the plan, where the job is to run that very one; empty where any plan that does it will do.
    :ivar repeat: which repeat of the job this is, from 0; repeats draw independent answers.
    :ivar refresh: whether its workers are asked again what the ledger has answers to.
    :ivar facts: what else to store with its runs (fact sheet, estimate, decision).
    """

    title: str
    kits: tuple[Kit, ...] = ()
    works: Mapping[str, KitWork] = attrs.field(factory=dict)
    target: str = ""
    options: Mapping[str, Any] = attrs.field(factory=dict)
    text: str = ""
    plan: str = ""
    args: Mapping[str, Any] = attrs.field(factory=dict)
    cap: int = _BARE_BUDGET
    repeat: int = 0
    refresh: bool = False
    facts: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def key(self) -> str:
        """What makes two jobs the same: kits, target, words, arguments, repeat, and the plan where it is given."""
        named: list[Any] = [
            [kit.name for kit in self.kits],
            self.target,
            dict(self.options),
            self.text,
            self.plan,
            dict(self.args),
            *([self.repeat] if self.repeat else []),
        ]
        return hashlib.sha256(canonical_json(named)).hexdigest()[:16]


def new_row(
    job: Job,
    settings: Settings,
    source: str,
    run_id: str,
    budget: str,
    *,
    planned: Spent = _NOTHING,
    roles: Iterable[str] | None = None,
) -> RunRow:
    """Return the row that a run of a job begins with.

    :param budget: names its books. :param planned: what planning cost, from the same books.
    :param roles: those that it uses, all configured ones when ``None``.
    """
    return RunRow(
        id=run_id,
        title=job.title,
        status="created",
        plan=source,
        plan_hash=plan_hash(source),
        budget=budget,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        job=job.key,
        facts={**job_facts(job, settings, roles), "planned": attrs.asdict(planned), **job.facts},
    )


def books_of(row: RunRow) -> str:
    """Return the name of a run's books, also where it has not spent anything and its record names none yet."""
    return row.budget or f"job-{row.id}"


def cost_facts(planned: Spent, uncertain: int, run: Spent = _NOTHING) -> dict[str, int]:
    """Return what a job cost, planning included."""
    return {
        "paid": planned.paid + run.paid,
        "full_price": planned.full_price + run.full_price,
        "planning": planned.full_price,
        "uncertain": uncertain,
    }


def job_facts(job: Job, settings: Settings, roles: Iterable[str] | None = None) -> dict[str, Any]:
    """Return what a run keeps of its job: all that it needs to go on, and all that decides what its plan comes to."""
    names = settings.roles if roles is None else roles
    return {
        "kits": {kit.name: kit.version for kit in job.kits},
        "target": job.target,
        "options": dict(job.options),
        "text": job.text,
        "args": dict(job.args),
        "cap": job.cap,
        "repeat": job.repeat,
        "refresh": job.refresh,
        "given_plan": job.plan,
        "workers": settings.workers,
        "limits": limit_facts(settings),
        "prompts": prompt_digests(job.kits, settings),
        "saved_plans": plan_digests(job.kits, settings),
        "settings": {kit.name: dict(settings.kits.get(kit.name, {})) for kit in job.kits},
        "roles": {name: role_facts(settings, name) for name in names if name in settings.roles},
        "manifest": {name: dict(work.manifest()) for name, work in job.works.items()},
        "work": {name: work.digest() for name, work in job.works.items()},
    }


def limit_facts(settings: Settings) -> dict[str, int]:
    """Return what a run's plan may use, by the names of the settings."""
    return {"plan_steps": settings.plan_steps, "plan_memory_mb": settings.plan_memory_mb}


def role_facts(settings: Settings, name: str) -> dict[str, Any]:
    """Return what of a role's settings decides what its questions are."""
    role = settings.role(name)
    return {
        "endpoint": role.endpoint,
        "model": role.model,
        "parameters": dict(role.parameters),
        "json_mode": settings.endpoints[role.endpoint].json_mode,
    }


def ending_of(fault: Exception | None, holes: int = 0) -> tuple[str, int, str | None]:
    """Return status, exit code and error text of a run that ended with this fault, or none."""
    if fault is None:
        return "completed", 3 if holes else 0, None
    text = _fault_text(fault)[:_ERROR_LENGTH]
    if isinstance(fault, RunCancelled):
        return "cancelled", fault.exit_code, text
    if isinstance(fault, TakenOver):
        return "interrupted", fault.exit_code, text
    if isinstance(fault, RunStopped):
        return "paused", fault.exit_code, text
    if isinstance(fault, Runaway):
        return "runaway", fault.exit_code, text
    return "failed", fault.exit_code if isinstance(fault, RunAborted) else 1, text


def _fault_text(fault: Exception) -> str:
    if isinstance(fault, PlanFailed):
        return f"{_FAILED} {fault.line}, column {fault.column}: {fault.kind}: {fault.detail}"
    if isinstance(fault, PlanLimitError):
        return f"{_STOPPED} {fault.line}, column {fault.column}: {limit_told(fault)}"
    return str(fault)


def limit_told(fault: PlanLimitError) -> str:
    """Return what a limit's error says, and the setting that raises the limit, where one does."""
    setting = _RAISED_BY.get(fault.limit)
    return f"{fault.detail}; or raise `{setting}` in the configuration" if setting else fault.detail


def is_plan_fault(error: str | None) -> bool:
    """Return whether a run's error text says that its plan is at fault, which no further answer mends."""
    return error is not None and error.startswith((_FAILED, _STOPPED)) and not may_have_more(error)


def may_have_more(error: str | None) -> bool:
    """Return whether a run's error text says that its plan hit a limit that can be raised."""
    return error is not None and error.startswith(_STOPPED) and any(name in error for name in _RAISED_BY.values())


def is_unfinished(row: RunRow) -> bool:
    """Return whether a run did not come to an end, so that its job goes on with its books."""
    return row.status in _UNFINISHED


def plan_hash(source: str) -> str:
    """Return the SHA-256 of a plan's source, in hex."""
    return hashlib.sha256(source.encode("utf-8")).hexdigest()


def run_id_of(title: str, unique: Callable[[], str] = lambda: secrets.token_hex(3)) -> str:
    """Return a run's id: the slug of its title and a short unique part."""
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "run"
    return f"{slug}-{unique()}"
