"""Which files can be planted: those whose examples pass, twice, in time, and are enough to tell a bug from a wreck."""

from __future__ import annotations

import tokenize
from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import attrs

from planloom_bench.mutators import ParsedFile
from planloom_bench.proving import (
    LENIENT,
    Job,
    Naming,
    Outcome,
    configured_options,
    find_import_root,
    flags_of,
    namings,
)
from planloom_bench.proving.inside import jobs
from planloom_code import SourceFile, Unparsable

from .library import LeftOut, Library
from .unread import what_stands_for_examples
from .workers import Proofs

__all__ = ["Candidate", "Examiner"]

# Below this no edit can be accepted: with two examples, one that fails is half of them.
LEAST_EXAMPLES = 3
SLOWEST_BASE_S = 1.0
# A base near the limit is measured again, so that a moment's load does not decide.
_NEAR_LIMIT_S = 0.5
_FIRST_LIMIT_S = 10.0
_GRAMMAR = "is refused by this Python's grammar"
_NO_MODULE = (jobs.MISSING_MODULE, jobs.NO_IMPORT, jobs.NOT_LOADED)
_REASONS = {
    jobs.MISSING_MODULE: "needs a package that is not installed",
    jobs.NO_IMPORT: "cannot be imported",
    jobs.NOT_LOADED: "another module is loaded in its place",
    jobs.NOT_COLLECTED: "has an example that doctest cannot read",
    jobs.NOT_RUN: "its examples end the run of all",
    jobs.FLOODED: "its examples fill the disk",
    jobs.TIMED_OUT: "its examples take too long",
    jobs.ENDED: "ends the interpreter",
    jobs.KILLED: "is ended by a signal",
    jobs.LOST: "takes down whatever runs it",
}


@attrs.frozen(kw_only=True, eq=False)
class Candidate:
    """A file that can be planted.

    :ivar job: the proof of the clean text; an edit is proved by putting another text in it.
    :ivar total: how many examples pass.
    """

    source: SourceFile
    job: Job
    total: int

    @property
    def path(self) -> str:
        """Its path in the library."""
        return self.source.path

    @cached_property
    def parsed(self) -> ParsedFile:
        """Its syntax, for mutators."""
        return ParsedFile(self.source.text)


class Examiner:
    """Tells the files of one library that can be planted from those that cannot; never changes."""

    def __init__(self, library: Library, options: tuple[str, ...] | None = None) -> None:
        self._root = library.root.resolve()
        self._import_root = (library.import_root or find_import_root(self._root)).resolve()
        stated = options if options is not None else configured_options(self._root)
        # Where nothing is stated, what fails plain is tried leniently: a library as installed has lost what it stated.
        self._options = (stated,) if stated is not None else ((), LENIENT)

    def examine(self, proofs: Proofs, source: SourceFile) -> Candidate | LeftOut:
        """The file as a candidate, or why it is none."""
        why = self._at_sight(source)
        if why is not None:
            return why
        job, outcome = self._first_run(proofs, source)
        why = _unusable(source.path, outcome) or _too_few(source, outcome)
        return why or _second_run(proofs, source, job, outcome)

    def _at_sight(self, source: SourceFile) -> LeftOut | None:
        refused = _refused(self._root / source.path, source)
        if refused is not None:
            return LeftOut(path=source.path, reason=_GRAMMAR, detail=refused)
        if ">>>" not in source.text:
            return LeftOut(path=source.path, reason=what_stands_for_examples(source.text))
        return None

    def _first_run(self, proofs: Proofs, source: SourceFile) -> tuple[Job, Outcome]:
        """The first way to run the file in which its examples pass, else the first in which it can be imported."""
        tried: list[tuple[Job, Outcome]] = []
        for naming in namings(self._root / source.path, self._import_root):
            tried += self._runs(proofs, source, naming)
            if tried[-1][1].fate not in _NO_MODULE:
                return tried[-1]
        return tried[0]

    def _runs(self, proofs: Proofs, source: SourceFile, naming: Naming) -> Iterator[tuple[Job, Outcome]]:
        """Runs under one name, with one set of options after the other while examples fail."""
        for options in self._options:
            job = self._job(self._root / source.path, source.text, naming, flags_of(options))
            outcome = proofs.prove(job, patient=False)
            yield job, outcome
            if outcome.fate != jobs.RAN or not outcome.failed:
                return

    def _job(self, path: Path, text: str, naming: Naming, flags: int) -> Job:
        return Job(
            path=str(path),
            text=text,
            module=naming.module,
            first=naming.first,
            last=naming.last,
            trees=(f"{self._root}/",),
            flags=flags,
            limit_s=_FIRST_LIMIT_S,
        )


def _refused(location: Path, source: SourceFile) -> str | None:
    """Why Python would not import a file: its text does not parse, or its mark and its cookie name two encodings."""
    try:
        source.tree()
        with location.open("rb") as file:
            if file.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
                tokenize.detect_encoding(file.readline)
    except Unparsable as error:
        return error.reason
    except SyntaxError as error:
        return str(error)
    except OSError:
        # Whoever imports it will tell.
        return None
    return None


def _unusable(path: str, outcome: Outcome) -> LeftOut | None:
    if outcome.fate == jobs.RAN and not outcome.failed:
        return None
    if outcome.refused:
        return LeftOut(path=path, reason=f"needs {outcome.refused[0]}", detail=outcome.detail)
    reason = _REASONS.get(outcome.fate, "has an example that fails before any edit")
    return LeftOut(path=path, reason=reason, detail=outcome.detail)


def _too_few(source: SourceFile, outcome: Outcome) -> LeftOut | None:
    if outcome.total >= LEAST_EXAMPLES:
        return None
    reason = "has fewer than three examples" if outcome.total else what_stands_for_examples(source.text)
    return LeftOut(path=source.path, reason=reason)


def _second_run(proofs: Proofs, source: SourceFile, job: Job, first: Outcome) -> Candidate | LeftOut:
    second = proofs.prove(job, turn=1)
    if (second.fate, second.failed, second.total) != (first.fate, first.failed, first.total):
        return LeftOut(path=source.path, reason="gives other results when run again", detail=second.detail)
    base_s = second.cpu_s
    if base_s > _NEAR_LIMIT_S:
        base_s = min([base_s, *(proofs.prove(job, turn=turn).cpu_s for turn in (2, 3))])
    if base_s > SLOWEST_BASE_S:
        return LeftOut(path=source.path, reason="its examples take more than a second", detail=f"{base_s:.1f} s")
    return Candidate(source=source, job=job._replace(limit_s=limit_s(base_s)), total=first.total)


def limit_s(base_s: float) -> float:
    """The time limit of a proof, from the time that the clean file takes: half a second and four times as long."""
    return round(min(max(0.5 + 4 * base_s, 1.0), 10.0), 3)
