"""A score for people: a table in the terminal, and the same rows for Markdown."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ._score import Score

_HEADINGS = ("what counts", "recall [95 %]", "precision [95 %]", "")
LOWER_BOUND = "Precision is a lower bound: a real bug outside the key counts as wrong."


@attrs.frozen
class _Row:
    name: str
    recall: str
    precision: str
    note: str


def render_score(score: Score) -> RenderableType:
    """The score as a table for a rich console, with its notes below."""
    table = Table(*_HEADINGS, box=None, pad_edge=False)
    for row in _rows(score):
        table.add_row(*attrs.astuple(row))
    heading = Text(f"{score.bench}: {_found(score)}", style="bold")
    return Group(heading, table, *(Text(note) for note in _notes(score)))


def to_markdown(score: Score) -> str:
    """The score as Markdown: a heading, the table, the bugs by kind and the notes."""
    rows = [_HEADINGS, ("---",) * 4, *(attrs.astuple(row) for row in _rows(score))]
    kinds = [("kind", "found", "planted"), ("---",) * 3]
    kinds += [(kind, str(found), str(planted)) for kind, (found, planted) in score.kinds.items()]
    blocks = [f"## {score.bench}: {_found(score)}", _table(rows), _table(kinds), *_notes(score)]
    return "\n\n".join(blocks) + "\n"


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _found(score: Score) -> str:
    return f"{score.tally.found} of {score.tally.bugs} planted bugs found"


def _rows(score: Score) -> list[_Row]:
    recall = _share(score.tally.recall, score.recall_interval)
    precision = _share(score.tally.precision, score.precision_interval)
    counts = f"{score.tally.found} right, {len(score.tally.wrong)} wrong"
    strict = f"{score.strict.found} right, {len(score.strict.wrong)} wrong"
    luck = f"{score.chance.drawn} of {score.chance.lines:,} lines"
    return [
        _Row(score.scorer, recall, precision, counts),
        _Row("same_statement", _share(score.strict.recall), _share(score.strict.precision), strict),
        _Row("chance", _share(score.chance.recall), _share(score.chance.precision), luck),
    ]


def _share(value: float | None, interval: tuple[float, float] | None = None) -> str:
    if value is None:
        return "-"
    around = f" [{interval[0]:.2f} to {interval[1]:.2f}]" if interval else ""
    return f"{value:.3f}{around}"


def _notes(score: Score) -> list[str]:
    notes = [LOWER_BOUND]
    if not score.reported:
        notes.append("Nothing was reported, so there is no precision.")
    if score.recall_at:
        curve = ", ".join(f"{recall:.2f} with {count}" for count, recall in score.recall_at.items())
        notes.append(f"Recall of the surest findings alone: {curve}.")
    if score.caused is not None:
        notes.append(f"Caused: {score.caused} bugs were found by findings that the clean copy does not give.")
    if score.tally.repeats:
        notes.append(f"Said again: {score.tally.repeats} findings, counted neither for nor against.")
    if score.set_aside:
        notes.append(f"Set aside: {score.set_aside} items without a file or a line.")
    return notes
