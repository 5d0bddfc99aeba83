"""Functions of a plan: what a ``def`` or ``lambda`` is made of, and how a call gets its frame.

A call's frame is one list: a header, the parameters, then the other slots of the scope. The header carries the
call depth and the host frames in use, so nothing has to be counted down when a call returns or fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from planlang._nodes import Def, Lambda, Node, Parameters, Return, Scope

from .blocks import RETURN, cost_of, joined
from .context import HEADER, Build, Code, Run, tallest, turn
from .meter import CAPTURE_BYTES, FUNCTION_BYTES, LimitHitError, Meter
from .targets import name_setter
from .values import UNBOUND, Frame, GuestFunction, new_dict

__all__ = ["FunctionCode", "definition", "fill_frame", "function_value"]

_CALL_FRAMES: Final = 3
_NONE: Final[dict[str, Any]] = {}  # shared: nobody changes it


class FunctionCode:
    """The shared part of all functions that one ``def`` or ``lambda`` makes.

    ``exact`` is how many arguments a call on the fast path has, or -1 when the parameters need binding; ``rest`` are
    the slots after the parameters; ``wired`` tells whether cells must be put into the frame; ``most`` are the largest
    call depth and the most host frames.
    """

    __slots__ = (
        "cost",
        "double_star",
        "exact",
        "height",
        "keyword_only",
        "meter",
        "most",
        "name",
        "names",
        "positional",
        "rest",
        "run",
        "scope",
        "star",
        "steps",
        "waits",
        "wired",
    )

    def __init__(self, name: str, parameters: Parameters, scope: Scope, body: Code, cost: int, meter: Meter) -> None:
        self.name, self.scope, self.meter, self.cost = name, scope, meter, cost
        self.steps = meter.slice
        self.most = meter.limits.call_depth, meter.limits.host_frames
        self.run, self.waits, self.height = body.run, body.waits, body.height + _CALL_FRAMES
        self.names = [parameter.target.id for parameter in parameters.positional]
        self.positional = len(self.names)
        self.keyword_only = [parameter.target.id for parameter in parameters.keyword_only]
        self.star, self.double_star = parameters.star is not None, parameters.double_star is not None
        simple = not (self.star or self.double_star or self.keyword_only)
        self.exact = self.positional if simple else -1
        self.rest = (UNBOUND,) * (len(scope.names) - scope.parameters)
        self.wired = bool(scope.cells or scope.free)

    def enter(
        self, caller: Frame, function: GuestFunction, args: Sequence[Any], keywords: Mapping[str, Any] | None = None
    ) -> Frame:
        """Return the frame of a call, charged; :raises TypeError: the arguments do not fit."""
        depth, used = caller[1] + 1, caller[2] + self.height
        most_depth, most_frames = self.most
        if depth > most_depth:
            raise LimitHitError("call_depth", depth, most_depth)
        if used > most_frames:
            raise LimitHitError("host_frames", used, most_frames)
        steps = self.steps
        left = steps[0] = steps[0] - self.cost
        if left < 0:
            self.meter.refill()
        missing, defaults = self.exact - len(args), function.defaults
        if missing == 0 and not keywords:
            frame = [caller[0], depth, used, None, *args, *self.rest]
        elif missing == len(defaults) and not keywords:
            frame = [caller[0], depth, used, None, *args, *defaults, *self.rest]
        elif 0 < missing < len(defaults) and not keywords:
            frame = [caller[0], depth, used, None, *args, *defaults[-missing:], *self.rest]
        else:
            frame = [caller[0], depth, used, None, *self.bind(caller, function, args, keywords or {}), *self.rest]
        if self.wired:
            fill_frame(self.scope, frame, function.cells)
        return frame

    def bind(
        self, caller: Frame, function: GuestFunction, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> list[Any]:
        """Return the values of all parameters in the order of their slots."""
        given = list(args[: self.positional])
        more = {**keywords}
        given.extend([more.pop(name, UNBOUND) for name in self.names[len(given) :]])
        self._refuse_extra(args, keywords)
        first_default = self.positional - len(function.defaults)
        for at in range(max(first_default, 0), self.positional):
            if given[at] is UNBOUND:
                given[at] = function.defaults[at - first_default]
        self._refuse_missing(given, self.names, "positional")
        if self.star:
            caller[0].meter.tuple_of(max(0, len(args) - self.positional))
            given.append(tuple(args[self.positional :]))
        only = [more.pop(name, function.keyword_defaults.get(name, UNBOUND)) for name in self.keyword_only]
        self._refuse_missing(only, self.keyword_only, "keyword-only")
        given.extend(only)
        if self.double_star:
            caller[0].meter.dict_of(len(more))
            given.append(new_dict(caller[0], more))
        elif more:
            raise TypeError(f"{self.name}() got an unexpected keyword argument '{next(iter(more))}'")
        return given

    def _refuse_extra(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        twice = [name for name in self.names[: len(args)] if name in keywords]
        if twice:
            raise TypeError(f"{self.name}() got multiple values for argument '{twice[0]}'")
        if len(args) > self.positional and not self.star:
            takes = f"{self.positional} positional argument{'' if self.positional == 1 else 's'}"
            verb = "was" if len(args) == 1 else "were"
            raise TypeError(f"{self.name}() takes {takes} but {len(args)} {verb} given")

    def _refuse_missing(self, values: Sequence[Any], names: Sequence[str], kind: str) -> None:
        missing = [f"'{name}'" for name, value in zip(names, values, strict=True) if value is UNBOUND]
        if not missing:
            return
        listed = missing[0] if len(missing) == 1 else f"{', '.join(missing[:-1])} and {missing[-1]}"
        plural = "" if len(missing) == 1 else "s"
        raise TypeError(f"{self.name}() missing {len(missing)} required {kind} argument{plural}: {listed}")


def fill_frame(scope: Scope, frame: Frame, cells: Sequence[Any]) -> None:
    """Put fresh cells and captured ones into a new frame; a captured parameter is wrapped."""
    for slot in scope.cells:
        frame[slot + HEADER] = [frame[slot + HEADER]]
    for (_outer, inner), cell in zip(scope.free, cells, strict=True):
        frame[inner + HEADER] = cell


def _body(build: Build, node: Def | Lambda) -> tuple[Code, int]:
    if isinstance(node, Lambda):
        return build.code(node.body), cost_of([node.body])
    first = node.body[0]
    if len(node.body) == 1 and isinstance(first, Return) and first.value is not None:
        return build.code(first.value), cost_of(node.body)
    parts = build.codes(node.body)
    if any(part.waits for part in parts):
        return Code(_returning_waiting(parts, build.slice), True, tallest(parts) + 1), cost_of(node.body)
    inner = joined(parts)
    return Code(_returning(inner.run), False, inner.height + 1), cost_of(node.body)


def _returning(body: Run) -> Run:
    def run(frame: Frame) -> Any:
        return frame[3] if body(frame) is RETURN else None

    return run


def _returning_waiting(parts: list[Code], slice_: list[Any]) -> Run:
    """Return the body of a function that may wait; a block of its own would be one more coroutine for every wait."""

    steps = [(part.waits, *part.flat()) for part in parts]

    async def run(frame: Frame) -> Any:
        for waits, part, after in steps:
            if slice_[1]:
                await turn()
            signal = await part(frame) if waits else part(frame)
            if after is not None:
                signal = after(frame, signal)
            if signal is not None:
                return frame[3]
        return None

    return run


def function_value(build: Build, node: Def | Lambda) -> Code:
    """Return code that evaluates the defaults and makes the function."""
    body, cost = _body(build, node)
    name = node.target.id if isinstance(node, Def) else "<lambda>"
    code = FunctionCode(name, node.parameters, node.scope, body, 1 + cost, build.meter)
    defaults: list[Node] = [p.default for p in node.parameters.positional if p.default is not None]
    keyword_only = [(p.target.id, p.default) for p in node.parameters.keyword_only if p.default is not None]
    parts = build.codes([*defaults, *(default for _, default in keyword_only)])
    count = len(defaults)
    keyword_names = [keyword for keyword, _ in keyword_only]
    captured = [outer + HEADER for outer, _ in node.scope.free]
    size = FUNCTION_BYTES + CAPTURE_BYTES * (len(captured) + len(parts))
    memory, fail, offset = build.meter.bytes, build.fail, node.start

    def make(frame: Frame, values: list[Any]) -> GuestFunction:
        memory[0] -= size
        if memory[0] < 0:
            raise fail(offset, build.meter.memory_error())
        made = GuestFunction()
        made.code = code
        made.defaults = tuple(values[:count] if keyword_names else values)
        made.keyword_defaults = dict(zip(keyword_names, values[count:], strict=True)) if keyword_names else _NONE
        made.cells = tuple([frame[slot] for slot in captured]) if captured else ()
        return made

    height = 3 + tallest(parts)
    runs = [part.run for part in parts]
    if len(parts) == 1 and parts[0].slot:  # `lambda x=x: ...`, which every thunk is
        slot = parts[0].slot
        return Code(lambda frame: make(frame, [frame[slot]]), False, height)
    if not any(part.waits for part in parts):
        return Code(lambda frame: make(frame, [run(frame) for run in runs]), False, height)

    async def run_waiting(frame: Frame) -> GuestFunction:
        return make(frame, [await part.run(frame) if part.waits else part.run(frame) for part in parts])

    return Code(run_waiting, True, height)


def definition(build: Build, node: Def) -> Code:
    """Return code for the statement ``def``."""
    value = function_value(build, node)
    bind = name_setter(build, node.target)

    def run(frame: Frame) -> None:
        bind(frame, value.run(frame))

    async def run_waiting(frame: Frame) -> None:
        bind(frame, await value.run(frame))

    return Code(run_waiting if value.waits else run, value.waits, value.height + 1)
