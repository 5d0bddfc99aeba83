"""The audit kit: scan workers with lenses, skeptics that vote, a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from planloom.cli import late_command
from planloom.exporters import Exporter
from planloom.hookspecs import hookimpl
from planloom.kits import Kit
from planloom.late import late_names
from planloom.plugins import Kind
from planloom.scouts import Scout
from planloom.stand_ins import StandIn

from . import hookspecs
from .lenses import Lens, Skeptic, own_lenses, own_skeptics

if TYPE_CHECKING:
    from .report import AuditReport, Bug, Cost, Coverage, Unread

__all__ = ["AuditReport", "Bug", "Cost", "Coverage", "Lens", "Skeptic", "Unread"]

__getattr__ = late_names(__name__, {"report": ("AuditReport", "Bug", "Cost", "Coverage", "Unread")})


@hookimpl
def register_hookspecs(register: Callable[[object, tuple[Kind, ...]], None]) -> None:
    register(
        hookspecs,
        (Kind("register_lenses", "lens", lambda: Lens), Kind("register_skeptics", "skeptic", lambda: Skeptic)),
    )


@hookimpl
def register_kits(register: Callable[[Kit], None]) -> None:
    from .kit import AUDIT

    register(AUDIT)


@hookimpl
def register_lenses(register: Callable[[Lens], None]) -> None:
    for lens in own_lenses():
        register(lens)


@hookimpl
def register_skeptics(register: Callable[[Skeptic], None]) -> None:
    for skeptic in own_skeptics():
        register(skeptic)


@hookimpl
def register_stand_ins(register: Callable[[StandIn], None]) -> None:
    from .stand_in import AUDIT_STAND_IN

    register(AUDIT_STAND_IN)


@hookimpl
def register_scouts(register: Callable[[Scout], None]) -> None:
    from .scouts import own_scouts

    for scout in own_scouts():
        register(scout)


@hookimpl
def register_exporters(register: Callable[[Exporter], None]) -> None:
    from .exporters import own_exporters

    for exporter in own_exporters():
        register(exporter)


@hookimpl
def register_commands(register: Callable[[click.Command], None]) -> None:
    register(
        late_command("audit", "Audit the Python code below PATH for behaviour bugs.", "planloom_audit.command:audit")
    )
