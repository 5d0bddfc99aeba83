"""Blocks of statements, and how a statement says that control leaves it.

A statement's closure returns ``None`` when the next one follows, else one of three signals. What a function returns
waits in its frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from planlang._nodes import Def, For, Lambda, Node, children

from .context import Build, Code, Run, tallest, turn
from .values import Frame

__all__ = ["BREAK", "CONTINUE", "RETURN", "Signal", "block", "cost_of", "joined"]

_NODES_A_STEP: Final = 8


class Signal:
    """Says why the next statement does not follow."""

    __slots__ = ()


BREAK: Final = Signal()
CONTINUE: Final = Signal()
RETURN: Final = Signal()


def cost_of(nodes: Sequence[Node]) -> int:
    """Return the steps that running these once costs: one each, and more for large expressions.

    The bodies of loops, functions and comprehensions are left out: they are charged when they run.
    """
    return sum(1 + _size(node) // _NODES_A_STEP for node in nodes)


def _size(node: Node) -> int:
    count = 0
    stack: list[Node] = [node]
    while stack:
        top = stack.pop()
        count += 1
        if isinstance(top, For):
            stack.append(top.iterable)
        elif isinstance(top, Lambda | Def):
            stack.append(top.parameters)
        else:
            stack.extend(children(top))
    return count


def block(build: Build, nodes: Sequence[Node]) -> Code:
    """Return code that runs statements one after the other."""
    parts = build.codes(nodes)
    if len(parts) > 1 and any(part.waits for part in parts):
        return Code(_waiting(parts, build.slice), True, 1 + tallest(parts))
    return joined(parts)


def joined(parts: list[Code]) -> Code:
    """Return code that runs these, of which none waits if there are several, one after the other."""
    height = 1 + tallest(parts)
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        return Code(_two(*parts[0].step(), *parts[1].step()), False, height)
    steps = [part.step() for part in parts]

    def run(frame: Frame) -> Any:
        for part, into in steps:
            if into:
                frame[into] = part(frame)
                continue
            signal = part(frame)
            if signal is not None:
                return signal
        return None

    return Code(run, False, height)


def _two(first: Run, first_into: int, second: Run, second_into: int) -> Run:
    def run(frame: Frame) -> Any:
        if first_into:
            frame[first_into] = first(frame)
        else:
            signal = first(frame)
            if signal is not None:
                return signal
        if second_into:
            frame[second_into] = second(frame)
            return None
        return second(frame)

    return run


def _waiting(parts: list[Code], slice_: list[Any]) -> Run:
    steps = [(part.waits, *part.flat()) for part in parts]

    async def run(frame: Frame) -> Any:
        for waits, part, after in steps:
            if slice_[1]:  # words that do not wait can take long, one after the other
                await turn()
            signal = await part(frame) if waits else part(frame)
            if after is not None:
                signal = after(frame, signal)
            if signal is not None:
                return signal
        return None

    return run
