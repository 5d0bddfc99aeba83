"""A plan that passed its checks and can be run, many times and also at the same time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from . import _nodes as nodes
from ._check import check_module
from ._errors import PlanError, PlanRejected
from ._limits import DEFAULT_RULES, Limits, Rules
from ._vocabulary import Opaque, Vocabulary

__all__ = ["Outcome", "Program", "compile"]


class Outcome(NamedTuple):
    """What a run of a program left.

    :ivar result: what the plan assigned to ``result``, as plain data of its own. Sets iterate in the order in which the
        plan added their items.
    :ivar steps: metered steps used. :ivar peak_memory: bytes allocated, an upper bound of what was live at once.
    :ivar tasks: tasks started by the words that run functions.
    """

    result: Any
    steps: int
    peak_memory: int
    tasks: int

    def __repr__(self) -> str:
        """Show the figures and no more than the type of the result: asyncio writes out what its main task returns."""
        kind = type(self.result).__name__
        return f"Outcome(<{kind}>, steps={self.steps}, peak_memory={self.peak_memory}, tasks={self.tasks})"

    def to_json(self) -> str:
        """Return the result as JSON: tuples as arrays, sets as sorted arrays, keys that are no text as their text.

        Numbers that JSON has no form for (``nan``, ``inf``) become ``null``, ranges arrays, opaque values the name of
        their type.
        """
        return json.dumps(_jsonable(self.result), ensure_ascii=False)


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {_key(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, set):
        return _sorted([_jsonable(item) for item in value])
    if isinstance(value, list | tuple | range):
        return [_jsonable(item) for item in value]
    if isinstance(value, Opaque):
        return type(value).__name__
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def _sorted(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return items


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    return json.dumps(_jsonable(key)) if key is None or isinstance(key, bool | int | float) else str(key)


class Program:
    """A checked plan; made by :func:`compile`.

    :ivar source: its text. :ivar vocabulary: the words and values it may use.
    """

    def __init__(self, source: str, module: nodes.Module, vocabulary: Vocabulary) -> None:
        self.source, self.vocabulary = source, vocabulary
        self._module = module

    async def run(
        self, args: Mapping[str, Any] | None = None, limits: Limits | None = None, host: object = None
    ) -> Outcome:
        """Run the plan once and return its outcome.

        :param args: what a value named ``args`` in the vocabulary is bound to; without any, that value makes itself.
        :param host: passed on to words, as ``place.host``, and to values.
        :raises PlanFailed: the plan failed as the same Python would, or a word did.
        :raises PlanLimitError: it hit one of its limits.
        :raises PlanAborted: the host ended it.
        """
        # asyncio and the interpreter take 60 ms to import, which those who only check a plan need not pay.
        from ._interp.run import Run

        run = Run(self.source, self._module, self.vocabulary, limits or Limits(), host)
        try:
            result = await run.result(dict(args or {}))
        except PlanError:
            raise
        except Exception as error:
            raise run.fail(error) from error
        meter = run.meter
        return Outcome(result=result, steps=meter.steps, peak_memory=meter.peak_memory, tasks=run.window.started)


def compile(source: str, vocabulary: Vocabulary, rules: Rules = DEFAULT_RULES) -> Program:  # noqa: A001 - what it does
    """Return the plan as a program, ready to run.

    :raises PlanRejected: the checker found problems; it carries all of them.
    """
    checked = check_module(source, vocabulary, rules)
    if checked.module is None:
        raise PlanRejected(checked.problems)
    return Program(source, checked.module, vocabulary)
