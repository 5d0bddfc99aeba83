"""The yes-or-no question to a person at a terminal."""

from __future__ import annotations

import click

__all__ = ["confirm"]

_SAID = {"y": True, "yes": True, "n": False, "no": False, "": False}
_SHOWN = 40


def confirm(question: str) -> bool:
    """Ask a person a yes-or-no question, until they say either; to say nothing is to say no.

    :raises click.Abort: they ended the command instead.
    """
    return bool(
        click.prompt(question, default="", show_default=False, prompt_suffix=" [y/N]: ", value_proc=_said, err=True)
    )


def _said(text: str) -> bool:
    said = _SAID.get(text.strip().lower())
    if said is None:
        raise click.UsageError(f"`{text.strip()[:_SHOWN]}` is neither yes nor no; say y or n")
    return said
