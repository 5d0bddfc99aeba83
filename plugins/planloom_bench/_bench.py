"""A benchmark as the scorer opens it: what auditors read, and the key that they never see."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import attrs

from planloom_code import FileNames, Places, Skipped, Unparsable, parse, read_source, split_lines

from ._errors import BadBenchmark
from ._key import Key, KeyEntry, read_key


@attrs.frozen
class AuditedFile:
    """One file as auditors read it. What is asked of its syntax is worked out once, when it is first asked."""

    path: str
    text: str

    @cached_property
    def places(self) -> Places:
        """The functions of the file."""
        return Places(self.text)

    @cached_property
    def statements(self) -> tuple[tuple[int, int], ...]:
        """First and last line of every statement; of one that holds others, only the part before them."""
        return tuple(sorted({_lines_of(node) for node in self._statement_nodes()}))

    @cached_property
    def code_lines(self) -> tuple[int, ...]:
        """The lines in functions on which a statement begins that does something: no definition, no docstring."""
        doing = {node.lineno for node in self._statement_nodes() if _does_something(node)}
        return tuple(sorted(line for line in doing if self.places.function_at(line) is not None))

    def statement_at(self, line: int) -> tuple[int, int] | None:
        """First and last line of the statement that the line belongs to, None between statements."""
        return self._statement_by_line.get(line)

    @cached_property
    def _statement_by_line(self) -> Mapping[int, tuple[int, int]]:
        # In their order, so that of two statements on a line the later one stays.
        return {line: (first, last) for first, last in self.statements for line in range(first, last + 1)}

    def _statement_nodes(self) -> list[ast.stmt]:
        """All statements, outer ones first; none when this Python cannot parse the file."""
        try:
            return [node for node in ast.walk(parse(self.text)) if isinstance(node, ast.stmt)]
        except Unparsable:
            return []

    def place_key(self, line: int) -> str:
        """What stands for the line when wrong findings are counted: its function, or its block of ten lines."""
        return self.places.place_of(self.path, line).key


def _does_something(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    return not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _lines_of(node: ast.stmt) -> tuple[int, int]:
    """First and last line of a statement, without the statements in it."""
    inner = [child.lineno for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node]
    last = min(inner) - 1 if inner else node.end_lineno or node.lineno
    return node.lineno, max(node.lineno, last)


@attrs.frozen(kw_only=True)
class Bench:
    """A benchmark: the files that auditors read, by path, and the key."""

    name: str
    audited: Path
    files: Mapping[str, AuditedFile]
    key: Key
    names: FileNames


def load_bench(directory: Path) -> Bench:
    """The benchmark in a folder, its key checked line by line against the files.

    :raises BadBenchmark: a part is missing, or an entry of the key does not fit its file.
    """
    bench = open_bench(directory)
    for entry in bench.key.entries:
        misfit = misfit_of(entry, bench.files)
        if misfit is not None:
            raise BadBenchmark(f"{entry.path}:{entry.line} {misfit}; build the benchmark again")
    return bench


def open_bench(directory: Path) -> Bench:
    """The benchmark in a folder, as it lies there.

    :raises BadBenchmark: a part is missing.
    """
    audited = directory / "audited"
    try:
        if not audited.is_dir():
            raise BadBenchmark(f"{directory} holds no folder audited/; give the folder of a benchmark")
        key = read_key(directory / "hidden" / "answer_key.json")
        files = {file.path: file for file in _read_files(audited)}
    except OSError as error:
        place = error.filename or directory
        raise BadBenchmark(f"{place} cannot be read ({error.strerror}); give a benchmark that you may read") from error
    return Bench(name=_name(directory), audited=audited, files=files, key=key, names=FileNames(files))


def misfit_of(entry: KeyEntry, files: Mapping[str, AuditedFile]) -> str | None:
    """What is at an entry's place in its stead, or None when the entry fits."""
    file = files.get(entry.path)
    if file is None:
        return f"is named by the key ({entry.id}) and is not in audited/"
    lines = split_lines(file.text)
    found = lines[entry.line - 1].strip() if entry.line <= len(lines) else "(the end of the file)"
    function = file.places.function_at(entry.line)
    if found == entry.after and function == entry.function:
        return None
    return f"reads {found!r} in {function}, the key says {entry.after!r} in {entry.function}"


def _read_files(audited: Path) -> Iterator[AuditedFile]:
    # What no auditor can read holds no bug of the key: load_bench checks that.
    for path in sorted(audited.rglob("*.py")):
        source = read_source(path, path.relative_to(audited).as_posix())
        if not isinstance(source, Skipped):
            yield AuditedFile(source.path, source.text)


def _name(directory: Path) -> str:
    path = directory / "manifest.json"
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["name"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BadBenchmark(f"{path} is no manifest with a name: {error}; build the benchmark again") from error
