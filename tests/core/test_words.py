"""The core's own words, as a plan meets them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from planloom.listeners import Listener
from planloom.loom import Outcome
from planloom.plugins import Registry, load_plugins
from planloom.stores import Event
from planloom.testing.looms import loom_at, run_plan
from planloom.testing.loopback import LoopbackServer, Script, completion


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


@pytest.fixture
def ran(registry: Registry, tmp_path: Path) -> Any:
    """Run a plan and return its outcome, its events and the questions that were asked."""

    def run(source: str, script: Script | None = None, **options: Any) -> tuple[Outcome, list[Event], list[str]]:
        async def main() -> tuple[Outcome, list[Event], list[str]]:
            async with (
                LoopbackServer(script or (lambda request: completion(f"ok: {request.question}"))) as server,
                loom_at(server.url, tmp_path / "store.db", registry=registry) as loom,
            ):
                outcome = await run_plan(loom, source, **options)
                return outcome, loom.store.events(outcome.run_id), [r.question for r in server.received]

        return asyncio.run(main())

    return run


def test_parallel_gives_values_in_the_order_of_its_lambdas(ran: Any) -> None:
    slow_first = lambda request: completion(request.question).after(0.1 if request.question == "0" else 0)  # noqa: E731 - short
    outcome, _, _ = ran("result = parallel([lambda i=i: agent(str(i)) for i in range(5)])\n", slow_first)
    assert outcome.result == ["0", "1", "2", "3", "4"]


def test_a_lambda_that_fails_gives_none_and_a_line_in_the_log(ran: Any) -> None:
    outcome, events, _ = ran("result = parallel([lambda: 1, lambda: [][0], lambda: 3])\n")
    assert (outcome.result, outcome.exit_code, outcome.holes) == ([1, None, 3], 3, 1)
    (line,) = [event.data["message"] for event in events if event.type == "run.log"]
    assert "IndexError" in line


def test_parallel_of_nothing_gives_nothing(ran: Any) -> None:
    assert ran("result = parallel([])\n")[0].result == []


def test_worker_time_lost_at_a_barrier_is_counted_in_its_phase(ran: Any) -> None:
    uneven = lambda request: completion("x").after(0.3 if request.question == "0" else 0)  # noqa: E731 - short
    source = 'phase("Look")\nresult = parallel([lambda i=i: agent(str(i)) for i in range(4)])\n'
    _, events, _ = ran(source, uneven)
    (ended,) = [event.data for event in events if event.type == "run.phase_ended"]
    assert 0.5 < ended["idle_seconds"] < 1.2


def test_a_log_line_is_short_for_listeners_and_whole_in_the_store(ran: Any) -> None:
    heard: list[Event] = []
    listener = Listener(name="hears", on_event=lambda run, event: heard.append(event))
    _, events, _ = ran('log("x" * 2000)\nlog([1, 2])\nresult = 1\n', listeners=[listener])
    assert [event.data["message"] for event in heard if event.type == "run.log"] == ["x" * 500, "[1, 2]"]
    assert [event.data["message"] for event in events if event.type == "run.log"] == ["x" * 2000, "[1, 2]"]


def test_an_agent_that_is_told_nothing_is_refused_with_its_line(ran: Any) -> None:
    outcome, _, asked = ran('result = agent("", system="be brief")\n')
    assert asked == []
    assert "line 1" in outcome.error
    assert "agent() needs a prompt or data" in outcome.error


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ('{"b": [1, None, True], "a": "ä"}', '{"b": [1, null, true], "a": "ä"}'),
        ("(1, 2)", "[1, 2]"),
        ("{3, 1}", "[1, 3]"),
        ("range(3)", "[0, 1, 2]"),
        ("1000000 * 1000000 * 1000000", "1000000000000000000"),
    ],
)
def test_a_value_is_written_as_json(ran: Any, expression: str, text: str) -> None:
    assert ran(f"result = to_json({expression})\n")[0].result == text


FORMLESS = {
    'float("nan")': "the number nan",
    '{"x": [float("inf")]}': "the number inf",
    "{1: 2}": "the key 1, which is no text",
    "{None: 2}": "the key None, which is no text",
    '{("a", 1): 2}': "the key ('a', 1), which is no text",
    "[lambda: 1]": "a function",
    "[agent]": "a function",
}


@pytest.mark.parametrize("call", ["to_json({})", "agent('q', data={})"])
@pytest.mark.parametrize(("expression", "what"), FORMLESS.items())
def test_what_json_has_no_form_for_is_refused_with_its_line_and_its_name(
    ran: Any, call: str, expression: str, what: str
) -> None:
    outcome, _, asked = ran(f"x = 1\nresult = {call.format(expression)}\n")
    assert (outcome.status, asked) == ("failed", [])
    assert outcome.error.startswith("the plan failed at line 2")
    assert f"the value holds {what}, for which JSON has no form" in outcome.error


@pytest.mark.parametrize(
    ("schema", "what"), [('{"enum": {1, 2}}', "a set"), ('{"maximum": float("inf")}', "the number inf")]
)
def test_a_schema_that_json_has_no_form_for_is_refused_before_anything_is_asked(
    ran: Any, schema: str, what: str
) -> None:
    outcome, _, asked = ran(f'result = agent("q", schema={schema})\n')
    assert asked == []
    assert f"`schema` holds {what}, for which JSON has no form" in outcome.error


@pytest.mark.parametrize(
    "expression",
    [
        "None",
        "[1, 'a', (2,), {3, 1}, {'k': 'v'}]",
        'float("nan")',
        "set()",
        "range(2)",
        "('\"', \"'\")",
        "{None: {True: 1.5}}",
    ],
)
def test_a_value_is_logged_as_a_plan_writes_it(ran: Any, expression: str) -> None:
    outcome, events, _ = ran(f"x = {expression}\nlog(x)\nresult = f'{{x}}'\n")
    assert [event.data["message"] for event in events if event.type == "run.log"] == [outcome.result]


def test_a_function_is_logged_by_its_name(ran: Any) -> None:
    outcome, events, _ = ran("def twice(x):\n    return x\nlog(twice)\nresult = f'{twice}'\n")
    assert [event.data["message"] for event in events if event.type == "run.log"] == [outcome.result]
    assert outcome.result == "<function twice>"


def test_a_schema_that_is_none_is_refused_before_anything_is_asked(ran: Any) -> None:
    outcome, _, asked = ran('result = agent("q", schema=dict(type="strange"))\n')
    assert asked == []
    assert "`schema` is not a JSON Schema: type: 'strange' is no type; write one of array, boolean," in outcome.error


def test_what_is_wrong_in_a_schema_is_named_with_its_place(ran: Any) -> None:
    outcome, _, _ = ran('result = agent("q", schema=dict(properties={"n": {"minimum": "0"}}))\n')
    assert "`schema` is not a JSON Schema: properties.n.minimum: '0' is not of type 'number'" in outcome.error


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ('{"$ref": "http://127.0.0.1:1/answer"}', "refers to `http://127.0.0.1:1/answer`, which is not in it"),
        ('{"properties": {"a": {"$ref": "#/$defs/missing"}}}', "refers to `#/$defs/missing`"),
        ('{"$id": "http://x/y", "$ref": "#/z"}', "refers to what is not in it: PointerToNowhere: '/z'"),
        ('{"$ref": "#"}', "refers to itself without end"),
        ('{"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}', "the pattern '^(a+)+$' in `schema`"),
    ],
    ids=["elsewhere", "missing", "missing below an id", "itself", "a pattern without end"],
)
def test_a_schema_that_could_judge_no_answer_is_refused_before_anything_is_asked(
    ran: Any, schema: str, reason: str
) -> None:
    outcome, _, asked = ran(f'result = agent("q", schema=dict([*{schema}.items()]))\n')
    assert (outcome.status, asked) == ("failed", [])
    assert reason in outcome.error


def test_a_schema_may_have_patterns_and_a_property_of_that_name(ran: Any) -> None:
    schema = '{"properties": {"pattern": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"}}}'
    script = completion('{"pattern": "one-two"}')
    assert ran(f'result = agent("q", schema={schema})\n', script)[0].result == {"pattern": "one-two"}


def test_a_schema_may_refer_to_its_own_parts(ran: Any) -> None:
    schema = '{"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}}}'
    script = completion('{"next": {"next": {}}}')
    assert ran(f'result = agent("q", schema={schema})\n', script)[0].result == {"next": {"next": {}}}


def test_schemas_that_differ_in_the_type_of_a_value_alone_are_two(ran: Any) -> None:
    plan = 'result = [agent("q", schema={"properties": {"a": {"const": one}}}) for one in [True, 1, 1.0]]\n'
    assert ran(plan, completion('{"a": true}'))[0].result == [{"a": True}, None, None]


def test_a_schema_with_a_key_that_is_no_text_is_refused_after_one_that_looks_the_same(ran: Any) -> None:
    plan = 'result = [agent("q", schema={"properties": {key: {}}}) for key in ["1", 1]]\n'
    outcome, _, asked = ran(plan, completion("{}"))
    assert (outcome.status, len(asked)) == ("failed", 1)
    assert "`schema` holds the key 1, which is no text" in outcome.error


def test_an_agents_answer_is_text_without_a_schema_whatever_it_looks_like(ran: Any) -> None:
    assert ran('result = agent("q")\n', completion('{"a": 1}'))[0].result == '{"a": 1}'


def test_samples_of_one_question_are_asked_apart_and_the_same_sample_once(ran: Any) -> None:
    _, _, asked = ran('result = [agent("q", sample=0), agent("q", sample=1), agent("q", sample=1)]\n')
    assert asked == ["q", "q"]


def test_the_same_question_of_two_roles_with_one_model_is_asked_once(ran: Any) -> None:
    _, _, asked = ran('result = [agent("q", model="worker"), agent("q", model="judge")]\n')
    assert asked == ["q"]


def test_a_repair_shows_at_most_six_thousand_characters_of_the_answer(ran: Any) -> None:
    shown: list[int] = []

    def script(request: Any) -> Any:
        messages = request.json["messages"]
        if len(messages) == 1:
            return completion("x" * 10_000)
        shown.append(len(messages[1]["content"]))
        return completion("{}")

    assert ran('result = agent("q", schema={"type": "object"})\n', script)[0].result == {}
    assert shown == [6_000]


def test_the_roles_are_a_value_of_the_plan(ran: Any) -> None:
    assert ran("result = MODELS\n")[0].result == ["fast", "judge", "lead", "worker"]
