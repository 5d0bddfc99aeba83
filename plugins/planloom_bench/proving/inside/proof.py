"""One proof, in a process that does nothing else and ends with it."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import os
import sys
import tempfile
import time
from types import ModuleType

from . import calls, jobs, kernel
from .examples import collect, run, sow
from .jobs import Job, Outcome
from .loading import Compiled, TextFinder
from .refusals import NETWORK, PROCESSES, Refusals

_DETAIL_CHARACTERS = 160
WRITING = "writing outside its own folder"
# Modules that nothing but time is lost by importing, and that a proof may therefore find imported already.
_HARMLESS = frozenset(
    {"argparse", "array", "ast", "asyncio", "base64", "bisect", "calendar", "cmath", "collections", "concurrent"}
    | {"configparser", "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "email", "enum"}
    | {"fractions", "functools", "gzip", "hashlib", "heapq", "html", "http", "inspect", "io", "itertools", "json"}
    | {"locale", "logging", "math", "multiprocessing", "numbers", "operator", "pathlib", "pickle", "platform", "pprint"}
    | {"queue", "random", "re", "secrets", "shutil", "socket", "sqlite3", "ssl", "statistics", "string", "struct"}
    | {"subprocess", "tempfile", "textwrap", "threading", "timeit", "traceback", "types", "typing", "unicodedata"}
    | {"unittest", "urllib", "uuid", "warnings", "weakref", "xml", "zipfile", "zlib", "zoneinfo"}
)


def silence() -> None:
    """Make the three standard streams lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def confine(folder: str, limit_s: float) -> Refusals:
    """Confine this process to a folder and to its limits, for good."""
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder)
    tempfile.tempdir = None
    sys.dont_write_bytecode = True
    hold(folder, limit_s, has_left_network=False)
    refusals = Refusals(folder)
    refusals.begin()
    return refusals


def hold(folder: str, limit_s: float, *, has_left_network: bool) -> tuple[str, ...]:
    """Put the kernel's layers around this process, for good; gives what none of them holds code beside Python from."""
    kernel.limit(limit_s)
    is_closed, is_filtered = kernel.close_file_system(folder), calls.refuse_calls()
    held = {WRITING: is_closed, PROCESSES: is_filtered, NETWORK: is_filtered or has_left_network}
    return tuple(what for what, is_held in held.items() if not is_held)


def prove(job: Job, compiled: Compiled, refusals: Refusals) -> Outcome:
    """How the job went; the caller's process holds the library's modules afterwards and should end."""
    began, loaded = time.process_time(), set(sys.modules)
    finder = TextFinder(job.path, job.text, job.trees, compiled)
    outcome = _proved(job, finder)
    return outcome._replace(
        cpu_s=round(time.process_time() - began, 4),
        refused=tuple(sorted(refusals.refused)),
        compiled=tuple(finder.missing),
        imported=tuple(name for name in sys.modules if name not in loaded and name.partition(".")[0] in _HARMLESS),
    )


def _proved(job: Job, finder: TextFinder) -> Outcome:
    try:
        module = _imported(job, finder)
    except ModuleNotFoundError as error:
        return Outcome(jobs.MISSING_MODULE, detail=str(error.name or _say(error)))
    # Whatever a module raises while it is imported, it says about the module.
    except BaseException as error:
        return Outcome(jobs.NO_IMPORT, detail=_say(error))
    if finder.served != 1:
        return Outcome(jobs.NOT_LOADED, detail=f"the text was loaded {finder.served} times")
    return _counted(job, module)


def _imported(job: Job, finder: TextFinder) -> ModuleType:
    sys.path[:] = [*job.first, *sys.path, *job.last]
    # A library may have the name of a module that is loaded already.
    top = job.module.partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == top]:
        del sys.modules[name]
    importlib.invalidate_caches()
    sys.meta_path.insert(0, finder)
    sys.argv = [job.path]
    sow(job.seed)
    return importlib.import_module(job.module)


def _counted(job: Job, module: ModuleType) -> Outcome:
    tests: list[doctest.DocTest] = []
    fate = jobs.NOT_COLLECTED
    try:
        tests = collect(module)
        fate = jobs.NOT_RUN
        counter = run(tests, job.flags, job.seed)
    # KeyboardInterrupt, and what strange objects raise when doctest looks at them.
    except BaseException as error:
        return Outcome(fate, detail=_say(error))
    return Outcome(jobs.RAN, failed=counter.failures, total=counter.total, detail=counter.first_failure)


def _say(error: BaseException) -> str:
    text = ""
    with contextlib.suppress(Exception):
        text = str(error)
    return f"{type(error).__name__}: {text}"[:_DETAIL_CHARACTERS]
