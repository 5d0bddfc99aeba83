"""The work of an audit: the tree of sources, packed; and what one run of a plan has seen of it."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from planloom import Misuse, NothingToDo
from planloom.questions import Part
from planloom_code import CodeError, Finding, Malformed, Place, normalise

from .rows import FindingRows, workers_behind

if TYPE_CHECKING:
    from asyncio import Lock

    from planloom_code import SourceTree

__all__ = ["AuditRun", "AuditWork", "open_work"]

# Some sixty shards of 100,000 tokens; what does not fit is rendered again.
_HELD_CHARACTERS = 32_000_000


def open_work(target: str, options: Mapping[str, Any]) -> AuditWork:
    """Read the tree below a path; ``options`` may hold ``include`` and ``exclude`` patterns, and ``wide``.

    :raises Misuse: the path cannot be audited. :raises NothingToDo: it holds no source file that can be read.
    """
    from planloom_code import SourceTree

    try:
        tree = SourceTree.open(Path(target), include=options.get("include", ()), exclude=options.get("exclude", ()))
    except CodeError as error:
        raise Misuse(str(error)) from error
    if not any(file.lines for file in tree.files):
        raise NothingToDo(_nothing(tree, [*options.get("include", ()), *options.get("exclude", ())]))
    return AuditWork(tree, wide=bool(options.get("wide")))


def _nothing(tree: SourceTree, patterns: Sequence[str]) -> str:
    if patterns and not tree.files:
        named = ", ".join(f"`{pattern}`" for pattern in patterns)
        return f"no Python file below {tree.root} is left by the patterns {named}; change --include and --exclude"
    if tree.files:
        return f"the Python files below {tree.root} are empty; name a folder that holds code"
    if tree.skipped:
        first = tree.skipped[0]
        more = f" and {len(tree.skipped) - 1} more" if len(tree.skipped) > 1 else ""
        return (
            f"there is no Python file to read below {tree.root}: {first.path} was left out ({first.reason}){more}; "
            "name another folder or change --include and --exclude"
        )
    return f"there is no Python file below {tree.root}; name a folder that holds some"


class AuditWork:
    """One audited tree, shared by the rehearsal and the run of a job.

    :ivar wide: offline rules with more false alarms are asked for.
    """

    def __init__(self, tree: SourceTree, *, wide: bool = False) -> None:
        self.tree = tree
        self.wide = wide
        self._shards: dict[int, list[list[str]]] = {}
        self._digests: dict[tuple[str, ...], str] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._tokens: dict[str, int] = {}
        self._parts: OrderedDict[str, Part] = OrderedDict()
        self._held_characters = 0

    def manifest(self) -> Mapping[str, Any]:
        """Return the files with sizes and hashes, the skipped ones with reasons, and the shards as packed."""
        return {
            "root": str(self.tree.root),
            "files": [[f.path, f.size_bytes, f.sha256] for f in self.tree.files],
            "skipped": [[s.path, s.reason] for s in self.tree.skipped],
            "shards": {str(tokens): shards for tokens, shards in self._shards.items()},
        }

    def digest(self) -> str:
        """Return a hash of all files' paths and contents."""
        return self.shard_digest(self.tree.paths)

    def new_run(self, *, rehearsal: bool) -> AuditRun:
        """Return the state of one run."""
        return AuditRun(self, rehearsal)

    def shards(self, tokens: int) -> list[list[str]]:
        """Return the tree packed into shards of that many tokens, each a list of paths."""
        if tokens not in self._shards:
            self._shards[tokens] = [list(shard.names) for shard in self.tree.shards(tokens)]
        return [list(names) for names in self._shards[tokens]]

    def shard_digest(self, names: Sequence[str]) -> str:
        """Return a hash of the names and contents of a shard's files: equal ones render to equal text.

        :raises ValueError: a name is no file of the tree.
        """
        key = tuple(names)
        if key not in self._digests:
            rows = "".join(f"{self._sha256(name)} {name}\n" for name in key)
            digest = hashlib.sha256(rows.encode("utf-8", "surrogatepass")).hexdigest()
            self._digests[key] = digest
            self._names[digest] = key
        return self._digests[key]

    def names(self, digest: str) -> tuple[str, ...]:
        """Return the names that a digest was made of."""
        return self._names[digest]

    def tokens(self, names: Sequence[str]) -> int:
        """Return the estimated tokens of a shard's numbered text."""
        digest = self.shard_digest(names)
        if digest not in self._tokens:
            self._tokens[digest] = sum(self.tree.info(self._path(name)).tokens for name in names)
        return self._tokens[digest]

    def text(self, names: Sequence[str]) -> Part:
        """Return a shard's numbered text, hashed once for all who read it."""
        digest = self.shard_digest(names)
        if digest in self._parts:
            self._parts.move_to_end(digest)
            return self._parts[digest]
        part = self._parts[digest] = Part(self.tree.render(names))
        self._held_characters += len(part.text)
        while self._held_characters > _HELD_CHARACTERS and len(self._parts) > 1:
            self._held_characters -= len(self._parts.popitem(last=False)[1].text)
        return part

    def finding(self, raw: object, source: str = "") -> Finding | Malformed:
        """Return the finding that a worker's item, or a plan's own copy of one, means."""
        read = normalise(raw, self.tree, source)
        if isinstance(read, Malformed) or not isinstance(raw, Mapping):
            return read
        behind = workers_behind(raw, source)
        return attrs.evolve(read, **behind) if behind else read

    def _path(self, name: str) -> str:
        if name in self.tree:
            return name
        path = self.tree.resolve(name.rpartition(":")[0]) if ":" in name else None
        if path is None:
            raise ValueError(f"`{name[:200]}` is no file of the audited folder; pass a shard as shards() gave it")
        return path

    def _sha256(self, name: str) -> str:
        return self.tree.info(self._path(name)).sha256


class AuditRun:
    """What one run of a plan has seen and decided; words change it, the report reads it."""

    def __init__(self, work: AuditWork, rehearsal: bool = False) -> None:
        self.work = work
        self.rehearsal = rehearsal
        self.read: defaultdict[str, set[str]] = defaultdict(set)
        self.found = 0
        self.reported: dict[str, dict[str, Any]] = {}
        self.set_aside: list[str] = []
        self.unasked: list[str] = []
        self.undecided: dict[str, dict[str, Any]] = {}
        self.lost_verdicts: Counter[str] = Counter()
        self.rows = FindingRows()

    @cached_property
    def reading(self) -> Lock:
        """Held while a reply is read."""
        from asyncio import Lock  # a plan that is only checked does without

        return Lock()

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Remember why a question cannot be asked: a file changed or went away since the tree was opened.

        :raises Misuse: in place of the fault, so that only this worker fails.
        """
        try:
            yield
        except CodeError as error:
            self.unasked.append(str(error))
            raise Misuse(str(error)) from error

    def finding(self, raw: object, source: str = "") -> Finding | Malformed:
        """Return the finding that an item means; in a rehearsal without reading the file it points into."""
        if not self.rehearsal or not isinstance(raw, Mapping):
            return self.work.finding(raw, source)
        path, line = str(raw["file"]), int(raw["line"])
        place = Place(path, None, line - (line - 1) % 10)
        behind = {"source": source} | workers_behind(raw, source)
        return Finding(file=path, line=line, function=None, claim=str(raw["claim"]), place=place, **behind)

    def report(self, findings: Iterable[Mapping[str, Any]]) -> None:
        """Note what a scan reported, once a place: where the audit is stopped, it is shown as undecided."""
        for finding in findings:
            self.found += 1
            if not self.rehearsal:
                self.reported.setdefault(finding["key"], dict(finding))

    def scanned(self, names: Sequence[str], lens: str) -> None:
        """Note that a scan of these files through that lens answered."""
        self.read[lens].update(names)

    def verdicts_lost(self, findings: Iterable[Finding]) -> None:
        """Note that a skeptic's words on these findings never reached the plan, since the task that asked failed."""
        self.lost_verdicts.update(finding.place.key for finding in findings)

    @property
    def covered(self) -> set[str]:
        """The files that some scan which answered has seen."""
        return set().union(*self.read.values())
