"""type-checker: what mypy, where it is installed, says about the types of arguments, results and operands.

It reads the text that was sent and nothing else: the files of a shard are written into a folder of our own, so that an
answer depends on its question alone and no configuration of the audited code is followed. What a file imports from
outside its shard has no type there, which hides errors and makes none up.
"""

from __future__ import annotations

import ast
import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath

from ._mypy import Mypy, TypeFault, installed_mypy, read_faults
from .parsed import Function, ParsedFile, Shard
from .rules import Hit

TIMEOUT_S = 120.0
"""Ten times what a shard of 100,000 tokens took; a checker that is stopped has found nothing."""
_QUOTED_CHARS = 100
_PACKAGE = "audited"
_ANNOTATION = re.compile(r"\) *->|\bdef \w+\([^)\n]*\w:")


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find what the type checker says of annotated code; nothing where none is installed.

    A shard without a single annotation is not worth the second that mypy needs to begin.
    """
    annotated = file.shard.once(
        "annotated", lambda: any(_says_types(f) for each in file.shard.files for f in each.functions)
    )
    return _hits(file, annotated=True) if annotated else iter(())


def check_inferred(file: ParsedFile) -> Iterator[Hit]:
    """Find what it says of functions without annotations, where it must guess what their names may hold."""
    return _hits(file, annotated=False)


def _hits(file: ParsedFile, *, annotated: bool) -> Iterator[Hit]:
    mypy = installed_mypy()
    if mypy is None:
        return
    faults = file.shard.once("types", lambda: _faults(file.shard, mypy))
    seen: set[int] = set()
    for fault in faults.get(file.path, ()):
        if fault.line not in seen and _annotated(file, fault.line) == annotated:
            seen.add(fault.line)
            yield _hit(file, fault)


def _annotated(file: ParsedFile, line: int) -> bool:
    """Whether the function around a line says a type; code outside of functions needs none."""
    function = file.innermost(line)
    return function is None or _says_types(function)


def _says_types(function: Function) -> bool:
    arguments = (node for node in ast.walk(function.node.args) if isinstance(node, ast.arg))
    return function.node.returns is not None or any(argument.annotation is not None for argument in arguments)


def says_types(text: str) -> bool:
    """Whether the text of a shard looks annotated, without parsing it."""
    return _ANNOTATION.search(text) is not None


def always(text: str) -> bool:
    """Mypy is started whatever the text."""
    return True


def confirm(file: ParsedFile, claim: str, line: int) -> bool:
    """Whether code cut out of its file still reads at that line as a claim quotes it: types come from elsewhere."""
    said = claim.partition("` ")[0].removeprefix("`")
    return bool(said) and _quoted(file, line - file.first_line + 1) == said


def _hit(file: ParsedFile, fault: TypeFault) -> Hit:
    code = _quoted(file, fault.line)
    return Hit(
        line=fault.line,
        claim=f"`{code}` does not fit by its types, says the type checker mypy: {fault.message}",
        failing_call=code,
        expected="values of the types that are declared or worked out",
    )


def _quoted(file: ParsedFile, line: int) -> str:
    text = file.lines[line - 1].strip() if 1 <= line <= len(file.lines) else ""
    return text if len(text) <= _QUOTED_CHARS else text[: _QUOTED_CHARS - 3] + "..."


def _faults(shard: Shard, mypy: Mypy) -> dict[str, list[TypeFault]]:
    """Return the faults of a shard's files, by path."""
    with tempfile.TemporaryDirectory(prefix="planloom-types-") as scratch:
        folder = Path(scratch).resolve()
        root = _PACKAGE if any(_imports_above(file) for file in shard.files) else ""
        paths = _written(shard.files, folder, root)
        found: dict[str, list[TypeFault]] = defaultdict(list)
        for fault in read_faults(_said(mypy, paths, folder)) if paths else ():
            found[fault.path.removeprefix(f"{root}/")].append(fault)
        return found


def _imports_above(file: ParsedFile) -> bool:
    """Whether a file belongs to a package that the audited folder itself is, and whose name nobody knows."""
    depth = file.path.count("/")
    imports = (node for node in file.tree.body if isinstance(node, ast.ImportFrom))
    return file.path == "__init__.py" or any(node.level > depth for node in imports)


def _written(files: Sequence[ParsedFile], folder: Path, root: str) -> list[str]:
    """Write the files that mypy takes for modules; return their paths, each module once."""
    modules: dict[PurePosixPath, ParsedFile] = {}
    for file in files:
        path = PurePosixPath(root, file.path)
        if file.first_line == 1 and _is_module(path):
            modules.setdefault(path.parent if path.name == "__init__.py" else path.with_suffix(""), file)
    written = []
    for file in modules.values():
        path = PurePosixPath(root, file.path)
        target = folder / path
        with suppress(OSError):  # a name that this file system does not take
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("\n".join(file.lines) + "\n", encoding="utf-8", errors="surrogatepass")
            written.append(str(path))
    return sorted(written)


def _is_module(path: PurePosixPath) -> bool:
    """Whether a path may be written below a folder of ours and imported; mypy refuses a second ``types``."""
    parts = path.with_suffix("").parts
    named = all(part.isidentifier() for part in parts)
    return path.suffix == ".py" and named and parts[0] not in sys.stdlib_module_names


def _said(mypy: Mypy, paths: Sequence[str], folder: Path) -> str:
    try:
        done = subprocess.run(  # noqa: S603  # a program that the machine's owner installed, on files of our own
            mypy.reading(paths, _cache_folder()),
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return ""
    return done.stdout.decode("utf-8", "replace")


@cache
def _cache_folder() -> str:
    """A folder for this process's life: reading Python's own types anew takes a second a shard."""
    folder = tempfile.mkdtemp(prefix="planloom-types-cache-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _environment(folder: Path) -> dict[str, str]:
    """No configuration of the caller's, and no cache that another run could have left."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return kept | {"HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
