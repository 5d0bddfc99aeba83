"""What planloom itself registers, through the same hooks as any plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .gates import Gate, default_gate
from .hookspecs import hookimpl

if TYPE_CHECKING:
    import click

__all__: list[str] = []


@hookimpl
def register_gates(register: Callable[[Gate], None]) -> None:
    register(default_gate)


@hookimpl
def register_commands(register: Callable[[click.Command], None]) -> None:
    from .cli import own_commands

    for command in own_commands():
        register(command)
