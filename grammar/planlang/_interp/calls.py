"""Calls of functions, words, builtins and methods.

What is called is found at run time by the exact class of its value; only builtins and words that are called by name
are known while the closures are built. A call of a plan's function with as many arguments as it has parameters
takes a fast path, because nothing is called as often.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from planlang._nodes import BUILTIN, NEVER, WORD, Call, Generator, Keyword, MethodCall, Name, Node, Starred

from .builtins import BUILTINS
from .context import Build, Code, Run, eager, tallest
from .functions import FunctionCode, fill_frame
from .generators import consume
from .invoke import call_builtin
from .iterate import items_of
from .meter import LIST_ITEM_BYTES
from .methods import METHODS, call_method, no_method
from .values import Builtin, Frame, GuestFunction, PlanDict, PlanList, WordValue, type_name

__all__ = ["call", "method_call"]

_NATIVE_FRAMES: Final = 10  # the deepest of our own helpers between a builtin and the guest code it calls
_CONSUMERS: Final = frozenset(("any", "all", "sum", "min", "max", "list", "tuple", "set", "dict", "sorted"))

Arguments = tuple[list[Any], dict[str, Any]]
Bind = Callable[[Frame, list[Any]], Arguments]


def call(build: Build, node: Call) -> Code:
    """Return code for ``function(...)``."""
    function = node.function
    if isinstance(function, Name) and function.kind == BUILTIN:
        return _builtin(build, node, BUILTINS[function.id])
    known = _word_by_name(build, node)
    if known is not None:
        return known
    if node.keywords or any(isinstance(arg, Starred) for arg in node.args):
        parts, bind = _arguments(build, node.args, node)
        return _general(build, node, [build.code(function), *parts], bind)
    parts = build.codes([function, *node.args])
    if any(part.waits for part in parts):
        return _general(build, node, parts, _as_given)
    if node.callee == NEVER:
        return Code(_guest_call(build, node.start, parts), False, 3 + tallest(parts))
    return _general(build, node, parts, _as_given)


# --- functions of the plan ------------------------------------------------------------------------------------


def _guest_call(build: Build, offset: int, parts: list[Code]) -> Run:
    """Return the closure of a call with positional arguments only, none of which can wait."""
    if len(parts) == 2:
        return _call_with_one(build, offset, *parts)
    if len(parts) == 3:
        return _call_with_two(build, offset, *parts)
    function_run, *argument_runs = [part.run for part in parts]
    slow = _slow_call(build, offset)

    def run(frame: Frame) -> Any:
        function = function_run(frame)
        return slow(frame, function, [argument(frame) for argument in argument_runs], {})

    return run


def _call_with_one(build: Build, offset: int, function_code: Code, first_code: Code) -> Run:
    function_run, first_run, first_slot = function_code.run, first_code.run, first_code.slot
    steps, tick, slow = build.slice, build.tick, _slow_call(build, offset)
    max_depth, max_frames = build.meter.limits.call_depth, build.meter.limits.host_frames

    def run(frame: Frame) -> Any:
        function = function_run(frame)
        first = frame[first_slot] if first_slot else first_run(frame)
        if type(function) is GuestFunction:
            code: FunctionCode = function.code
            depth = frame[1] + 1
            used = frame[2] + code.height
            if code.exact == 1 and depth <= max_depth and used <= max_frames and not code.waits:
                left = steps[0] = steps[0] - code.cost
                if left < 0:
                    tick(offset)
                inner = [frame[0], depth, used, None, first, *code.rest]
                if code.wired:
                    fill_frame(code.scope, inner, function.cells)
                return code.run(inner)
        return slow(frame, function, (first,), {})

    return run


def _call_with_two(build: Build, offset: int, function_code: Code, first_code: Code, second_code: Code) -> Run:
    function_run, first_run, first_slot = function_code.run, first_code.run, first_code.slot
    second_run, second_slot = second_code.run, second_code.slot
    steps, tick, slow = build.slice, build.tick, _slow_call(build, offset)
    max_depth, max_frames = build.meter.limits.call_depth, build.meter.limits.host_frames

    def run(frame: Frame) -> Any:
        function = function_run(frame)
        first = frame[first_slot] if first_slot else first_run(frame)
        second = frame[second_slot] if second_slot else second_run(frame)
        if type(function) is GuestFunction:
            code: FunctionCode = function.code
            depth = frame[1] + 1
            used = frame[2] + code.height
            if code.exact == 2 and depth <= max_depth and used <= max_frames and not code.waits:
                left = steps[0] = steps[0] - code.cost
                if left < 0:
                    tick(offset)
                inner = [frame[0], depth, used, None, first, second, *code.rest]
                if code.wired:
                    fill_frame(code.scope, inner, function.cells)
                return code.run(inner)
        return slow(frame, function, (first, second), {})

    return run


def _word_by_name(build: Build, node: Call) -> Code | None:
    """Return code of a call whose shape is known, or ``None`` when it has to be looked at each time."""
    function = node.function
    if not (isinstance(function, Name) and function.kind == WORD and function.id in build.words):
        return None
    names = [keyword.name for keyword in node.keywords if keyword.name is not None]
    if len(names) < len(node.keywords) or any(isinstance(arg, Starred) for arg in node.args):
        return None
    calls = build.words[function.id].calls
    parameters = calls.fit(len(node.args), names)
    if parameters is None:
        return None
    parts = build.codes([*node.args, *(keyword.value for keyword in node.keywords)])
    return calls.site(node.start, parts, parameters)


def _slow_call(build: Build, offset: int) -> Callable[[Frame, Any, Any, dict[str, Any]], Any]:
    """Return a function that calls any value that cannot wait."""
    fail = build.fail

    def enter(frame: Frame, function: Any, args: Any, keywords: dict[str, Any]) -> Any:
        kind = type(function)
        if kind is WordValue and not function.waits:
            return function.call(frame, args, keywords, offset)
        try:
            if kind is Builtin:
                return call_builtin(frame, function, args, keywords)
            if kind is not GuestFunction:
                raise TypeError(_not_callable(function))
            if function.code.waits:
                raise TypeError(f"`{function.name}` may wait for a worker, which is not possible here")
            inner = function.code.enter(frame, function, args, keywords)
        except Exception as error:
            raise fail(offset, error) from error.__cause__
        return function.code.run(inner)

    return enter


def _not_callable(function: Any) -> str:
    if type(function) is WordValue:
        return f"`{function.name}` may wait for a worker, which is not possible here"
    return f"'{type_name(function)}' object is not callable"


# --- calls that may wait, and those with keywords or spreads -------------------------------------------------


def _as_given(_frame: Frame, values: list[Any]) -> Arguments:
    return values, {}


def _general(build: Build, node: Call, parts: list[Code], bind: Bind) -> Code:
    offset = node.start
    fail = build.fail
    slow = _slow_call(build, offset)
    height = 5 + tallest(parts)
    runs = [part.run for part in parts]

    def run(frame: Frame) -> Any:
        values = [part(frame) for part in runs]
        try:
            args, keywords = bind(frame, values[1:])
        except Exception as error:
            raise fail(offset, error) from error.__cause__
        return slow(frame, values[0], args, keywords)

    if node.callee == NEVER and not any(part.waits for part in parts):
        return Code(run, False, height)

    def begin(frame: Frame, values: list[Any]) -> Any:
        """Return what the caller awaits: the called function's own coroutine, not one more around it."""
        function = values[0]
        try:
            args, keywords = bind(frame, values[1:])
            if type(function) is GuestFunction and function.code.waits:
                inner = function.code.enter(frame, function, args, keywords)
            else:
                inner = None
        except Exception as error:
            raise fail(offset, error) from error.__cause__
        if inner is not None:
            return function.code.run(inner)
        if type(function) is WordValue and function.waits:
            return function.call(frame, args, keywords, offset)
        return _ready(slow(frame, function, args, keywords))

    async def run_waiting(frame: Frame) -> Any:
        return await begin(frame, [await part.run(frame) if part.waits else part.run(frame) for part in parts])

    if any(part.waits for part in parts):
        return Code(run_waiting, True, height)
    return Code(lambda frame: begin(frame, [run(frame) for run in runs]), True, height)


async def _ready(value: Any) -> Any:
    return value


def _arguments(build: Build, nodes: list[Node], call_node: Call | MethodCall) -> tuple[list[Code], Bind]:
    """Return code for every argument in the order of the text, and a function that sorts their values."""
    starred = [isinstance(node, Starred) for node in nodes]
    names = [keyword.name for keyword in call_node.keywords]
    ordered: list[Node] = [*nodes, *call_node.keywords]
    places = sorted(range(len(ordered)), key=lambda at: ordered[at].start)
    parts = [build.code(_value_of(ordered[at])) for at in places]
    if places == list(range(len(nodes))) and not any(starred):
        return parts, _as_given
    count = len(nodes)

    def bind(frame: Frame, values: list[Any]) -> Arguments:
        by_place = dict(zip(places, values, strict=True))
        args: list[Any] = []
        for at in range(count):
            if starred[at]:
                args.extend(items_of(frame, by_place[at]))
            else:
                args.append(by_place[at])
        keywords: dict[str, Any] = {}
        for number, name in enumerate(names):
            value = by_place[count + number]
            _add_keywords(frame, keywords, {name: value} if name is not None else value)
        return args, keywords

    return parts, bind


def _value_of(node: Node) -> Node:
    return node.value if isinstance(node, Starred | Keyword) else node


def _add_keywords(frame: Frame, keywords: dict[str, Any], more: Any) -> None:
    if type(more) is not dict and type(more) is not PlanDict:
        raise TypeError(f"argument after ** must be a mapping, not {type_name(more)}")
    frame[0].meter.dict_of(len(more))
    for name, value in more.items():
        if type(name) is not str:
            raise TypeError("keywords must be strings")
        if name in keywords:
            raise TypeError(f"got multiple values for keyword argument '{name}'")
        keywords[name] = value


# --- builtins and methods -------------------------------------------------------------------------------------


def _waiting_generator(nodes: list[Node]) -> Generator | None:
    first = nodes[0] if nodes else None
    return first if isinstance(first, Generator) and first.body_waits else None


def _builtin(build: Build, node: Call, builtin: Builtin) -> Code:
    offset = node.start
    generator = _waiting_generator(node.args) if builtin.name in _CONSUMERS else None
    if generator is not None and builtin.name in ("any", "all") and len(node.args) == 1:
        return consume(build, generator, builtin.name)
    plain = not node.keywords and not any(isinstance(arg, Starred) for arg in node.args)
    if plain and len(node.args) == 1 and builtin.least <= 1 <= builtin.most and generator is None:
        return _builtin_of_one(build, offset, build.code(node.args[0]), builtin)
    parts, bind = _consuming(build, node.args, node, generator)

    def finish(frame: Frame, values: list[Any]) -> Any:
        args, keywords = bind(frame, values)
        frame[0].offset = offset
        return call_builtin(frame, builtin, args, keywords)

    return eager(build, offset, parts, finish, _NATIVE_FRAMES)


def _consuming(
    build: Build, nodes: list[Node], node: Call | MethodCall, generator: Generator | None
) -> tuple[list[Code], Bind]:
    """Return the arguments, the first of them read into a list when it is a generator that waits."""
    parts, bind = _arguments(build, nodes, node)
    if generator is not None:
        parts[0] = consume(build, generator, "list")
    return parts, bind


def _builtin_of_one(build: Build, offset: int, part: Code, builtin: Builtin) -> Code:
    if part.waits:
        return eager(build, offset, [part], lambda frame, values: builtin.call(frame, values[0]), _NATIVE_FRAMES)
    argument, function, fail = part.run, builtin.call, build.fail

    def run(frame: Frame) -> Any:
        value = argument(frame)
        try:
            return function(frame, value)
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    return Code(run, False, 1 + max(part.height, _NATIVE_FRAMES))


def method_call(build: Build, node: MethodCall) -> Code:
    """Return code for ``receiver.name(...)``; the method is looked up in the closed table."""
    name, offset = node.name, node.start
    generator = _waiting_generator(node.args) if name == "join" else None
    receiver = build.code(node.receiver)
    parts, bind = _consuming(build, node.args, node, generator)
    if bind is _as_given and len(parts) == 1 and not (receiver.waits or parts[0].waits):
        make = _append if name == "append" else _method_of_one
        run = make(build, name, offset, receiver.run, parts[0].run)
        return Code(run, False, 1 + max(receiver.height, parts[0].height, _NATIVE_FRAMES))
    receiver = _with_method(build, name, offset, receiver)

    def finish(frame: Frame, values: list[Any]) -> Any:
        args, keywords = bind(frame, values[1:])
        frame[0].offset = offset
        return call_method(frame, values[0], name, args, keywords)

    return eager(build, offset, [receiver, *parts], finish, _NATIVE_FRAMES)


def _method_of_one(build: Build, name: str, offset: int, receiver_run: Run, argument_run: Run) -> Run:
    methods, fail = METHODS[name], build.fail

    def run(frame: Frame) -> Any:
        receiver = receiver_run(frame)
        method = methods.get(type(receiver))
        if method is None:
            raise fail(offset, no_method(name, receiver))
        argument = argument_run(frame)
        try:
            if not method.least <= 1 <= method.most:
                method.check(1, {})
            return method.call(frame, receiver, argument)
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    return run


def _with_method(build: Build, name: str, offset: int, receiver: Code) -> Code:
    """Return the receiver's code, which fails before any argument is evaluated when there is no such method."""
    methods, fail = METHODS[name], build.fail

    def finish(value: Any) -> Any:
        if type(value) not in methods:
            raise fail(offset, no_method(name, value))
        return value

    async def run_waiting(frame: Frame) -> Any:
        return finish(await receiver.run(frame))

    run = receiver.run
    return Code(
        run_waiting if receiver.waits else lambda frame: finish(run(frame)), receiver.waits, receiver.height + 1
    )


def _append(build: Build, name: str, offset: int, receiver_run: Run, argument_run: Run) -> Run:
    """Return the closure of ``append``, the one method that loops call all the time."""
    memory, longest = build.meter.bytes, build.meter.limits.collection_length
    fail = build.fail

    def run(frame: Frame) -> Any:
        receiver = receiver_run(frame)
        if type(receiver) is not PlanList:
            raise fail(offset, no_method(name, receiver))
        argument = argument_run(frame)
        if receiver.owner is frame[0] and not receiver.locks:
            left = memory[0] = memory[0] - LIST_ITEM_BYTES
            if left >= 0 and len(receiver) < longest:
                receiver.append(argument)
                return None
        try:
            return call_method(frame, receiver, name, (argument,), {})
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    return run
