"""What each piece of evidence is: one measurement, and what it fills in the reference.

A row of it says what was measured, the figure, and what was to be reached. A section is measured alone or with the
others (see ``bench_runtime``); its figures are kept with the facts of the machine that they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

__all__ = ["Row", "Section", "table"]

Row = tuple[str, str, str]
"""What it is, what was measured, what was to be reached (empty where a figure is only told)."""


@attrs.frozen(kw_only=True)
class Section:
    """One piece of evidence.

    :ivar name: what ``--only`` says. :ivar title: its heading. :ivar about: sentences on how it is measured.
    :ivar measure: measures it and returns plain data; told whether to do so at a size that only tries the script.
    :ivar lines: the data as Markdown. :ivar opt_in: it takes long, and runs only where it is named.
    """

    name: str
    title: str
    about: Sequence[str]
    measure: Callable[[bool], dict[str, Any]]
    lines: Callable[[dict[str, Any]], Iterable[str]]
    opt_in: bool = False


def table(rows: Callable[[dict[str, Any]], Iterable[Row]]) -> Callable[[dict[str, Any]], Iterable[str]]:
    """Return what shows data as a Markdown table of these rows."""

    def lines(found: dict[str, Any]) -> Iterable[str]:
        return ["| | measured | to reach |", "|---|---:|---:|", *(f"| {' | '.join(row)} |" for row in rows(found))]

    return lines
