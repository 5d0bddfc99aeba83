"""One run of a program: makes the parts, builds the closures, runs them, takes the result out."""

from __future__ import annotations

import asyncio
from typing import Any

from planlang._errors import PlanError
from planlang._limits import Limits
from planlang._nodes import Module
from planlang._vocabulary import Vocabulary

from .blocks import block, cost_of
from .border import export_result, from_host
from .builders import BUILDERS
from .context import Build
from .functions import fill_frame
from .meter import Meter
from .place import Bridge
from .places import Places
from .tasks import root_task
from .values import UNBOUND, Frame
from .window import Window
from .words import word_value

__all__ = ["Run"]


class Run:
    """Owns everything of one run; used once."""

    def __init__(self, source: str, module: Module, vocabulary: Vocabulary, limits: Limits, host: object) -> None:
        self.meter = Meter(limits, asyncio.get_running_loop())
        self._source, self._module, self._vocabulary, self._host = source, module, vocabulary, host
        self._places = Places(source)
        self.window = Window(self.meter, self._places.error)
        self._root = root_task(self.meter)

    def fail(self, error: Exception) -> PlanError:
        """Return the plan error for an exception that no operation of the plan caused."""
        return self._places.error(0, error)

    async def result(self, args: dict[str, Any]) -> Any:
        """Run the plan and return its result as plain data."""
        build = self._build(args)
        body = block(build, self._module.body) if self._module.body else None
        scope = self._module.scope
        frame: Frame = [self._root, 0, body.height if body else 0, None, *[UNBOUND] * len(scope.names)]
        fill_frame(scope, frame, ())
        try:
            self.meter.work(cost_of(self._module.body))
            if body is not None:
                await body.run(frame) if body.waits else body.run(frame)
            return self._take(build)
        finally:
            await self.window.close()

    def _build(self, args: dict[str, Any]) -> Build:
        bridge = Bridge(self.meter, self._host, self.window, self._places)
        return Build(
            self.meter,
            self._places,
            words={name: word_value(bridge, word) for name, word in self._vocabulary.words.items()},
            values=self._values(args),
            builders=BUILDERS,
            cells=[UNBOUND] * len(self._module.scope.global_names),
        )

    def _values(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return the vocabulary's values: read-only, but for the arguments, which belong to the root task."""
        read_only = root_task(self.meter, read_only=True)
        made = {}
        for name, value in self._vocabulary.values.items():
            given = args if name == "args" and args else value.make(self._host)
            if name == "args":
                made[name] = from_host(self._root, {} if given is None else given, counted=False)
            else:
                made[name] = from_host(read_only, given, counted=False)
        return made

    def _take(self, build: Build) -> Any:
        names = self._module.scope.global_names
        value = build.globals[names.index("result")] if "result" in names else UNBOUND
        end = self._module.body[-1].start if self._module.body else 0
        if value is UNBOUND:
            message = "the plan ended without a value for `result`; assign it on every path"
            raise self._places.failed(end, "NameError", message)
        try:
            return export_result(self.meter, value)
        except Exception as error:
            raise self._places.error(end, error) from error.__cause__
