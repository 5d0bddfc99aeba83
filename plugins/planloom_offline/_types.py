"""type-checker: what an installed type checker says about the types of arguments, results and operands.

It reads the text that was sent and nothing else: the files of a shard are written into a folder of our own, so that an
answer depends on its question alone and no configuration of the audited code is followed. What a file imports from
outside its shard has no type there, which hides errors and makes none up.
"""

from __future__ import annotations

import ast
import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath

from ._checkers import Checker, TypeFault, installed_checker
from .parsed import ParsedFile, Shard
from .rules import Hit

TIMEOUT_S = 120.0
"""Five times what the slowest shard of 100,000 tokens took; a checker that is stopped has found nothing."""
_QUOTED_CHARS = 100
_PACKAGE = "audited"


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find what the type checker of this machine finds; nothing where there is none."""
    checker = installed_checker()
    if checker is None:
        return
    faults = file.shard.once("types", lambda: _faults(file.shard, checker))
    seen: set[int] = set()
    for fault in faults.get(file.path, ()):
        if fault.line not in seen:
            seen.add(fault.line)
            yield _hit(file, fault, checker)


def confirm(file: ParsedFile, claim: str, line: int) -> bool:
    """Whether code cut out of its file still reads at that line as a claim quotes it: types come from elsewhere."""
    said = claim.partition("` ")[0].removeprefix("`")
    return bool(said) and _quoted(file, line - file.first_line + 1) == said


def _hit(file: ParsedFile, fault: TypeFault, checker: Checker) -> Hit:
    code = _quoted(file, fault.line)
    return Hit(
        line=fault.line,
        claim=f"`{code}` does not fit by its types, says the type checker {checker.name}: {fault.message}",
        failing_call=code,
        expected="values of the types that are declared or worked out",
    )


def _quoted(file: ParsedFile, line: int) -> str:
    text = file.lines[line - 1].strip() if 1 <= line <= len(file.lines) else ""
    return text if len(text) <= _QUOTED_CHARS else text[: _QUOTED_CHARS - 3] + "..."


def _faults(shard: Shard, checker: Checker) -> dict[str, list[TypeFault]]:
    """Return the faults of a shard's files, by path."""
    with tempfile.TemporaryDirectory(prefix="planloom-types-") as scratch:
        folder = Path(scratch).resolve()
        root = _PACKAGE if any(_imports_above(file) for file in shard.files) else ""
        paths = _written(shard.files, folder, root)
        found: dict[str, list[TypeFault]] = defaultdict(list)
        for fault in checker.read(_said(checker, paths, folder), folder) if paths else ():
            found[fault.path.removeprefix(f"{root}/")].append(fault)
        return found


def _imports_above(file: ParsedFile) -> bool:
    """Whether a file belongs to a package that the audited folder itself is, and whose name nobody knows."""
    depth = file.path.count("/")
    imports = (node for node in file.tree.body if isinstance(node, ast.ImportFrom))
    return file.path == "__init__.py" or any(node.level > depth for node in imports)


def _written(files: Sequence[ParsedFile], folder: Path, root: str) -> list[str]:
    """Write the files that checkers take for modules; return their paths, each module once."""
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
    """Whether a path may be written below a folder of ours and imported; no checker takes a second ``types``."""
    parts = path.with_suffix("").parts
    named = all(part.isidentifier() for part in parts)
    return path.suffix == ".py" and named and parts[0] not in sys.stdlib_module_names


def _said(checker: Checker, paths: Sequence[str], folder: Path) -> str:
    try:
        done = subprocess.run(  # noqa: S603  # a program that the machine's owner installed, on files of our own
            checker.reading(paths, _cache_folder()),
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
    return kept | {"HOME": str(folder), "MYPY_FORCE_COLOR": "", "PYTHONDONTWRITEBYTECODE": "1"}
