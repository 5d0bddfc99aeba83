"""A command that is listed without being imported."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

__all__ = ["late_command"]


def late_command(name: str, summary: str, place: str) -> click.Command:
    """Return a command whose module is imported when the command is used.

    :param summary: what a list of commands says of it: the first sentence of the command's own help.
    :param place: where the command is, as ``"package.module:attribute"``.
    """
    return _LateCommand(name, summary, place)


class _LateCommand(click.Command):
    def __init__(self, name: str, summary: str, place: str) -> None:
        super().__init__(name, help=summary)
        self._place = place

    @property
    def real(self) -> click.Command:
        """The command itself."""
        module, _, attribute = self._place.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        return self.real.make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        return self.real.invoke(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return self.real.get_params(ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.real.format_help(ctx, formatter)

    def to_info_dict(self, ctx: click.Context) -> dict[str, Any]:
        return self.real.to_info_dict(ctx)
