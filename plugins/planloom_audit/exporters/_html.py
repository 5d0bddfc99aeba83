"""report.html: the report as one page that opens from disk, fetches nothing and runs no code but its own.

A Content-Security-Policy allows exactly the one style block and the one script of the page, by their hashes, so markup
in a claim could not run even if it were not escaped. Without scripts everything is there, only the filter is not. In
reports of thousands the least severe show less code, so that browsers still open the page at once.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from planloom.data_classes import frozen
from planloom_audit.report import SEVERITIES, AuditReport, Bug

from . import _sentences
from ._foreign import clipped, one_line, visible
from ._highlight import code_html, code_or_prose_html, prose_html, text_html

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

__all__ = ["page"]

_WHOLE_CODE = 200
"""Findings shown with all their code in colour; 5,000 of them would make a page of 50 MB."""
_NEAR_LINES = 3
_MOST_CONTENTS = 200


@frozen(kw_only=True)
class _Card:
    """A finding as the page shows it; ``also`` are the anchors and places of other reports of the same bug."""

    anchor: str
    heading: str
    place: str
    severity: str
    votes: str
    bug: Bug
    code: Markup
    also: tuple[tuple[str, str], ...]


def page(report: AuditReport) -> str:
    """The whole page, in characters that UTF-8 can hold."""
    style, script = _part("report.css"), _part("report.js")
    cards = _cards(report.bugs, "finding")
    return _template().render(
        report=report,
        say=_sentences,
        style=_safe(style),
        script=_safe(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        sections=[(name, members) for name in SEVERITIES if (members := [c for c in cards if c.severity == name])],
        contents=cards[:_MOST_CONTENTS],
        uncontained=len(cards) - _MOST_CONTENTS,
        undecided=_cards(report.undecided, "undecided"),
        columns=list(dict.fromkeys(key for phase in report.phases for key in phase)),
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.filters["shown"] = _shown
    environment.filters["code_or_prose"] = _code_or_prose
    environment.filters["plain"] = one_line
    environment.filters["prose"] = _prose
    environment.filters["thousands"] = lambda number: f"{number:,}"
    return environment.from_string(_part("report.html.j2"))


def _shown(text: object) -> Markup:
    return _safe(text_html(clipped(visible(str(text)))))


def _code_or_prose(text: str) -> Markup:
    return _safe(code_or_prose_html(clipped(visible(text))))


def _prose(text: str) -> Markup:
    return _safe(prose_html(clipped(visible(text))))


def _cards(bugs: Sequence[Bug], prefix: str) -> list[_Card]:
    ordered = _sentences.ranked(bugs)
    together = _sentences.same_bug(ordered)
    numbers = {id(bug): number for number, bug in enumerate(ordered, 1)}
    cards = []
    for number, bug in enumerate(ordered, 1):
        others = _sentences.also_at(bug, together)
        also = [(f"{prefix}-{numbers[id(other)]}", _sentences.place(other)) for other in others]
        cards.append(_card(bug, f"{prefix}-{number}", whole=number <= _WHOLE_CODE, also=also))
    return cards


def _card(bug: Bug, anchor: str, *, whole: bool, also: Sequence[tuple[str, str]]) -> _Card:
    return _Card(
        anchor=anchor,
        heading=_sentences.heading_of(bug),
        place=_sentences.place(bug),
        severity=_sentences.severity_of(bug),
        votes=_sentences.votes(bug),
        bug=bug,
        code=_safe(code_html(bug, bug.code if whole else list(_near(bug)), coloured=whole)),
        also=tuple(also),
    )


def _near(bug: Bug) -> Iterator[tuple[int, str]]:
    """The lines next to the place; the first ones for a finding about a whole file."""
    first = bug.line if bug.line is not None else 1
    for number, text in bug.code:
        if first - _NEAR_LINES <= number <= max(first, bug.end_line or 0) + _NEAR_LINES:
            yield number, text


def _part(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _safe(html: str) -> Markup:
    """HTML that needs no escaping: a file of this package, or what ``_highlight`` has escaped."""
    from markupsafe import Markup

    return Markup(html)  # noqa: S704 - see above; the template escapes everything else


def _hash(text: str) -> str:
    """The source expression by which a policy names an inline block (CSP level 3, section 2.3.1)."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
