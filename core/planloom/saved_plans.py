"""Saved plans: those that ship with kits and those that a project keeps, and the word that runs one inside another.

A saved plan inside a run shares everything with it: budget, caps, journal, phases. What it leaves behind stands below
the place that called it.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planlang import Call, PlanFailed, PlanRejected, Program, Vocabulary, Word
from planlang import compile as compile_program

from ._errors import ConfigurationError, Misuse, did_you_mean
from ._given_files import text_of
from ._plan_mistakes import PlanMistake
from ._signatures import signature_of
from .kits import Kit, SavedPlan
from .runtime import host_of

if TYPE_CHECKING:
    from .settings import Settings

__all__ = ["SavedPrograms", "plan_digests", "plan_named", "plans_called", "plans_named", "saved_plans"]

SUFFIX = ".plan"
_WORD = "plan"
_FOLDER = "plans"
_OWN_FOLDER = ".planloom"
_PROBLEMS_SHOWN = 3
_CALLED = re.compile(r"\bplan\s*\(")
_CALLED_BY_NAME = re.compile(r"""\bplan\s*\(\s*(["'])[^"'\n]*\1\s*[,)]""")


def saved_plans(kits: Iterable[Kit], settings: Settings) -> dict[str, SavedPlan]:
    """Return the saved plans of these kits and of the project by name; the project's stands for a kit's of its name.

    A project keeps them as ``plans/NAME.plan`` beside its configuration, or as ``.planloom/plans/NAME.plan``.

    :raises ConfigurationError: one cannot be read.
    """
    found = {plan.name: plan for kit in kits for plan in kit.saved_plans}
    for folder in _folders(settings):
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            found[path.stem] = SavedPlan(name=path.stem, title=str(path), source=_text(path))
    return found


def plan_named(given: str, plans: Mapping[str, SavedPlan]) -> SavedPlan | None:
    """Return the saved plan that a person means, or ``None`` where they mean a file: by a name that ends in ``.plan``,
    that has a folder before it, or that no saved plan has.

    :raises Misuse: it means both, or neither.
    """
    if os.sep in given or (os.altsep and os.altsep in given) or given.endswith(SUFFIX):
        return None
    plan = plans.get(given)
    if plan is None:
        if not os.path.exists(given):
            raise Misuse(f"there is no file {given}, and no saved plan of that name: {did_you_mean(given, plans)}")
        return None
    if os.path.isfile(given):
        raise Misuse(
            f"`{given}` is a saved plan ({plan.title}) and a file here; write {os.curdir}{os.sep}{given} for the file, "
            "or rename that file to name the plan"
        )
    return plan


def plans_called(source: str, names: Iterable[str]) -> list[str]:
    """Return those of these saved plans that a plan's text may call; all of them where it computes the name."""
    known = list(names)
    named = plans_named(source, known)
    return named if named or len(_CALLED.findall(source)) == len(_CALLED_BY_NAME.findall(source)) else known


def plans_named(source: str, names: Iterable[str]) -> list[str]:
    """Return those of these saved plans whose names stand in the text of a plan that calls any."""
    if not _CALLED.search(source):
        return []
    texts = {text for _, text in re.findall(r"""(["'])(.*?)\1""", source)}
    return [name for name in names if name in texts]


def _folders(settings: Settings) -> list[Path]:
    if settings.source is None:
        return [Path(_OWN_FOLDER) / _FOLDER]
    base = settings.source.parent
    return [base / _OWN_FOLDER / _FOLDER, base / _FOLDER]


def _text(path: Path) -> str:
    try:
        return text_of(path)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"the saved plan {path} cannot be read: {error}; correct it, or move it away"
        ) from error


def plan_digests(kits: Iterable[Kit], settings: Settings) -> dict[str, str]:
    """Return the first twelve hex digits of the SHA-256 of each saved plan, by name; stored with every run."""
    plans = saved_plans(kits, settings).values()
    return {plan.name: hashlib.sha256(plan.source.encode("utf-8")).hexdigest()[:12] for plan in plans}


class SavedPrograms:
    """The saved plans of a job, each compiled when it is first run.

    :ivar vocabulary: what they may call: all that the job's own plan may; given once that is known.
    """

    def __init__(self, plans: Mapping[str, SavedPlan]) -> None:
        self.vocabulary: Vocabulary | None = None
        self._plans = plans
        self._programs: dict[str, Program] = {}

    def word(self) -> Word:
        """Return the word ``plan``."""
        deep = {name: _too_deep(line) for name, plan in self._plans.items() if (line := _line_of_call(plan.source))}
        return Word(
            _WORD,
            self._run,
            signature=signature_of(_shape),
            doc="runs a saved plan inside this one, its `args` given by keyword; its result, None when it failed",
            spends=True,
            suspends=True,
            choices={"name": tuple(sorted(self._plans.keys() - deep))},
            barred={"name": deep},
            choice_nouns={"name": "saved plan"},
        )

    def program(self, name: str) -> Program:
        """Return a saved plan, ready to run.

        :raises ValueError: there is none of that name, or it does not pass the check.
        """
        if name not in self._programs:
            if name not in self._plans:
                known = did_you_mean(name, self._plans)
                raise ValueError(f"no saved plan is named `{name}`; {known}") from PlanMistake()
            assert self.vocabulary is not None, "the vocabulary is given before any plan runs"
            self._programs[name] = _compiled(self._plans[name], self.vocabulary)
        return self._programs[name]

    async def _run(self, call: Call, /, name: str, **args: Any) -> Any:
        program = self.program(name)
        host = host_of(call)
        with host.saved_plan(call, args) as inner:
            try:
                return (await program.run(args, host=inner)).result
            except PlanFailed as error:
                host.saved_plan_failed(call, name, error)
                return None


def _line_of_call(source: str) -> int | None:
    """Return the line in which a saved plan first runs another one, whatever its name; ``None`` where it runs none."""
    if not _CALLED.search(source):
        return None
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # what is wrong with it is said when it is run
    if any(isinstance(node, ast.arg) and node.arg == _WORD for node in nodes):
        return None  # the one name of a plan's own that a word's may be
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return min((call.lineno for call in calls if getattr(call.func, "id", "") == _WORD), default=None)


def _too_deep(line: int) -> tuple[str, str]:
    return (
        f"its line {line} calls plan() itself, and saved plans run no other ones",
        "name a saved plan that calls none, or put the steps of this one here.",
    )


def _shape(name: str, **args: Any) -> None: ...


def _compiled(plan: SavedPlan, vocabulary: Vocabulary) -> Program:
    try:
        return compile_program(plan.source, vocabulary)
    except PlanRejected as error:
        shown = "; ".join(
            f"line {p.line}: {p.message}" for p in error.problems[:_PROBLEMS_SHOWN] if p.severity == "problem"
        )
        said = f"the saved plan `{plan.name}` does not pass the check: {shown}"
        raise ValueError(said) from PlanMistake(because=error)
