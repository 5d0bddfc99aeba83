"""One report scored: by the rule of five lines, by the strict rule, and beside what luck would have scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import attrs

from ._bench import Bench
from ._chance import Chance, chance_line
from ._intervals import wilson
from ._reports import Report, Reported
from ._tally import Reaches, Tally, reaches_of, tally
from .scorers import FIVE_LINES, SAME_STATEMENT, Scorer

# Steps of a curve that is read on a logarithmic axis.
_RECALL_AT = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)


@attrs.frozen(kw_only=True)
class Score:
    """What a report is worth against a key.

    :ivar reported: how many findings there were; ``set_aside`` more items were no findings.
    :ivar elsewhere: how many of the findings are in files that the benchmark does not hold.
    :ivar tally: the score by ``scorer``; ``strict`` the score by the rule of the same statement.
    :ivar chance: what as many random lines would score by ``scorer``.
    :ivar caused: bugs found by findings that the same audit does not report on the clean copy; None when no report of
        the clean copy was given.
    :ivar recall_at: the recall of the surest n findings, by n; of the first n as listed, where it is not ``ranked``.
    :ivar ranked: whether the report is surer of some findings than of others.
    :ivar kinds: found and planted bugs by kind.
    """

    bench: str
    scorer: str
    reported: int
    set_aside: int
    elsewhere: int
    tally: Tally
    strict: Tally
    chance: Chance
    caused: int | None
    recall_at: Mapping[int, float]
    ranked: bool
    kinds: Mapping[str, tuple[int, int]]

    @property
    def strict_interval(self) -> tuple[float, float]:
        """The 95 % interval of the strict recall."""
        return wilson(self.strict.found, self.strict.bugs)

    @property
    def recall_interval(self) -> tuple[float, float]:
        """The 95 % interval of the recall."""
        return wilson(self.tally.found, self.tally.bugs)

    @property
    def precision_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the precision, None when nothing was reported."""
        named = self.tally.found + len(self.tally.wrong)
        return wilson(self.tally.found, named) if named else None


def score(report: Report, bench: Bench, *, clean: Report | None = None, scorer: Scorer = FIVE_LINES) -> Score:
    """Score a report against a benchmark's key.

    :param clean: what the same audit reports on the copy without bugs, whose lines are numbered alike.
    """
    reaches = reaches_of(report.findings, bench, scorer)
    counted = tally(report.findings, bench, scorer, reaches)
    return Score(
        bench=bench.name,
        scorer=scorer.name,
        reported=len(report.findings),
        set_aside=report.set_aside,
        elsewhere=sum(finding.file not in bench.files for finding in report.findings),
        tally=counted,
        strict=tally(report.findings, bench, SAME_STATEMENT),
        chance=chance_line(len({(f.file, f.line) for f in report.findings}), bench, scorer),
        caused=None if clean is None else _caused(report, clean, bench, scorer),
        recall_at=_recall_curve(report, bench, scorer, reaches),
        ranked=len({finding.confidence for finding in report.findings}) > 1,
        kinds=_kinds(counted, bench),
    )


def _caused(report: Report, clean: Report, bench: Bench, scorer: Scorer) -> int:
    anyway = {_said(finding) for finding in clean.findings}
    new = [finding for finding in report.findings if _said(finding) not in anyway]
    return tally(new, bench, scorer).found


def _said(finding: Reported) -> tuple[str, int, str | None]:
    """What makes a finding the same on the clean copy: a tool may say another thing of the same line."""
    return finding.file, finding.line, finding.rule


def _recall_curve(report: Report, bench: Bench, scorer: Scorer, reaches: Reaches) -> dict[int, float]:
    count = len(report.findings)
    steps = [step for step in _RECALL_AT if step < count] + [count] * bool(count)
    return {step: tally(report.findings[:step], bench, scorer, reaches).recall for step in steps}


def _kinds(counted: Tally, bench: Bench) -> dict[str, tuple[int, int]]:
    planted = Counter(entry.kind for entry in bench.key.entries)
    found = Counter(entry.kind for entry in bench.key.entries if entry.id in counted.hits)
    return {kind: (found[kind], planted[kind]) for kind in sorted(planted)}
