"""The command line. Commands come from plugins through ``register_commands``, the core's own among them."""

from __future__ import annotations

import click

from ._late import late_command
from ._main import main

__all__ = ["late_command", "main", "own_commands"]

_OWN = (
    ("check", "Check a plan: every problem, its place, and what to write.", "_check"),
    ("rehearse", "Rehearse a plan: what it would need, for free.", "_plans"),
    ("run", "Check, rehearse and run a plan, and print its result.", "_plans"),
    ("runs", "List the newest runs.", "_runs"),
    ("show", "Show one run: status, phases, cost, what failed, and its result.", "_runs"),
    ("store", "Look after the store: check, stats, cap, prune, export.", "_store"),
    ("resume", "Go on with a run that is not whole; nothing is asked twice.", "_resume"),
    ("replay", "Play a run again from what is stored, and compare results.", "_resume"),
    ("follow", "Show how a run goes until it ends; exits as the run did.", "_steer"),
    ("cancel", "Cancel a run, whoever drives it; every answer that came is kept.", "_steer"),
    ("raise", "Raise a run's budget; one that waits for money goes on.", "_steer"),
    ("export", "Write all of a run as files.", "_runs"),
    ("explain", "Print the page of a problem's code, such as PL031, or list all.", "_about"),
    ("prompts", "Print a prompt, such as audit.scan, or list all.", "_about"),
    ("plugins", "List the loaded plugins: version, hooks, and what each brings.", "_about"),
    ("doctor", "Say whether configuration, keys, store and models are fit.", "_doctor"),
    ("init", "Write a commented planloom.toml in this folder.", "_about"),
)

# No function can be named as the keyword.
_PLACES = tuple((name, summary, f"{module}:{'raise_' if name == 'raise' else name}") for name, summary, module in _OWN)


def own_commands() -> tuple[click.Command, ...]:
    """Return the commands that planloom itself brings."""
    return tuple(late_command(name, summary, f"planloom.cli.{place}") for name, summary, place in _PLACES)
