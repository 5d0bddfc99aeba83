"""What the documents say is so."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import click
import pytest

from planlang import check
from planloom.cli._about import _CONFIG
from planloom.clients import ClientPlugin, Endpoint
from planloom.configuration import load_settings
from planloom.exporters import Exporter
from planloom.kits import Kit
from planloom.listeners import Listener
from planloom.plugins import Registry, load_plugins
from planloom.questions import Question, message_of
from planloom.stores import Event
from planloom.testing.loopback import json_answer, serving
from planloom.words import build_vocabulary
from planloom_audit import Bug, Lens

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the documents are not beside these tests")


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


def blocks(path: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / path).read_text(), re.DOTALL | re.MULTILINE)


LEAD = "plugins/planloom_audit/prompts/lead.md"


@pytest.mark.parametrize("path", ["README.md", "docs/tutorial/first-audit.md", LEAD])
def test_the_plans_in_the_documents_pass_the_check(registry: Registry, path: str, tmp_path: Path) -> None:
    kits = tuple(registry.all("kit", Kit).values())
    vocabulary = build_vocabulary(registry, load_settings(registry, folder=tmp_path, environ={}), kits)
    plans = blocks(path, "" if path == LEAD else "python")
    assert plans
    assert [p for plan in plans for p in check(plan, vocabulary) if p.severity == "problem"] == []


def test_the_kit_of_the_how_to_loads_and_brings_what_it_says(registry: Registry) -> None:
    module = ModuleType("planloom_todo")
    exec(blocks("docs/how-to/write-a-kit.md", "python")[0], module.__dict__)
    loaded = load_plugins([("todo", module)])
    assert loaded.owner("kit", "todo") == "todo"
    assert loaded.get("lens", "units", Lens).paragraph.startswith("Look at units")


def test_the_client_of_the_how_to_asks_a_real_server(registry: Registry) -> None:
    module = ModuleType("planloom_plain")
    exec(blocks("docs/how-to/write-a-client.md", "python")[0], module.__dict__)
    plugin = load_plugins([("plain", module)]).get("client", "plain", ClientPlugin)
    question = Question(endpoint="x", model="m", messages=(message_of("user", "so?"),), parameters={"max_tokens": 5})

    async def asked(url: str) -> str:
        client = plugin.open(Endpoint(name="x", client="plain", url=url))
        try:
            return (await client.ask(question)).text
        finally:
            await client.close()

    with serving(json_answer({"say": "yes"})) as server:
        assert asyncio.run(asked(server.url)) == "yes"
    assert server.received[0].json == {"ask": "so?", "with": "m", "max_tokens": 5}
    assert server.received[0].target == "/v1/answers"


OTHER_PLUGINS = "docs/how-to/write-other-plugins.md"


def test_the_exporter_and_the_listener_of_the_how_to_write_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("planloom_mine")
    exec(blocks(OTHER_PLUGINS, "python")[0], module.__dict__)
    loaded = load_plugins([("mine", module)])
    bug = Bug(file="a.py", line=3, severity="high", claim="adds 1, twice")
    table = loaded.get("exporter", "findings-csv", Exporter).export(SimpleNamespace(bugs=[bug]))
    assert table.splitlines() == ["file,line,severity,claim", 'a.py,3,high,"adds 1, twice"']
    monkeypatch.setenv("COST_LOG", str(tmp_path / "cost"))
    listener = loaded.get("listener", "cost-log", Listener)
    listener.on_event("run-1", Event(seq=1, t=0.0, type="run.created", data={"title": "x"}))
    listener.on_event("run-1", Event(seq=2, t=1.0, type="run.ended", data={"status": "completed", "credits": 0.4}))
    assert (tmp_path / "cost").read_text() == '{"run": "run-1", "status": "completed", "credits": 0.4}\n'


@pytest.mark.command
def test_a_store_that_breaks_the_contract_of_the_how_to_is_shown_what_it_gave(tmp_path: Path) -> None:
    broken = "def open_store(path):\n    return Odd(real(path))\n\n\nclass Odd:\n    version = lambda self: -7\n"
    broken += "    __init__ = lambda self, store: setattr(self, 'store', store)\n"
    broken += "    __getattr__ = lambda self, name: getattr(self.store, name)\n"
    suite = blocks(OTHER_PLUGINS, "python")[1]
    suite = suite.replace("import open_store  # yours in its place", "import open_store as real") + "\n\n" + broken
    (tmp_path / "test_mine.py").write_text(suite)
    only = "the_version_changes or an_unknown_question"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "-k", only]
    told = subprocess.run([*command, "test_mine.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60).stdout
    assert "assert -7 == " in told
    assert "1 failed, 1 passed" in told


def test_every_hook_stands_in_the_reference(registry: Registry) -> None:
    text = (ROOT / "docs/reference/hooks.md").read_text()
    hooks = [name for name in dir(registry.manager.hook) if name.startswith("register_")]
    assert [hook for hook in hooks if f"`{hook}`" not in text] == []


def test_the_configuration_that_init_writes_is_valid_also_with_its_comments_taken_off(
    registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / "planloom.toml").write_text(_CONFIG)
    assert load_settings(registry, folder=tmp_path, environ={}).offline
    setting = re.compile(r"^# (?=\[|\w+ = )", re.MULTILINE)
    (tmp_path / "planloom.toml").write_text(setting.sub("", _CONFIG))
    settings = load_settings(registry, folder=tmp_path, environ={})
    assert set(settings.roles) == {"lead", "worker", "judge", "fast"}
    assert tomllib.loads(_CONFIG)


def test_the_configurations_of_the_how_to_are_valid(registry: Registry, tmp_path: Path) -> None:
    for text in blocks("docs/how-to/connect-a-model.md", "toml"):
        (tmp_path / "planloom.toml").write_text(text)
        assert not load_settings(registry, folder=tmp_path, environ={}).offline, text


OPTION = r"(?<![\w-])--[a-z][a-z-]+"
PAGES = ["README.md", *(f"docs/how-to/{page.name}" for page in sorted((ROOT / "docs/how-to").glob("*.md")))]


def test_the_package_and_the_configuration_of_the_client_how_to_are_valid(tmp_path: Path) -> None:
    package, configuration = blocks("docs/how-to/write-a-client.md", "toml")
    assert tomllib.loads(package)["project"]["entry-points"]["planloom"] == {"plain": "planloom_plain"}
    module = ModuleType("planloom_plain")
    exec(blocks("docs/how-to/write-a-client.md", "python")[0], module.__dict__)
    (tmp_path / "planloom.toml").write_text(configuration.replace("PORT", "8000"))
    settings = load_settings(load_plugins([("plain", module)]), folder=tmp_path, environ={})
    assert settings.roles["worker"].endpoint == "main"


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_is_there(registry: Registry, page: str) -> None:
    named = set(re.findall(r"(?:`|^)planloom ([a-z]+)", (ROOT / page).read_text(), re.MULTILINE))
    assert named - set(registry.names("command")) <= {"runs"}


def options_of(command: dict[str, Any]) -> set[str]:
    own = {option for row in command["params"] for option in (*row.get("opts", ()), *row.get("secondary_opts", ()))}
    return own.union(*map(options_of, command.get("commands", {}).values()))


def test_every_option_that_a_page_or_a_message_names_is_there(registry: Registry) -> None:
    commands = registry.all("command", click.Command).values()
    ours = [option for one in commands for option in options_of(one.to_info_dict(click.Context(one)))]
    known = {*ours, "--help", "--cached"}  # the last is git's
    told = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "core/planloom").rglob("*.py")]
    named = {(page.name, option) for page in told for option in re.findall(OPTION, page.read_text(encoding="utf-8"))}
    assert {(page, option) for page, option in named if option not in known} == set()


def test_the_page_of_words_lists_every_word_of_the_core_as_plans_call_it(registry: Registry, tmp_path: Path) -> None:
    listed = re.findall(r"^\| `(\w+)\((.*)\)` \|", (ROOT / "docs/reference/words.md").read_text(), re.MULTILINE)
    words = build_vocabulary(registry, load_settings(registry, folder=tmp_path, environ={}), ()).words
    bare = {
        name: ", ".join(str(p.replace(annotation=p.empty)) for p in word.signature.parameters.values())
        for name, word in words.items()
    }
    assert dict(listed) == bare
