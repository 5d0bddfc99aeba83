"""`parallel`, `pipeline` and `race` against the same thing written in plain asyncio, in virtual time.

A plan and its model are told the same answers after the same delays; they must bring the same values at the same
second, having asked the same questions.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planlang import Limits, PlanFailed
from planlang import compile as compile_program
from planloom import JournalDiverged
from planloom._recorder import Recorder
from planloom._virtual_time import run_in_virtual_time
from planloom.listeners import Listener
from planloom.plugins import load_plugins
from planloom.runtime import RunHost
from planloom.stores import Event
from planloom.testing.looms import settings_at
from planloom.words import build_vocabulary
from planloom.workers import Asker, Performed, WorkerRequest

REGISTRY = load_plugins()
SETTINGS = settings_at("http://127.0.0.1:9/v1", ":memory:")
VOCABULARY = build_vocabulary(REGISTRY, SETTINGS, ())
FAILS = "fails"
few = settings(max_examples=30)


@attrs.frozen(kw_only=True)
class Answer:
    """What a question brings, and after how long; ``FAILS`` for a worker that fails."""

    value: Any
    delay_s: float = 1.0


@attrs.define
class Played:
    """What a plan did: its result, when it ended, what it asked and said, and its journal."""

    host: RunHost
    result: Any = None
    seconds: float = 0.0
    asked: list[str] = attrs.field(factory=list)
    answered: list[str] = attrs.field(factory=list)
    places: dict[str, str] = attrs.field(factory=dict)
    events: list[Event] = attrs.field(factory=list)
    journal: dict[str, Any] = attrs.field(factory=dict)


def play(
    source: str,
    answers: Mapping[str, Answer] | Callable[[str], Answer] | None = None,
    *,
    recorded: Mapping[str, Any] | None = None,
    seats: int = 1_000,
    threads: Mapping[str, int] | None = None,
) -> Played:
    """Run a plan in virtual time; a question that no answer is given for is answered by itself after a second."""
    of = answers if callable(answers) else (answers or {}).get

    async def main() -> Played:
        loop = asyncio.get_running_loop()
        listener = Listener(name="test", on_event=lambda run, event: played.events.append(event))

        async def perform(request: WorkerRequest, asker: Asker) -> Performed:
            question = str(request.identity[0])
            played.asked.append(question)
            played.places[question] = asker.thread
            asker.started()
            answer = of(question) or Answer(value=question)
            await asyncio.sleep(answer.delay_s)
            played.answered.append(question)
            failed = answer.value == FAILS
            return Performed(value=None if failed else answer.value, error="no answer" if failed else None, calls=1)

        host = RunHost(
            "r",
            registry=REGISTRY,
            settings=SETTINGS,
            recorder=Recorder("r", None, [listener], loop.time),
            perform=perform,
            budget_left=lambda full_price: 10_000_000 - full_price,
            args={},
            states={},
            journal=lambda place, entry: played.journal.update({place: entry}),
            recorded=recorded,
            threads=threads,
        )
        played = Played(host=host)
        program = compile_program(source, VOCABULARY)
        played.result = (await program.run({}, Limits(tasks_in_flight=seats), host)).result
        host.close()
        played.seconds = loop.time()
        return played

    return run_in_virtual_time(main())


def kinds(played: Played) -> Counter[str]:
    return Counter(event.type for event in played.events)


# --- the model: plain asyncio


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


# --- any nest of words


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


@given(plans_with_answers())
@few
def test_any_nest_of_words_brings_what_plain_asyncio_brings_at_the_same_second(case: tuple[Any, Any]) -> None:
    nest, answers = case
    played = play(f"result = {nest.source()}\n", answers)
    value, seconds, model = modelled(answers, nest.run)
    assert played.result == value
    assert played.seconds == pytest.approx(seconds)
    assert Counter(played.asked) == Counter(model.asked)


@given(plans_with_answers(), st.randoms(use_true_random=False))
@few
def test_a_plan_that_is_played_again_from_its_journal_decides_as_before_whatever_is_slow_now(
    case: tuple[Any, Any], random: Any
) -> None:
    nest, answers = case
    source = f"result = {nest.source()}\n"
    before = play(source, answers)
    shuffled = list(answers.values())
    random.shuffle(shuffled)
    slow_otherwise = {
        name: attrs.evolve(answer, delay_s=other.delay_s)
        for (name, answer), other in zip(answers.items(), shuffled, strict=True)
    }
    again = play(source, slow_otherwise, recorded=before.journal)
    assert again.result == before.result
    assert again.journal == before.journal
    assert not Counter(again.asked) - Counter(before.asked)


@given(plans_with_answers())
@few
def test_every_worker_of_a_plan_is_done_failed_or_cancelled_in_the_end(case: tuple[Any, Any]) -> None:
    nest, answers = case
    played = play(f"result = {nest.source()}\n", answers)
    for phase in played.host.phases.all():
        assert phase.running == 0
        assert phase.started == phase.done + phase.failed + phase.cancelled
    assert played.host.agents == len(played.asked) == kinds(played)["run.agent_ended"]


# --- pipeline


delays = st.lists(st.lists(st.integers(1, 50), min_size=2, max_size=2), min_size=1, max_size=6)
TWO_STAGES = 'result = pipeline(range({n}), lambda v: agent(f"a{{v}}"), lambda v, item: agent(f"b{{item}}"))\n'


def two_stages(rows: list[list[int]]) -> tuple[str, dict[str, Answer]]:
    answers = {
        f"{stage}{item}": Answer(value=f"{stage}{item}", delay_s=float(row["ab".index(stage)]))
        for item, row in enumerate(rows)
        for stage in "ab"
    }
    return TWO_STAGES.format(n=len(rows)), answers


@given(delays)
@few
def test_a_pipeline_takes_as_long_as_its_slowest_item_and_never_waits_between_stages(rows: list[list[int]]) -> None:
    played = play(*two_stages(rows))
    assert played.seconds == pytest.approx(max(map(sum, rows)))


@given(delays)
@few
def test_the_values_of_a_pipeline_stand_in_the_order_of_its_items(rows: list[list[int]]) -> None:
    assert play(*two_stages(rows)).result == [f"b{item}" for item in range(len(rows))]


@given(delays, delays)
@few
def test_the_places_of_a_pipelines_workers_do_not_depend_on_who_is_slow(
    rows: list[list[int]], others: list[list[int]]
) -> None:
    count = min(len(rows), len(others))
    places = [
        {event.data["thread"]: event.data for event in play(*two_stages(some)).events if "thread" in event.data}
        for some in (rows[:count], others[:count])
    ]
    assert places[0].keys() == places[1].keys()


@given(delays, st.integers(1, 3))
@few
def test_a_pipeline_opens_no_more_items_than_there_are_seats(rows: list[list[int]], seats: int) -> None:
    source, answers = two_stages(rows)
    played = play(source, answers, seats=seats)
    running = most = 0
    for event in played.events:
        running += {"run.agent_started": 1, "run.agent_ended": -1}.get(event.type, 0)
        most = max(most, running)
    assert most == min(seats, len(rows))


@given(st.lists(st.sampled_from(["v", None, FAILS]), min_size=1, max_size=6))
@few
def test_an_item_ends_with_the_stage_that_brings_nothing(first_answers: list[Any]) -> None:
    answers = {f"a{item}": Answer(value=value) for item, value in enumerate(first_answers)}
    played = play(TWO_STAGES.format(n=len(first_answers)), answers)
    went_on = [item for item, value in enumerate(first_answers) if value == "v"]
    assert sorted(question for question in played.asked if question[0] == "b") == [f"b{item}" for item in went_on]
    assert played.host.holes == first_answers.count(FAILS)


def test_a_stage_that_breaks_ends_its_item_with_one_hole_and_a_line_in_the_log() -> None:
    played = play('result = pipeline([1, 0, 2], lambda v: 10 // v, lambda v: agent(f"q{v}"))\n')
    assert played.result == ["q10", None, "q5"]
    assert played.host.holes == 1
    assert kinds(played)["run.log"] == 1


def test_a_stage_that_breaks_on_a_failed_worker_is_one_hole_and_not_two() -> None:
    played = play('result = pipeline(["a"], lambda v: agent(v)["x"])\n', {"a": Answer(value=FAILS)})
    assert (played.result, played.host.holes) == ([None], 1)


@pytest.mark.parametrize(
    ("stage", "value"),
    [
        ("lambda v: [v]", ["b"]),
        ("lambda v, item: [v, item]", ["b", "b"]),
        ("lambda v, item, index: [v, item, index]", ["b", "b", 1]),
        ("lambda v, own=7: [v, own]", ["b", 7]),
        ("lambda *given: list(given)", ["b"]),
    ],
)
def test_a_stage_is_given_as_much_as_it_asks_for(stage: str, value: Any) -> None:
    assert play(f'result = pipeline(["a", "b"], {stage})[1]\n').result == value


def test_later_stages_are_given_the_former_value_and_the_item() -> None:
    source = "result = pipeline([1, 2], lambda v: v * 10, lambda v, item, index: [v, item, index])\n"
    assert play(source).result == [[10, 1, 0], [20, 2, 1]]


def test_a_stage_may_change_its_item_and_no_other_item_sees_it() -> None:
    grow = "def grow(v):\n    v.append(2)\n    return v\n"
    source = f"shared = [1]\n{grow}result = [pipeline([shared, shared], grow), shared]\n"
    assert play(source).result == [[[1, 2], [1, 2]], [1]]


@pytest.mark.parametrize("items", ["[]", "()", "range(0)", "set()", "{}.items()"])
def test_a_pipeline_of_nothing_gives_nothing(items: str) -> None:
    assert play(f"result = pipeline({items}, lambda v: agent(v))\n").result == []


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('pipeline(agent("q"), lambda v: v)', "pipeline() takes a list of items, got str"),
        ("pipeline(*[[1]])", "pipeline() takes at least one stage"),
        ('parallel(agent("q"))', "parallel() takes a list of lambdas, got str"),
        ('race(agent("q"))', "race() takes a list of lambdas, got str"),
    ],
)
def test_what_is_no_list_is_refused_with_its_line(call: str, said: str) -> None:
    with pytest.raises(PlanFailed, match="TypeError") as caught:
        play(f"x = 1\nresult = {call}\n")
    assert said in str(caught.value)
    assert caught.value.line == 2


def test_a_pipeline_may_be_given_words_and_builtins_as_stages() -> None:
    assert play("result = pipeline([1, 2], str, agent)\n").result == ["1", "2"]


# --- race


finishers = st.lists(st.tuples(st.integers(0, 1_000), st.sampled_from(["v", None, FAILS])), min_size=1, max_size=6)
untied = finishers.filter(lambda rows: len({row[0] for row in rows}) == len(rows))


def contest(rows: list[tuple[int, Any]]) -> tuple[str, dict[str, Answer]]:
    answers = {
        f"c{i}": Answer(value=f"c{i}" if value == "v" else value, delay_s=float(1 + delay))
        for i, (delay, value) in enumerate(rows)
    }
    return f'result = race([lambda i=i: agent(f"c{{i}}") for i in range({len(rows)})])\n', answers


@given(untied)
@few
def test_a_race_is_won_by_the_first_that_brings_a_value(rows: list[tuple[int, Any]]) -> None:
    brings = sorted((delay, f"c{i}") for i, (delay, value) in enumerate(rows) if value == "v")
    played = play(*contest(rows))
    assert played.result == (brings[0][1] if brings else None)


@given(untied)
@few
def test_a_race_takes_as_long_as_its_winner_or_as_the_last_when_none_wins(rows: list[tuple[int, Any]]) -> None:
    brings = [delay for delay, value in rows if value == "v"]
    assert play(*contest(rows)).seconds == 1 + (min(brings) if brings else max(delay for delay, _ in rows))


@given(untied)
@few
def test_who_did_not_win_is_cancelled_and_leaves_no_hole(rows: list[tuple[int, Any]]) -> None:
    played = play(*contest(rows))
    (phase,) = played.host.phases.all()
    before_the_winner = [value for delay, value in rows if 1 + delay < played.seconds or played.result is None]
    assert phase.cancelled == len(rows) - len(before_the_winner) - (played.result is not None)
    assert played.host.holes == before_the_winner.count(FAILS)


@given(untied)
@few
def test_the_winner_alone_stands_in_the_journal(rows: list[tuple[int, Any]]) -> None:
    played = play(*contest(rows))
    winners = [] if played.result is None else [{"word": "race", "value": int(played.result[1:])}]
    assert list(played.journal.values()) == winners


@given(untied)
@few
def test_only_the_recorded_winner_runs_again(rows: list[tuple[int, Any]]) -> None:
    source, answers = contest(rows)
    before = play(source, answers)
    again = play(source, lambda question: Answer(value=answers[question].value, delay_s=1.0), recorded=before.journal)
    assert again.asked == ([before.result] if before.result else before.asked)


@given(untied)
@few
def test_a_contender_keeps_its_place_whoever_runs(rows: list[tuple[int, Any]]) -> None:
    source, answers = contest(rows)
    before = play(source, answers)
    known = {f"0.{i}.0": i + 1 for i in range(len(rows))}
    again = play(source, answers, recorded=before.journal, threads=known)
    assert all(before.places[question] == place for question, place in again.places.items())


@given(st.integers(2, 5))
@few
def test_a_contender_of_several_steps_asks_nothing_once_another_has_won(steps: int) -> None:
    source = (
        "def slowly():\n"
        f"    for n in range({steps}):\n"
        '        agent(f"slow {n}")\n'
        '    return "slow"\n'
        'result = race([slowly, lambda: agent("quick")])\n'
    )
    played = play(source, {"quick": Answer(value="quick", delay_s=1.5)})
    assert played.result == "quick"
    assert played.asked == ["slow 0", "quick", "slow 1"]


def test_what_a_loser_runs_at_once_is_cancelled_with_it() -> None:
    source = (
        'result = race([lambda: parallel([lambda i=i: agent(f"p{i}") for i in range(3)]), lambda: agent("quick")])\n'
    )
    played = play(source, {"quick": Answer(value="quick", delay_s=0.5)})
    assert (played.result, played.seconds) == ("quick", 0.5)
    assert played.host.phases.all()[0].cancelled == 3


def test_a_value_that_needs_no_worker_wins_at_once() -> None:
    played = play('result = race([lambda: agent("q"), lambda: None, lambda: 0])\n')
    assert (played.result, played.seconds) == (0, 0.0)


def test_a_contender_that_breaks_does_not_win() -> None:
    assert play('result = race([lambda: [][0], lambda: agent("q")])\n').result == "q"


@pytest.mark.parametrize("contenders", ["[]", "[lambda: None]", "[lambda: [][0]]"])
def test_a_race_that_nobody_wins_gives_none(contenders: str) -> None:
    assert play(f"result = race({contenders})\n").result is None


def test_a_race_where_the_journal_holds_another_word_is_told_apart() -> None:
    with pytest.raises(JournalDiverged, match=r"then budget\(\), now race\(\)"):
        play('result = race([lambda: agent("q")])\n', recorded={"0": {"word": "budget", "value": 3.0}})
