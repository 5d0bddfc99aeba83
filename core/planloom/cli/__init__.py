"""The command line. Commands come from plugins through ``register_commands``, the core's own among them."""

from __future__ import annotations

import click

from ._main import main

__all__ = ["main", "own_commands"]


def own_commands() -> tuple[click.Command, ...]:
    """Return the commands that planloom itself brings."""
    from ._about import explain, init, plugins, prompts
    from ._plans import check, rehearse, run
    from ._runs import runs, show

    return (check, rehearse, run, runs, show, explain, prompts, plugins, init)
