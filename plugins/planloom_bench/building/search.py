"""A build: examine the files, check the proofs themselves, search in rounds, and prove what was taken once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import attrs

from planloom.wording import counted
from planloom_bench._errors import TooFewBugs
from planloom_bench.mutators import TWELVE_KINDS, Mutator
from planloom_bench.proving import Outcome
from planloom_bench.proving.inside.jobs import RAN

from .canary import check_proofs
from .candidates import Candidate, Examiner
from .choosing import Attempt, Choice
from .journal import Journal, digest_of
from .library import Built, LeftOut, Library, Planted
from .order import spread
from .reasons import DOCTESTS_WANTED, counted_reasons
from .workers import Proofs, Workers

__all__ = ["MOST_FAILING", "Progress", "build", "too_few"]

# A bug that most examples notice is no bug that an auditor has to look for.
MOST_FAILING = 0.4
# From cold everything is compiled anew.
_COLD_LIMIT_S = 10.0

Progress = Callable[[str, int, int], None]


def build(
    library: Library,
    *,
    seed: int,
    bugs: int,
    per_file: int = 1,
    at_most: bool = False,
    mutators: Iterable[Mutator] = TWELVE_KINDS,
    options: tuple[str, ...] | None = None,
    journal: Path | None = None,
    workers: int | None = None,
    on_progress: Progress = lambda stage, done, of: None,
) -> Built:
    """Proved edits of a library; the same library, seed and numbers give the same ones.

    :param at_most: take fewer bugs where there are no more.
    :param options: names of doctest options, in place of what the library's configuration asks for.
    :param journal: a folder in which proofs are kept, so that a build that was stopped goes on.
    :param workers: how many proofs at once; one a processor by default.
    :param on_progress: called with a stage (``files``, ``bugs``, ``once more``), how many are done, and of how many.
    :raises TooFewBugs: there are fewer bugs, and ``at_most`` is false.
    :raises DeafProofs: the proofs do not notice a function that raises.
    """
    book = Journal(journal, digest_of(library.files))
    try:
        with Workers(book, workers) as crew:
            search = _Search(library, Examiner(library, options), crew, on_progress)
            built = search.run(tuple(mutators), seed=seed, bugs=bugs, per_file=per_file)
    finally:
        book.close()
    if len(built.entries) < bugs and not at_most:
        raise TooFewBugs(too_few(built, bugs))
    return built


@attrs.define
class _Search:
    """One run of a build; owns its counts."""

    library: Library
    examiner: Examiner
    crew: Workers
    on_progress: Progress
    left_out: list[LeftOut] = attrs.field(factory=list)
    verdicts: Counter[str] = attrs.field(factory=Counter)
    proved: dict[Attempt, Outcome] = attrs.field(factory=dict)
    confirmed: set[Attempt] = attrs.field(factory=set)

    def run(self, mutators: Sequence[Mutator], *, seed: int, bugs: int, per_file: int) -> Built:
        """Find the bugs."""
        candidates = spread(self.examined(), seed)
        for _ in self.crew.each([candidates], check_proofs):
            pass
        choice = Choice(candidates, mutators, bugs=bugs, seed=seed, per_file=per_file)
        self.fill(choice, bugs)
        while unstable := self.unlike_from_cold(choice.taken):
            for path in unstable:
                choice.drop(path)
                self.left_out.append(LeftOut(path=path, reason="gives other results from cold"))
            self.fill(choice, bugs)
        return self.built(choice, len(candidates))

    def examined(self) -> list[Candidate]:
        """The files that can be planted."""
        candidates = []
        results = self.crew.each(self.library.files, self.examiner.examine)
        for done, result in enumerate(results, start=1):
            if isinstance(result, LeftOut):
                self.left_out.append(result)
            else:
                candidates.append(result)
            self.on_progress("files", done, len(self.library.files))
        return candidates

    def fill(self, choice: Choice, bugs: int) -> None:
        """Prove round after round until there are bugs enough, or nothing is left to try."""
        while attempts := choice.next_round():
            for attempt, outcome in zip(attempts, self.crew.each(attempts, _prove), strict=True):
                verdict = _verdict(attempt.candidate, outcome)
                self.verdicts[verdict] += 1
                if verdict == "accepted":
                    self.proved[attempt] = outcome
                    choice.take(attempt)
            self.on_progress("bugs", len(choice.taken), bugs)

    def unlike_from_cold(self, taken: Sequence[Attempt]) -> list[str]:
        """The files in which a fresh interpreter sees something else, with the edit or without."""
        new = [attempt for attempt in taken if attempt not in self.confirmed]
        for done, (attempt, same) in enumerate(
            zip(new, self.crew.each(new, self.same_from_cold), strict=True), start=1
        ):
            if same:
                self.confirmed.add(attempt)
            self.on_progress("once more", done, len(new))
        return sorted({attempt.candidate.path for attempt in new if attempt not in self.confirmed})

    def same_from_cold(self, proofs: Proofs, attempt: Attempt) -> bool:
        """Whether a fresh interpreter counts the same, with the edit and without."""
        job = attempt.candidate.job._replace(limit_s=_COLD_LIMIT_S)
        clean = proofs.prove_cold(job)
        edited = proofs.prove_cold(job._replace(text=attempt.candidate.parsed.edited(attempt.edit)))
        return _counts(clean) == (RAN, 0, attempt.candidate.total) and _counts(edited) == _counts(self.proved[attempt])

    def built(self, choice: Choice, plantable: int) -> Built:
        """What the build gives."""
        entries = [_planted(attempt, self.proved[attempt]) for attempt in choice.taken]
        counts = {"files": len(self.library.files), "plantable": plantable}
        counts |= {f"proofs: {verdict}": number for verdict, number in sorted(self.verdicts.items())}
        return Built(
            entries=tuple(sorted(entries, key=lambda entry: (entry.path, entry.line))),
            left_out=tuple(sorted(self.left_out, key=lambda left: left.path)),
            counts=counts,
        )


def _prove(proofs: Proofs, attempt: Attempt) -> Outcome:
    return proofs.prove(attempt.candidate.job._replace(text=attempt.candidate.parsed.edited(attempt.edit)))


def _verdict(candidate: Candidate, outcome: Outcome) -> str:
    if outcome.fate != RAN:
        return outcome.fate
    if outcome.total != candidate.total:
        return "other examples"
    if not outcome.failed:
        return "unnoticed"
    return "accepted" if outcome.failed <= MOST_FAILING * outcome.total else "too loud"


def _counts(outcome: Outcome) -> tuple[str, int, int]:
    return outcome.fate, outcome.failed, outcome.total


def _planted(attempt: Attempt, outcome: Outcome) -> Planted:
    file, edit = attempt.candidate.parsed, attempt.edit
    return Planted(
        path=attempt.candidate.path,
        line=edit.line,
        column=edit.start + 1,
        before_line=file.lines[edit.line - 1].rstrip("\r\n"),
        after_line=file.edited_line(edit).rstrip("\r\n"),
        kind=attempt.kind,
        function=attempt.function,
        failed=outcome.failed,
        total=outcome.total,
    )


def too_few(built: Built, bugs: int) -> str:
    """Return that a build has fewer bugs than were asked for, why, and what to do."""
    found = len(built.entries)
    advice = (
        f"Ask for {found} or fewer with --bugs, take what there is with --at-most, or allow more than one bug a file "
        "with --per-file"
    )
    return (
        f"bugs asked for: {bugs}, that can be planted: {found}; of {counted(built.counts['files'], 'file')}, "
        f"{built.counts['plantable']} with examples that can prove a bug ({counted_reasons(built.left_out)}). "
        f"{advice if found else DOCTESTS_WANTED}"
    )
