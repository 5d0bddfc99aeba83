"""Consoles that foreign text cannot break.

Everything a command shows passes here. No text is read as markup and hidden characters are named, whoever wrote them.
What nobody reads any more is lost, but never ends a job that is being paid for. A terminal gets lines that break
between words; a file or a pipe gets them whole, for other programs to search.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from planloom.visible import visible

from ._streams import Leaky

__all__ = ["ForeignConsole"]

# Some build servers say that their terminal has no column at all.
_WIDTH_OF_NO_COLUMNS = 80
_WIDTH_WITHOUT_TERMINAL = 100_000


class ForeignConsole(Console):
    """A console for text that others wrote."""

    def __init__(self, stream: TextIO, *, forgiven: type[OSError]) -> None:
        super().__init__(
            file=cast("IO[str]", Leaky(stream, forgiven)),
            highlight=False,
            markup=False,
            emoji=False,
            width=_WIDTH_OF_NO_COLUMNS if os.environ.get("COLUMNS") == "0" else None,
        )
        if not self.is_terminal:
            self.width = _WIDTH_WITHOUT_TERMINAL

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the segments, with the hidden characters of their text named."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
