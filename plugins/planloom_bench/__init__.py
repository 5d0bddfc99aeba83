"""Benchmarks of planted bugs: reading them, and scoring what an audit found against the hidden key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from planloom.cli import late_command
from planloom.hookspecs import hookimpl
from planloom.late import late_names
from planloom.plugins import Kind

from . import hookspecs
from .mutators.catalogue import TWELVE_KINDS
from .mutators.mutator import Mutator
from .scorers import FIVE_LINES, SAME_STATEMENT, Scorer

if TYPE_CHECKING:
    from ._bench import AuditedFile, Bench, load_bench
    from ._chance import Chance, chance_line
    from ._commands import bench_command, score_command, to_json
    from ._demo import demo_command
    from ._errors import (
        BadBenchmark,
        BadFindings,
        BadSource,
        BenchError,
        DeafProofs,
        ExamplesLeft,
        LeaksFound,
        TooFewBugs,
    )
    from ._intervals import wilson
    from ._key import KINDS, Key, KeyEntry, read_key
    from ._paired import Paired, mcnemar, paired
    from ._reports import Report, Reported, load_report, read_report
    from ._score import Score, score
    from ._showing import Rival, render_score, to_markdown
    from ._strip import strip_examples
    from ._tally import Tally, tally

__all__ = [
    "FIVE_LINES",
    "KINDS",
    "SAME_STATEMENT",
    "AuditedFile",
    "BadBenchmark",
    "BadFindings",
    "BadSource",
    "Bench",
    "BenchError",
    "Chance",
    "DeafProofs",
    "ExamplesLeft",
    "Key",
    "KeyEntry",
    "LeaksFound",
    "Mutator",
    "Paired",
    "Report",
    "Reported",
    "Rival",
    "Score",
    "Scorer",
    "Tally",
    "TooFewBugs",
    "bench_command",
    "chance_line",
    "demo_command",
    "load_bench",
    "load_report",
    "mcnemar",
    "paired",
    "read_key",
    "read_report",
    "register_commands",
    "register_hookspecs",
    "register_mutators",
    "register_scorers",
    "render_score",
    "score",
    "score_command",
    "strip_examples",
    "tally",
    "to_json",
    "to_markdown",
    "wilson",
]

_SCORE = "Score findings on a benchmark with a hidden key."

__getattr__ = late_names(
    __name__,
    {
        "_bench": (
            "AuditedFile",
            "Bench",
            "load_bench",
        ),
        "_chance": (
            "Chance",
            "chance_line",
        ),
        "_commands": (
            "bench_command",
            "score_command",
            "to_json",
        ),
        "_demo": ("demo_command",),
        "_errors": (
            "BadBenchmark",
            "BadFindings",
            "BadSource",
            "BenchError",
            "DeafProofs",
            "ExamplesLeft",
            "LeaksFound",
            "TooFewBugs",
        ),
        "_intervals": ("wilson",),
        "_key": (
            "KINDS",
            "Key",
            "KeyEntry",
            "read_key",
        ),
        "_paired": (
            "Paired",
            "mcnemar",
            "paired",
        ),
        "_reports": (
            "Report",
            "Reported",
            "load_report",
            "read_report",
        ),
        "_score": (
            "Score",
            "score",
        ),
        "_showing": (
            "Rival",
            "render_score",
            "to_markdown",
        ),
        "_strip": ("strip_examples",),
        "_tally": (
            "Tally",
            "tally",
        ),
    },
)


@hookimpl
def register_hookspecs(register: Callable[[object, tuple[Kind, ...]], None]) -> None:
    """Bring the hooks for scorers and mutators."""
    kinds = (
        Kind("register_scorers", "scorer", lambda: Scorer),
        Kind("register_mutators", "mutator", lambda: Mutator),
    )
    register(hookspecs, kinds)


@hookimpl
def register_mutators(register: Callable[[Mutator], None]) -> None:
    """Bring the twelve kinds of bugs."""
    for mutator in TWELVE_KINDS:
        register(mutator)


@hookimpl
def register_scorers(register: Callable[[Scorer], None]) -> None:
    """Bring the rule of five lines and the strict rule."""
    register(FIVE_LINES)
    register(SAME_STATEMENT)


@hookimpl
def register_commands(register: Callable[[click.Command], None]) -> None:
    """Bring ``planloom bench``, ``planloom score`` and ``planloom demo``."""
    register(late_command("bench", "Benchmarks of planted bugs.", "planloom_bench:bench_command"))
    register(late_command("score", _SCORE, "planloom_bench:score_command"))
    register(
        late_command(
            "demo", "Audit a small library with planted bugs and score the findings.", "planloom_bench:demo_command"
        )
    )
