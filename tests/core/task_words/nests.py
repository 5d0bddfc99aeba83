"""Any nest of `parallel`, `pipeline` and `race`, as a plan and as the same thing in plain asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from planloom._virtual_time import run_in_virtual_time

from .plays import FAILS, Answer


async def gathered(work: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    values = await asyncio.gather(*work, return_exceptions=True)
    return [None if isinstance(value, Exception) else value for value in values]


async def through(item: Any, stages: Sequence[Callable[[Any], Awaitable[Any]]]) -> Any:
    value = item
    for stage in stages:
        value = await stage(value)
        if value is None:
            return None
    return value


async def first(work: Sequence[Coroutine[Any, Any, Any]]) -> Any:
    waiting = {asyncio.ensure_future(one) for one in work}
    while waiting:
        ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        values = [one.result() for one in ended if one.exception() is None and one.result() is not None]
        if values:
            for other in waiting:
                other.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            return values[0]
    return None


@attrs.define
class Model:
    """Answers the questions of a model of a plan."""

    answers: Mapping[str, Answer]
    asked: list[str] = attrs.field(factory=list)

    async def agent(self, question: str) -> Any:
        self.asked.append(question)
        answer = self.answers.get(question, Answer(value=question))
        await asyncio.sleep(answer.delay_s)
        return None if answer.value == FAILS else answer.value


def modelled(
    answers: Mapping[str, Answer], main: Callable[[Model], Coroutine[Any, Any, Any]]
) -> tuple[Any, float, Model]:
    model = Model(answers)

    async def timed() -> tuple[Any, float]:
        return await main(model), asyncio.get_running_loop().time()

    value, seconds = run_in_virtual_time(timed())
    return value, seconds, model


@attrs.frozen
class Ask:
    """One worker."""

    name: str

    def source(self) -> str:
        return f'agent("{self.name}")'

    async def run(self, model: Model) -> Any:
        return await model.agent(self.name)


@attrs.frozen
class Breaks:
    """A task that fails by itself."""

    def source(self) -> str:
        return "[][0]"

    async def run(self, model: Model) -> Any:
        raise IndexError


@attrs.frozen
class All:
    """`parallel`."""

    parts: tuple[Any, ...]

    def source(self) -> str:
        return f"parallel([{', '.join(f'lambda: {part.source()}' for part in self.parts)}])"

    async def run(self, model: Model) -> Any:
        return await gathered([part.run(model) for part in self.parts])


@attrs.frozen
class First:
    """`race`."""

    parts: tuple[Any, ...]

    def source(self) -> str:
        return f"race([{', '.join(f'lambda: {part.source()}' for part in self.parts)}])"

    async def run(self, model: Model) -> Any:
        return await first([part.run(model) for part in self.parts])


@attrs.frozen
class Line:
    """`pipeline`, whose stages ask about what came before."""

    name: str
    items: int
    stages: int

    def source(self) -> str:
        stages = ", ".join(f'lambda v: agent(f"{self.name} {n} {{v}}")' for n in range(self.stages))
        return f"pipeline(range({self.items}), {stages})"

    async def run(self, model: Model) -> Any:
        def stage(n: int) -> Callable[[Any], Awaitable[Any]]:
            return lambda value: model.agent(f"{self.name} {n} {value}")

        stages = [stage(n) for n in range(self.stages)]
        return await gathered([through(item, stages) for item in range(self.items)])


class Names:
    """Gives every question of a generated plan a name of its own."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> str:
        self.count += 1
        return f"q{self.count}"


@st.composite
def nests(draw: st.DrawFn) -> Any:
    names = Names()

    def node(depth: int) -> Any:
        kind = draw(st.sampled_from("aab" if depth == 0 else "abprrl"))
        if kind == "a":
            return Ask(names.next())
        if kind == "b":
            return Breaks()
        if kind == "l":
            return Line(names.next(), draw(st.integers(0, 3)), draw(st.integers(1, 2)))
        parts = tuple(node(depth - 1) for _ in range(draw(st.integers(0, 3))))
        if kind == "p":
            return All(parts)
        # Who brings a value in no time wins before the next has begun, which the model has no word for.
        return First(tuple(Ask(names.next()) if isinstance(p, All | Line) and not questions(p) else p for p in parts))

    return All((node(2), node(2)))


@st.composite
def told(draw: st.DrawFn, names: Sequence[str]) -> dict[str, Answer]:
    """Answers to these questions whose delays never tie, however they are added up."""
    order = draw(st.permutations(range(len(names))))
    values = st.sampled_from(["v", "v", None, FAILS])
    return {name: Answer(value=draw(values), delay_s=2.0**place) for name, place in zip(names, order, strict=True)}


def questions(nest: Any) -> list[str]:
    """Return every question that a nest may ask."""
    if isinstance(nest, Ask):
        return [nest.name]
    if isinstance(nest, Line):
        first_ones = [f"{nest.name} 0 {item}" for item in range(nest.items)]
        return first_ones + [f"{nest.name} {n} v{item}" for n in range(1, nest.stages) for item in range(nest.items)]
    return [name for part in getattr(nest, "parts", ()) for name in questions(part)]


@st.composite
def plans_with_answers(draw: st.DrawFn) -> tuple[Any, dict[str, Answer]]:
    nest = draw(nests())
    names = questions(nest)[:40]
    answers = draw(told(names))
    lines = {name: attrs.evolve(a, value=f"v{name[-1]}" if a.value == "v" else a.value) for name, a in answers.items()}
    return nest, lines
