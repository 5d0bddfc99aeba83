"""A score for people, alone or beside another: a table in the terminal, and the same rows for Markdown."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ._intervals import wilson
from ._paired import Paired
from ._score import Score
from ._tally import Tally
from .scorers import SAME_STATEMENT

_HEADINGS = ("what counts", "recall [95 %]", "precision [95 %]", "")
_LOWER_BOUND = "Precision is a lower bound: a real bug outside the key counts as wrong."


@attrs.frozen
class _Row:
    name: str
    recall: str
    precision: str
    note: str


@attrs.frozen(kw_only=True)
class Rival:
    """Another score on the same key, with the names of both."""

    score: Score
    paired: Paired
    name: str
    against: str

    @property
    def sentence(self) -> str:
        """Whether the two can be told apart."""
        return self.paired.sentence(self.name, self.against)


def render_score(score: Score, rival: Rival | None = None) -> RenderableType:
    """The score as a table for a rich console, with its notes below."""
    table = Table(*_HEADINGS, box=None, pad_edge=False)
    for row in _rows(score, rival):
        table.add_row(*attrs.astuple(row))
    heading = Text(f"{score.bench}: {_found(score)}", style="bold")
    return Group(heading, table, *(Text(note) for note in _notes(score, rival)))


def to_markdown(score: Score, rival: Rival | None = None) -> str:
    """The score as Markdown: a heading, the table, the bugs by kind and the notes."""
    rows = [_HEADINGS, ("---",) * 4, *(attrs.astuple(row) for row in _rows(score, rival))]
    kinds = [("kind", "found", "planted"), ("---",) * 3]
    kinds += [(kind, str(found), str(planted)) for kind, (found, planted) in score.kinds.items()]
    blocks = [f"## {score.bench}: {_found(score)}", _table(rows), _table(kinds), *_notes(score, rival)]
    return "\n\n".join(blocks) + "\n"


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _found(score: Score) -> str:
    return f"{score.tally.found} of {score.tally.bugs} planted bugs found"


def _rows(score: Score, rival: Rival | None) -> list[_Row]:
    first, second = (rival.name, rival.against) if rival else ("", "")
    rows = _rules(score, first)
    if score.caused is not None:
        recall = _share(score.caused / score.tally.bugs, wilson(score.caused, score.tally.bugs))
        rows.append(_Row("caused", recall, "-", "not found on the clean copy"))
    if rival is not None:
        rows += _rules(rival.score, second)
    return rows


def _rules(score: Score, name: str) -> list[_Row]:
    """The rows of one report: by the rule, by the strict rule, by luck."""
    of = f"{name}, " if name else ""
    recall = _share(score.tally.recall, score.recall_interval)
    precision = _share(score.tally.precision, score.precision_interval)
    strict = _share(score.strict.recall, score.strict_interval)
    luck = f"{score.chance.drawn:,} of {score.chance.lines:,} lines"
    return [
        _Row(f"{of}{score.scorer}", recall, precision, _counts(score.tally)),
        _Row(f"{of}{SAME_STATEMENT.name}", strict, _share(score.strict.precision), _counts(score.strict)),
        _Row(f"{of}chance", _share(score.chance.recall), _share(score.chance.precision), luck),
    ]


def _counts(tally: Tally) -> str:
    return f"{tally.found} right, {len(tally.wrong):,} wrong"


def _share(value: float | None, interval: tuple[float, float] | None = None) -> str:
    if value is None:
        return "-"
    around = f" [{interval[0]:.2f} to {interval[1]:.2f}]" if interval else ""
    return f"{value:.3f}{around}"


def _notes(score: Score, rival: Rival | None) -> list[str]:
    notes = [rival.sentence] if rival else []
    notes.append(_LOWER_BOUND)
    if not score.reported:
        notes.append("Nothing was reported, so there is no precision.")
    if score.recall_at:
        curve = ", ".join(f"{recall:.2f} with {count:,}" for count, recall in score.recall_at.items())
        notes.append(f"Recall of the surest findings alone: {curve}.")
    if score.tally.repeats:
        notes.append(f"Said again: {score.tally.repeats} findings, counted neither for nor against.")
    if score.set_aside:
        notes.append(f"Set aside: {score.set_aside} items without a file or a line.")
    return notes
