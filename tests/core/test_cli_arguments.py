"""A plan's arguments on the command line: JSON, or a text; what was meant as JSON and is none is not paid for."""

from __future__ import annotations

import pytest

from planloom.testing.folders import Folder
from planloom.testing.loopback import echo

from .asking import MakeFolder

ONE_EACH = 'result = [agent(topic) for topic in args["topics"]]\n'


@pytest.fixture
def folder(folder_with: MakeFolder) -> Folder:
    return folder_with(echo, ONE_EACH)


BROKEN = {
    'topics=["rivers","bread"': (
        "expecting ',' delimiter at character 18, which is its end; write --arg 'topics=[\"rivers\", \"bread\"]', "
        'or --arg \'topics="[\\"rivers\\",\\"bread\\""\' where a text is meant'
    ),
    "topics=['rivers']": (
        "expecting value at character 2, which is `'rivers']`; write --arg 'topics=[\"rivers\"]', "
        "or --arg 'topics=\"['\"'\"'rivers'\"'\"']\"' where a text is meant"
    ),
    'topics={"a": 1': (
        "expecting ',' delimiter at character 8, which is its end; write --arg 'topics={\"a\": 1}', "
        'or --arg \'topics="{\\"a\\": 1"\' where a text is meant'
    ),
    'topics="a" he said': (
        "extra data at character 5, which is `he said`; "
        'mend it, or --arg \'topics="\\"a\\" he said"\' where a text is meant'
    ),
    'topics="a': (
        'unterminated string starting at character 1, which is `"a`; write --arg \'topics="a"\', '
        'or --arg \'topics="\\"a"\' where a text is meant'
    ),
    "topics= [draft]": (
        "expecting value at character 3, which is `draft]`; mend it, "
        "or --arg 'topics=\" [draft]\"' where a text is meant"
    ),
    f"topics={'[' * 100_000}": (
        'it is nested too deeply; write JSON, where texts and keys stand in double quotes, such as ["a", "b"]'
    ),
}


@pytest.mark.parametrize("pair", BROKEN, ids=lambda pair: pair[:20])
def test_a_value_that_begins_as_json_and_is_none_is_refused_where_it_breaks(folder: Folder, pair: str) -> None:
    code, output, remarks = folder.run("run", "job.plan", "--arg", pair)
    told = f"planloom: the argument `topics` begins as JSON and is none: {BROKEN[pair]}\n"
    assert (code, output, remarks) == (2, "", told)
    assert (folder.server.total, (folder.path / "store.db").exists()) == (0, False)


def test_a_run_that_goes_on_and_a_rehearsal_take_no_broken_value_either(folder: Folder) -> None:
    assert folder.run("run", "job.plan", "--arg", 'topics=["rivers"]')[0] == 0
    for command in (("resume", folder.newest().id), ("rehearse", "job.plan")):
        code, _, remarks = folder.run(*command, "--arg", 'topics=["rivers"')
        assert (code, "begins as JSON and is none" in remarks) == (2, True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("rivers", "rivers"),
        ("rivers and [bread]", "rivers and [bread]"),
        ("it's", "it's"),
        ("12a", "12a"),
        ("", ""),
        ('["rivers"]', ["rivers"]),
        (' {"a": 1}', {"a": 1}),
        ('"a"', "a"),
        ("12", 12),
        ("true", True),
    ],
)
def test_plain_words_are_a_text_and_json_is_what_it_says(folder_with: MakeFolder, text: str, value: object) -> None:
    folder = folder_with(echo, 'result = args["x"]\n')
    assert folder.run("run", "job.plan", "--arg", f"x={text}")[0] == 0
    assert folder.newest().result == value
