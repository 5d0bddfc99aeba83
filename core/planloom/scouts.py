"""Scouts: plain code that adds facts to the sheet a lead plans from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .data_classes import frozen
from .tokens import estimate_text_tokens

if TYPE_CHECKING:
    from .kits import KitWork

__all__ = ["Scout", "ScoutReport", "compose_sheet"]


@frozen(kw_only=True)
class ScoutReport:
    """One section of the fact sheet: a heading in capitals and lines, most important first."""

    heading: str
    lines: tuple[str, ...]


@frozen(kw_only=True)
class Scout:
    """Plain code that looks at the work and says what a planner should know.

    :ivar kit: the kit whose work it can read. :ivar share_tokens: how much of the sheet it may fill.
    :ivar report: gives its section from the work. :ivar order: place on the sheet, smallest first.
    """

    name: str
    kit: str
    report: Callable[[KitWork], ScoutReport]
    share_tokens: int = 200
    order: int = 50


def compose_sheet(reports: Sequence[tuple[int, ScoutReport]]) -> str:
    """Return the fact sheet of these (share in tokens, report) pairs; each is cut to its share, and says so."""
    return "\n\n".join(_section(share, report) for share, report in reports)


def _section(share: int, report: ScoutReport) -> str:
    lines = [report.heading]
    used = estimate_text_tokens(len(report.heading))
    for index, line in enumerate(report.lines):
        used += estimate_text_tokens(len(line) + 1)
        if used > share:
            lines.append(f"(and {len(report.lines) - index} more lines)")
            break
        lines.append(line)
    return "\n".join(lines)
