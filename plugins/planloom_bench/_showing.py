"""A score for people, alone or beside another: a table in the terminal, and the same rows for Markdown."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from planloom.wording import counted

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
    """The score as a table for a rich console, with its notes below; a rival's table between."""
    parts: list[RenderableType] = []
    for heading, shown in _parts(score, rival):
        table = Table(*_HEADINGS, box=None, pad_edge=False)
        for row in _rows(shown):
            table.add_row(*attrs.astuple(row))
        parts += [Text(heading, style="bold"), table]
    return Group(*parts, *(Text(note) for note in _notes(score, rival)))


def to_markdown(score: Score, rival: Rival | None = None) -> str:
    """The score as Markdown: a heading, the table and the bugs by kind, the same of a rival, and the notes."""
    blocks = []
    for heading, shown in _parts(score, rival):
        rows = [_HEADINGS, ("---",) * 4, *(attrs.astuple(row) for row in _rows(shown))]
        kinds = [("kind", "found", "planted"), ("---",) * 3]
        kinds += [(kind, str(found), str(planted)) for kind, (found, planted) in shown.kinds.items()]
        blocks += [f"## {heading}", _table(rows), _table(kinds)]
    return "\n\n".join([*blocks, *_notes(score, rival)]) + "\n"


def _parts(score: Score, rival: Rival | None) -> list[tuple[str, Score]]:
    """Each score with its heading."""
    if rival is None:
        return [(f"{score.bench}: {_found(score)}", score)]
    both = ((rival.name, score), (rival.against, rival.score))
    return [(f"{score.bench}, {name}: {_found(shown)}", shown) for name, shown in both]


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _found(score: Score) -> str:
    return f"{score.tally.found} of {score.tally.bugs} planted bugs found"


def _rows(score: Score) -> list[_Row]:
    recall = _share(score.tally.recall, score.recall_interval)
    precision = _share(score.tally.precision, score.precision_interval)
    strict = _share(score.strict.recall, score.strict_interval)
    luck = f"{score.chance.drawn:,} of {score.chance.lines:,} lines"
    rows = [
        _Row(score.scorer, recall, precision, _counts(score.tally)),
        _Row(SAME_STATEMENT.name, strict, _share(score.strict.precision), _counts(score.strict)),
        _Row("chance", _share(score.chance.recall), _share(score.chance.precision), luck),
    ]
    if score.caused is not None:
        caused = _share(score.caused / score.tally.bugs, wilson(score.caused, score.tally.bugs))
        rows.append(_Row("caused", caused, "-", "not on the clean copy"))
    return rows


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
    if score.ranked:
        curve = ", ".join(f"{recall:.2f} with {count:,}" for count, recall in score.recall_at.items())
        notes.append(f"Recall of the surest findings alone: {curve}.")
    if score.tally.repeats:
        notes.append(f"Said again: {counted(score.tally.repeats, 'finding')}, counted neither for nor against.")
    if score.elsewhere:
        which = "all" if score.elsewhere == score.reported else f"{score.elsewhere:,} of {score.reported:,}"
        notes.append(
            f"In files that this benchmark does not hold: {which} findings; --bench names the one that was audited."
        )
    if score.set_aside:
        notes.append(f"Set aside: {counted(score.set_aside, 'item')} without a file or a line.")
    return notes
