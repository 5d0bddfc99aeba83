"""Running a module's doctests, and counting."""

from __future__ import annotations

import doctest
import random
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

# Flags that other runners bring. Examples that name them should parse; what they change is not done here.
for _flag in ("ALLOW_BYTES", "ALLOW_UNICODE", "NUMBER"):
    doctest.register_optionflag(_flag)
# With these an example that fails would change how many run.
_NOT_KEPT = doctest.REPORTING_FLAGS | doctest.FAIL_FAST
_DETAIL_CHARACTERS = 160


class Counter(doctest.DocTestRunner):
    """A runner that prints nothing and remembers the first failure."""

    def __init__(self, flags: int) -> None:
        super().__init__(verbose=False, optionflags=flags & ~_NOT_KEPT)
        self.first_failure = ""

    @property
    def total(self) -> int:
        """How many examples were run; Python 3.13 counts those that are skipped among those it tried."""
        return self.tries - int(getattr(self, "skips", 0))

    def report_start(self, out: Any, test: doctest.DocTest, example: doctest.Example) -> None:
        """Say nothing."""

    def report_success(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Say nothing."""

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Remember what an example gave."""
        self._remember(test, example, f"gave {got[:_DETAIL_CHARACTERS]!r}")

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        """Remember what an example raised."""
        self._remember(test, example, f"raised {exc_info[0].__name__}")

    def _remember(self, test: doctest.DocTest, example: doctest.Example, what: str) -> None:
        line = (test.lineno or 0) + example.lineno + 1
        self.first_failure = self.first_failure or f"line {line} {what}"[:_DETAIL_CHARACTERS]


def collect(module: ModuleType) -> list[doctest.DocTest]:
    """The doctests of a module, sorted."""
    return doctest.DocTestFinder(verbose=False, exclude_empty=True).find(module, module.__name__)


def run(tests: list[doctest.DocTest], flags: int, seed: int) -> Counter:
    """The counts of the tests; random numbers begin anew with each."""
    counter = Counter(flags)
    for test in tests:
        sow(seed)
        counter.run(test, out=_nowhere, clear_globs=False)
    return counter


def sow(seed: int) -> None:
    """Seed the random numbers of the standard library, and of numpy where it is loaded."""
    random.seed(seed)
    numpy_random = getattr(sys.modules.get("numpy"), "random", None)
    seeding: Callable[[int], None] | None = getattr(numpy_random, "seed", None)
    if seeding is not None:
        seeding(seed)


def _nowhere(text: str) -> None:
    pass
