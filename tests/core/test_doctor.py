"""What a doctor finds out: on a machine, in a configuration, and from servers that really answer."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs
import pytest

from planloom.cli._main import _run
from planloom.doctor import checks_of
from planloom.hookspecs import hookimpl
from planloom.money import micro_of
from planloom.plugins import load_plugins
from planloom.settings import settings_without_file
from planloom.stores import Store, StorePlugin
from planloom.testing.loopback import (
    Received,
    Script,
    Served,
    completion,
    dropped,
    event_stream,
    html,
    json_answer,
    message,
    message_stream,
    serving,
    tool_use,
)
from planloom_sqlite import open_store

SHAPED = {"prime": True, "next_prime": 11}
KEY = "sk-secret-0123456789"


@attrs.frozen
class ChatServer:
    """A server of chat completions that heeds shapes, streams and counts as well as it was made to."""

    modes: tuple[str, ...] = ("json_schema", "json_object")
    streams: bool = True
    usage: Mapping[str, Any] | None = attrs.field(factory=lambda: {"prompt_tokens": 9, "completion_tokens": 2})

    def __call__(self, request: Received) -> Served:
        wanted = request.json.get("response_format", {}).get("type")
        if wanted and wanted not in self.modes:
            return json_answer({"error": {"message": f"response_format {wanted} is not supported"}}, 400)
        if request.wants_stream:
            return event_stream(["ready"]) if self.streams else json_answer({"error": {"message": "no streams"}}, 400)
        shaped = {"json_schema": json.dumps(SHAPED), "json_object": '{"prime": true}'}
        return completion(shaped.get(wanted, "ready"), usage=self.usage, model="served-1")


def messages_server(request: Received) -> Served:
    """Answer as Anthropic's API does."""
    if "tools" in request.json:
        block = tool_use("doctor", SHAPED)
        return message_stream([block], stop_reason="tool_use") if request.wants_stream else message([block])
    return message_stream(["ready"]) if request.wants_stream else message("ready")


def configure(
    folder: Path, url: str, endpoint: str = "", price: str = "{ call = 0.2 }", role: str = "", model: str = "m-1"
) -> None:
    (folder / "planloom.toml").write_text(
        f'[endpoints.main]\nurl = "{url}"\n{endpoint}\n'
        f'[roles.worker]\nendpoint = "main"\nmodel = "{model}"\nprice = {price}\n{role}\n'
        f'[roles.judge]\nendpoint = "main"\nmodel = "{model}"\nprice = {price}\n'
    )


@attrs.frozen
class Done:
    """How a doctor ended: what it printed, and what it said beside that."""

    stdout: str
    stderr: str


@attrs.define
class Doctor:
    """Runs the command in a folder of its own."""

    folder: Path
    capture: pytest.CaptureFixture[str]

    def run(self, *arguments: str, code: int) -> Done:
        """Run it with these arguments; it must end with a code."""
        self.capture.readouterr()
        ended = _run(["doctor", *arguments])
        done = Done(*self.capture.readouterr())
        assert ended == code, done
        assert KEY not in done.stdout + done.stderr
        return done

    def found(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        """Return what it finds when it may ask."""
        found: dict[str, Any] = json.loads(self.run("--yes", "--json", *arguments, code=code).stdout)
        return found

    def visits(self, script: Script, *, code: int = 0, **configured: str) -> dict[str, Any]:
        """Return what it finds when it asks a server."""
        with serving(script) as server:
            configure(self.folder, server.url, **configured)
            return self.found(code=code)


@pytest.fixture
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Doctor:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("PLANLOOM_STORE", "PLANLOOM_CONFIG", "EXAMPLE_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return Doctor(tmp_path, capsys)


def bad(found: dict[str, Any]) -> list[str]:
    return [f"{check['said']} Next: {check['step']}" for check in found["checks"] if check["verdict"] == "bad"]


def notes(found: dict[str, Any]) -> str:
    return "\n".join(
        f"{check['said']} Next: {check['step']}" for check in found["checks"] if check["verdict"] == "note"
    )


@contextmanager
def closing_store(path: Path) -> Iterator[Store]:
    store = open_store(path)
    try:
        yield store
    finally:
        asyncio.run(store.close())


# --- without asking anybody


def test_a_role_that_is_not_configured_is_worth_knowing(doctor: Doctor) -> None:
    found = doctor.visits(completion("ready"), code=2)
    assert "not configured Next: for plans that ask this role add a table [roles.fast]" in notes(found)
    assert "[roles.judge]" not in notes(found)


def test_a_configuration_that_names_no_model_is_fit_and_says_who_answers(doctor: Doctor, tmp_path: Path) -> None:
    (tmp_path / "planloom.toml").write_text("[budget]\ncap = 5\n")
    shown = doctor.run(code=0).stdout.replace("\n", "")
    assert "planloom.toml names no model: the offline analyst plays every role" in shown


def test_a_machine_without_a_configuration_is_fit(doctor: Doctor, tmp_path: Path) -> None:
    shown = doctor.run(code=0).stdout
    assert "configuration: none: the offline analyst plays every role" in shown
    assert not (tmp_path / ".planloom").exists()


def test_what_init_writes_is_fit_as_it_is(doctor: Doctor) -> None:
    _run(["init"])
    doctor.run(code=0)


def test_what_init_writes_lacks_nothing_but_its_keys_when_its_comments_are_taken_away(
    doctor: Doctor, tmp_path: Path
) -> None:
    _run(["init"])
    path = tmp_path / "planloom.toml"
    path.write_text(re.sub(r"^# (?=\[|\w+ = )", "", path.read_text(), flags=re.MULTILINE))
    shown = doctor.run("--offline", code=2).stdout
    assert [line.split(":", 1)[1].strip() for line in shown.splitlines() if line.startswith("bad")] == [
        "EXAMPLE_API_KEY is not set"
    ]


def test_a_key_that_is_not_set_is_named_and_its_endpoint_not_asked(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEST_KEY")
    with serving() as server:
        configure(tmp_path, server.url, 'key_env = "TEST_KEY"')
        found = doctor.found(code=2)
    assert bad(found) == ["TEST_KEY is not set Next: set it: export TEST_KEY=..."]
    assert server.total == 0


def test_an_address_that_cannot_be_asked_is_bad(doctor: Doctor, tmp_path: Path) -> None:
    configure(tmp_path, "api.test")
    found = doctor.found(code=2)
    assert "needs an http or https url, got `api.test`" in bad(found)[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
def test_a_place_where_no_store_can_be_made_is_bad(doctor: Doctor, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    shown = doctor.run("--store", str(closed / "store.db"), code=1).stdout
    assert "cannot be written" in shown


def test_a_store_that_is_no_store_is_bad_and_nobody_is_asked(doctor: Doctor, tmp_path: Path) -> None:
    (tmp_path / "store.db").write_text("not a database, and long enough to be taken for one " * 40)
    with serving() as server:
        configure(tmp_path, server.url)
        doctor.run("--yes", "--store", "store.db", code=1)
    assert server.total == 0


def test_without_a_person_nobody_is_asked_unless_it_was_said_beforehand(doctor: Doctor, tmp_path: Path) -> None:
    with serving() as server:
        configure(tmp_path, server.url)
        done = doctor.run(code=0)
    assert server.total == 0
    assert f"{server.url} was not asked, which costs at most 0.8 credits; say --yes to ask" in done.stderr


@pytest.mark.parametrize(("answer", "asked"), [("n", 0), ("y", 4)])
def test_a_person_is_told_the_cost_and_asked(doctor: Doctor, tmp_path: Path, answer: str, asked: int) -> None:
    person, terminal = os.openpty()
    try:
        with serving(ChatServer()) as server:
            configure(tmp_path, server.url)
            os.write(person, f"{answer}\n".encode())
            command = [sys.executable, "-m", "planloom", "doctor"]
            subprocess.run(command, stdin=terminal, stderr=terminal, stdout=subprocess.DEVNULL, timeout=60, check=True)
        said = os.read(person, 4_000).decode()
    finally:
        os.close(person)
        os.close(terminal)
    assert f"Asking {server.url} costs at most 0.8 credits. Ask? [y/N]" in said
    assert server.total == asked


# --- by asking


def test_a_good_server_is_described_and_each_model_asked_once(doctor: Doctor, tmp_path: Path) -> None:
    with serving(ChatServer()) as server:
        configure(tmp_path, server.url, 'key_env = "TEST_KEY"')
        done = doctor.found()
    endpoint = done["endpoints"][0]
    assert endpoint | {"seconds": 0} == {
        "endpoint": "main",
        "model": "m-1",
        "roles": ["worker", "judge"],
        "error": None,
        "seconds": 0,
        "named": "served-1",
        "counts": {"prompt_tokens": 9, "completion_tokens": 2},
        "thinking": "",
        "json_modes": {"json_schema": "works", "json_object": "works"},
        "streaming": {"whole": "works", "streamed": "works"},
    }
    assert server.total == 4


def test_what_it_paid_was_said_before_and_is_in_the_books(doctor: Doctor, tmp_path: Path) -> None:
    with serving(ChatServer()) as server:
        configure(tmp_path, server.url)
        done = doctor.run("--yes", code=0)
    assert f"asking {server.url} costs at most 0.8 credits" in done.stderr
    assert "0.8 credits paid" in done.stderr
    with closing_store(tmp_path / ".planloom" / "store.db") as store:
        assert store.money("doctor")["spent"] == micro_of(0.8)


def test_a_server_of_messages_is_described(doctor: Doctor) -> None:
    endpoint = doctor.visits(messages_server, endpoint='client = "anthropic"')["endpoints"][0]
    assert endpoint["json_modes"] == {"json_schema": "works"}
    assert endpoint["streaming"] == {"streamed": "works", "whole": "works"}


def test_a_json_mode_that_the_server_refuses_is_bad_with_the_one_that_works(doctor: Doctor) -> None:
    found = doctor.visits(ChatServer(modes=("json_object",)), code=2)
    assert len(bad(found)) == 1
    assert "json_schema refused: " in bad(found)[0]
    assert bad(found)[0].endswith('Next: set endpoints.main.json_mode = "json_object"')


def test_a_shape_that_the_server_takes_and_does_not_heed_does_not_count(doctor: Doctor) -> None:
    found = doctor.visits(completion("Yes, it is."), code=2)
    assert found["endpoints"][0]["json_modes"]["json_schema"].startswith("ignored")
    assert bad(found)[0].endswith('Next: set endpoints.main.json_mode = "none"')
    assert "json_object ignored" in notes(found)


def test_a_server_that_could_be_asked_for_json_and_is_not_is_worth_knowing(doctor: Doctor) -> None:
    found = doctor.visits(ChatServer(), endpoint='json_mode = "none"')
    assert 'set endpoints.main.json_mode = "json_schema"' in notes(found)


def test_a_server_that_does_not_stream_is_said_to(doctor: Doctor) -> None:
    found = doctor.visits(ChatServer(streams=False))
    streaming = found["endpoints"][0]["streaming"]
    assert (streaming["whole"], streaming["streamed"][:7]) == ("works", "refused")
    assert "an answer that is streamed refused" in notes(found)


def test_a_server_that_counts_nothing_is_worth_knowing_where_tokens_are_priced(doctor: Doctor) -> None:
    found = doctor.visits(ChatServer(usage=None), price="{ input = 1, output = 2 }")
    assert "counts tokens: none Next: prices will be estimated" in notes(found)


@pytest.mark.parametrize(
    ("served", "said"),
    [
        (completion("ready", usage={"completion_tokens_details": {"reasoning_tokens": 70}}), "70 tokens"),
        (completion("<think>hm</think>ready"), "in its text, which is taken out"),
        (completion("ready", usage={"completion_tokens": 300}, reasoning_content="hm"), "300 tokens for 5 characters"),
    ],
)
def test_a_model_that_thinks_first_is_worth_knowing(doctor: Doctor, served: Served, said: str) -> None:
    found = doctor.visits(served, endpoint='json_mode = "none"')
    assert f"thinks before it answers: {said}" in notes(found)


@pytest.mark.parametrize(
    ("served", "code", "said"),
    [
        (json_answer({"error": {"message": "bad key"}}, 401), 2, "check the key in TEST_KEY"),
        (
            json_answer({"error": {"message": "The model `m-1` does not exist.", "available_models": ["m-2"]}}, 404),
            2,
            "it names: m-2",
        ),
        (json_answer({"error": {"message": "insufficient_quota"}}, 429), 1, "raise the account's limit"),
        (json_answer({"error": {"message": "seed must be positive"}}, 400), 1, "check the model's parameters"),
    ],
)
def test_a_server_that_refuses_is_bad_with_what_to_do_and_asked_once(
    doctor: Doctor, tmp_path: Path, served: Served, code: int, said: str
) -> None:
    with serving(served) as server:
        configure(tmp_path, server.url, 'key_env = "TEST_KEY"')
        found = doctor.found(code=code)
    assert said in bad(found)[0]
    assert server.total == 1


@pytest.mark.parametrize(
    ("served", "code", "said"),
    [
        (completion("", finish_reason="length"), 0, "its answer was cut at 1,000 tokens before it was whole"),
        (completion(None, refusal="no"), 1, "gave no whole answer (finish reason content_filter)"),
        (completion(None), 1, "gave no whole answer (finish reason stop)"),
    ],
    ids=["cut", "refused", "empty"],
)
def test_a_server_that_gives_no_whole_answer_is_asked_nothing_else_and_no_setting_is_blamed(
    doctor: Doctor, tmp_path: Path, served: Served, code: int, said: str
) -> None:
    with serving(served) as server:
        configure(tmp_path, server.url)
        found = doctor.found(code=code)
    assert (server.total, found["paid"]) == (1, 0.2)
    assert said in "\n".join([*bad(found), notes(found)])
    assert "json_mode" not in "\n".join([*bad(found), notes(found)])
    assert (found["endpoints"][0]["json_modes"], found["endpoints"][0]["streaming"]) == ({}, {})


def test_an_answer_that_was_cut_below_what_a_check_allows_is_the_role_s_fault(doctor: Doctor) -> None:
    cut = completion("", finish_reason="length")
    found = doctor.visits(cut, code=2, role="parameters = { max_tokens = 50 }")
    assert "its answer was cut at 50 tokens" in bad(found)[0]
    assert "max_tokens of role worker" in bad(found)[0]


def test_a_way_to_ask_for_json_that_could_not_be_tried_is_not_called_a_bad_one(doctor: Doctor) -> None:
    def script(request: Received) -> Served:
        wanted = request.json.get("response_format", {}).get("type")
        return completion("{", finish_reason="length") if wanted == "json_schema" else ChatServer()(request)

    found = doctor.visits(script, code=1)
    assert "json_schema is not known: no whole answer (finish reason length)" in bad(found)[0]
    assert "ask again" in bad(found)[0]


@pytest.mark.slow  # three attempts, with waits between them
def test_a_check_that_has_used_up_its_money_says_what_failed_and_names_no_cap(doctor: Doctor) -> None:
    def script(request: Received) -> Served:
        wanted = request.json.get("response_format", {}).get("type")
        return dropped() if wanted == "json_schema" else ChatServer()(request)

    found = doctor.visits(script, code=1)
    assert (
        "json_schema is not known: 3 attempts failed (`transport`) and what the server may have billed" in bad(found)[0]
    )
    assert "--cap" not in "\n".join([*bad(found), notes(found)])
    assert (found["paid"], found["uncertain"]) == (0.2, 0.6)


def test_one_endpoint_that_is_not_there_does_not_keep_the_others_from_being_asked(
    doctor: Doctor, tmp_path: Path
) -> None:
    with serving(ChatServer()) as server:
        configure(tmp_path, server.url, "", model="m-1")
        path = tmp_path / "planloom.toml"
        path.write_text(
            path.read_text() + '[endpoints.gone]\nurl = "http://127.0.0.1:9/v1"\n'
            '[roles.fast]\nendpoint = "gone"\nmodel = "m-9"\nprice = { call = 0.1 }\n'
        )
        found = doctor.found(code=1)
    assert [endpoint["error"] is None for endpoint in found["endpoints"]] == [True, False]
    assert "cannot connect to 127.0.0.1:9" in bad(found)[0]


def test_a_role_that_is_not_configured_is_told_with_the_words_that_will_not_work(
    doctor: Doctor, tmp_path: Path
) -> None:
    configure(tmp_path, "http://127.0.0.1:9/v1")
    (tmp_path / "planloom.toml").write_text((tmp_path / "planloom.toml").read_text().replace("judge", "fast"))
    told = notes(doctor.found("--offline"))
    assert "not configured: check (kit audit) will not work, nor jobs of the kit that need it" in told
    assert "not configured: report (kit audit) will not work, nor jobs of the kit that need it" in told


def test_where_no_connection_can_be_made_it_knocks_once_at_each_model(doctor: Doctor, tmp_path: Path) -> None:
    knocks = 0
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang_up() -> None:
            nonlocal knocks
            with suppress(OSError):
                while True:
                    listener.accept()[0].close()
                    knocks += 1

        threading.Thread(target=hang_up, daemon=True).start()
        configure(tmp_path, f"https://127.0.0.1:{listener.getsockname()[1]}/v1")
        found = doctor.found(code=1)
        listener.shutdown(socket.SHUT_RDWR)
    assert "cannot connect to 127.0.0.1" in bad(found)[0]
    assert (knocks, found["paid"], found["uncertain"]) == (1, 0, 0)


def test_what_an_answer_that_nobody_can_read_cost_is_told_as_a_run_tells_it(doctor: Doctor, tmp_path: Path) -> None:
    with serving(html()) as server:
        configure(tmp_path, server.url)
        done = doctor.run("--yes", code=1)
    assert "0.0 credits paid, 0.4 for calls of unknown outcome" in done.stderr


@pytest.mark.slow  # four attempts, with waits between them
def test_a_lost_connection_may_have_cost_something_and_is_counted_so(doctor: Doctor) -> None:
    found = doctor.visits(dropped(), code=1)
    assert (found["paid"], found["uncertain"] > 0) == (0, True)


def test_a_store_that_is_no_file_of_this_machine_is_opened_and_not_looked_for_on_the_disk() -> None:
    opened: list[str] = []

    def open_served(location: str | Path) -> Store:
        opened.append(str(location))
        return open_store(":memory:")

    class Plugin:
        @hookimpl
        def register_stores(self, register: Callable[[StorePlugin], None]) -> None:
            register(StorePlugin(name="served", summary="", open=open_served, embedded=False))

    registry = load_plugins([("served", Plugin())])
    settings = attrs.evolve(settings_without_file(registry), store_kind="served", store_path="db.example/store")
    said = {check.name: check.said for check in checks_of(registry, settings, {})}
    assert opened == ["db.example/store"]
    assert said["store"].endswith("can be opened")
