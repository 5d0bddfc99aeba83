"""Makes the shelf's benchmark from its library and the list of edits.

    python data/shelf_tools/plant.py

Strips the examples from every file, replaces one line in each file that the list names, runs the examples of the clean
file with the same edit to count how many notice it, and writes what an auditor reads, the hidden key and the manifest.
The same library and list give the same files, byte for byte.
"""

import ast
import doctest
import hashlib
import json
import sys
import types
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from planloom_bench import strip_examples
from shelf_tools.edits import EDITS, Edit

DATA = Path(__file__).resolve().parent.parent / "planloom_data" / "shelf"
LIBRARY = DATA / "library"
BENCHMARK = DATA / "benchmark"


@attrs.frozen
class Proof:
    """How many of the clean file's examples fail with an edit."""

    failed: int
    total: int


def sources(root: Path) -> dict[str, str]:
    """Every Python file below the folder, by its path with forward slashes."""
    found = sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix())
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found}


def span_of(text: str, function: str) -> tuple[int, int]:
    """First and last line of a function, named with its classes.

    :raises LookupError: When the text has no such function.
    """
    nodes: list[ast.stmt] = ast.parse(text).body
    for name in function.split("."):
        kinds = ast.FunctionDef | ast.ClassDef
        node = next((node for node in nodes if isinstance(node, kinds) and node.name == name), None)
        if node is None:
            raise LookupError(f"no function {function} in the text; name it with its classes")
        nodes = node.body
    assert node is not None, "a name has at least one part"
    return node.lineno, node.end_lineno or node.lineno


def line_of(text: str, edit: Edit) -> int:
    """The number of the line that an edit replaces, from 1.

    :raises LookupError: When the function does not hold the line exactly once.
    """
    first, last = span_of(text, edit.function)
    lines = text.splitlines()
    places = [number for number in range(first, last + 1) if lines[number - 1].strip() == edit.before]
    if len(places) != 1:
        raise LookupError(
            f"{edit.path}: {edit.function} holds {edit.before!r} {len(places)} times; give a line it holds once"
        )
    return places[0]


def edited(text: str, edit: Edit) -> str:
    """The text with the edit made."""
    lines = text.splitlines(keepends=True)
    at = line_of(text, edit) - 1
    lines[at] = lines[at].replace(edit.before, edit.after)
    return "".join(lines)


def run_examples(path: str, text: str) -> Proof:
    """What the file's doctests say about a text in its place; nothing is written, nothing stays imported."""
    name = path.removesuffix(".py").replace("/", ".")
    module = types.ModuleType(name)
    sys.modules[name] = module
    try:
        exec(compile(text, path, "exec"), module.__dict__)  # noqa: S102 - our own library, with one line changed
        runner = doctest.DocTestRunner(verbose=False)
        for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
            runner.run(test, out=lambda _: None)
    finally:
        del sys.modules[name]
    return Proof(runner.failures, runner.tries)


def audited_sources(clean: Mapping[str, str], edits: Iterable[Edit] = EDITS) -> dict[str, str]:
    """What an auditor reads: every file without examples, the edits made."""
    stripped = {path: strip_examples(text) for path, text in clean.items()}
    return stripped | {edit.path: edited(stripped[edit.path], edit) for edit in edits}


def answer_key(clean: Mapping[str, str], edits: Iterable[Edit] = EDITS) -> dict[str, Any]:
    """The hidden key as it is written."""
    entries = []
    for number, edit in enumerate(sorted(edits, key=lambda edit: edit.path), start=1):
        proof = run_examples(edit.path, edited(clean[edit.path], edit))
        entries.append(
            {
                "id": f"shelf-{number:02}",
                "path": edit.path,
                "line": line_of(strip_examples(clean[edit.path]), edit),
                "function": edit.function,
                "kind": edit.kind,
                "before": edit.before,
                "after": edit.after,
                "examples": {"failed": proof.failed, "total": proof.total},
            }
        )
    return {"format": 1, "entries": entries}


def manifest(clean: Mapping[str, str], audited: Mapping[str, str], key: Mapping[str, Any]) -> dict[str, Any]:
    """Where the benchmark comes from and what is in it, without a word on where the bugs are."""
    entries = key["entries"]
    return {
        "format": 1,
        "name": "shelf",
        "source": {"library": "shelf", "version": "1", "licence": "Apache-2.0", "sha256": digest(clean)},
        "planted": {"by": "hand", "seed": None, "bugs": len(entries)},
        "kinds": dict(sorted(Counter(entry["kind"] for entry in entries).items())),
        "files": len(audited),
        "lines": sum(len(text.splitlines()) for text in audited.values()),
        "audited_sha256": digest(audited),
    }


def digest(texts: Mapping[str, str]) -> str:
    """One hash over paths and texts."""
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def benchmark() -> dict[str, str]:
    """Every file of the benchmark by its path below the benchmark's folder."""
    clean = sources(LIBRARY)
    audited = audited_sources(clean)
    key = answer_key(clean)
    made = {f"audited/{path}": text for path, text in audited.items()}
    made["hidden/answer_key.json"] = json.dumps(key, indent=2) + "\n"
    made["manifest.json"] = json.dumps(manifest(clean, audited, key), indent=2) + "\n"
    return made


def main() -> None:
    """Write the benchmark."""
    for path, text in benchmark().items():
        target = BENCHMARK / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
