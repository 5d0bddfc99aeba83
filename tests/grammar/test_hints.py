"""A hint that shows code in backticks, put in the place of what is marked, gives an accepted plan."""

from __future__ import annotations

import re
from inspect import signature

import pytest

from planlang import Problem, Value, Vocabulary, Word, check
from planlang._hints import for_vocabulary

SOURCES = [
    "result = lenn([1])",
    "x = true\nresult = x",
    'result = scan(work(), "boundary")',
    'result = [agent("x", model="wroker")]',
    "result = parallel([lambda: scan(s) for s in shards()])",
    'result = parallel([lambda: scan(s, l) for s in shards() for l in ["logic"]])',
    "tasks = []\nfor s in shards():\n    tasks.append(lambda: scan(s))\nresult = parallel(tasks)",
    "def f(x, *, k=1):\n    return x\nresult = parallel([lambda k=2: f(s, k=k) for s in shards()])",
    "result = parallel([scan(s) for s in shards()])",
    'result = parallel([agent("a"), agent("b")])',
    'result = parallel(work(), lambda p: agent(f"read {p}"))',
    "def f(p):\n    return agent(p)\nresult = parallel(work(), f)",
    "x = [1]\nreturn x",
    "result = 0777",
    "gr\u00f6sse = 1\nresult = 1",
    "result = l\u0435n([1])",
    "result = 5000000",
    "result = 2000001",
    "result = sorted(x for x in [2, 1], reverse=True)",
    "result = 7 ** 2",
    "result = budget.remaining()",
    "result = LENSES()",
    "x = 3\nresult = [*(*[1])]",
]


def mended(source: str, problem: Problem) -> str:
    shown: list[str] = re.findall(r"`([^`]+)`", problem.hint)
    assert shown, problem.hint
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    start = starts[problem.line - 1] + problem.column - 1
    end = starts[problem.end_line - 1] + problem.end_column - 1
    return source[:start] + shown[0].strip('"' if source[start] != '"' else "") + source[end:]


@pytest.mark.parametrize("source", SOURCES)
def test_a_hint_applied_as_written_is_accepted(source: str, audit_vocabulary: Vocabulary) -> None:
    for _ in range(3):
        problems = [p for p in check(source, audit_vocabulary) if p.severity == "problem"]
        if not problems:
            return
        source = mended(source, problems[0])
    assert problems == [], source


HOST_WORDS = ("agent", "budget", "log", "parallel", "phase", "pipeline", "to_json")
ELSEWHERE = [
    "print(1)",
    "x = json.dumps([1])",
    "with work() as x:\n    y = x",
    "x = await work()",
    "raise ValueError",
    "assert work()",
    "x = asyncio.gather(work(), work())",
    "x = time.time()",
    "logging.info('x')",
    "import json",
    "x = open('f')",
    "try:\n    x = work()\nexcept ValueError:\n    print('no')",
]


@pytest.mark.parametrize("source", ELSEWHERE)
def test_a_hint_names_no_word_that_the_host_does_not_have(source: str) -> None:
    words = Vocabulary([Word("work", lambda _place: [], signature=signature(lambda: None), doc="")])
    problems = check(f"{source}\nresult = 1\n", words)
    assert problems
    for problem in problems:
        named = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]*`", problem.hint)))) & {*HOST_WORDS}
        assert named <= set(re.findall(r"\w+", source)), problem.hint
        assert problem.hint.endswith(".")


def test_what_is_left_of_a_hint_makes_sense_alone() -> None:
    words = Vocabulary([])
    (problem,) = check("x = await f\nresult = 1\n", words)[:1]
    assert problem.hint == "delete it, and every other `async` and `await`."
    assert for_vocabulary("use `log(message)`.", words, "") == "leave it out, or use a word or a builtin that there is."


def test_a_hint_may_name_a_function_that_the_plan_has_itself() -> None:
    assert for_vocabulary("write `log(1)`.", Vocabulary([]), "def log(x):\n    return x\n") == "write `log(1)`."


def test_a_schema_that_is_given_by_its_name_is_looked_up_in_the_hint() -> None:
    def agent(prompt: str, schema: dict[str, object] | None = None) -> None: ...

    schemas = Value("SCHEMAS", doc="", make=lambda host: {})
    words = Vocabulary([Word("agent", agent, signature=signature(agent), doc=""), schemas])
    (problem,) = [p for p in check('result = agent("x", schema="findings")', words) if p.severity == "problem"]
    assert problem.hint == 'write `SCHEMAS["findings"]`.'
