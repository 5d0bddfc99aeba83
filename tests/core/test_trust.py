"""Where a configuration may send code and keys, for every command that works on a target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.here import planloom_here

from planloom import ConfigurationError
from planloom.clients import Endpoint
from planloom.money import Price
from planloom.settings import RoleSettings, Settings
from planloom.testing.loopback import completion, serving
from planloom.trust import require_trust


def settings_of(source: Path, **settings: Any) -> Settings:
    role = RoleSettings(name="worker", endpoint="main", model="m", price=Price(), parameters={})
    endpoint = Endpoint(name="main", client="openai", url="https://example.org/v1", settings=settings)
    return Settings(source=source, endpoints={"main": endpoint}, roles={"worker": role})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "work"


def test_trust_in_an_endpoint_is_not_trust_in_a_proxy_that_came_later(folder: Path) -> None:
    source = folder / "planloom.toml"
    require_trust(settings_of(source), folder, given=False, ask=lambda question: True)
    require_trust(settings_of(source), folder, given=False, ask=None)
    with pytest.raises(ConfigurationError, match=r"main: https://example\.org/v1 through http://other"):
        require_trust(settings_of(source, proxy="http://other"), folder, given=False, ask=None)


def test_a_target_that_is_no_path_brought_no_configuration(folder: Path) -> None:
    for target in ("ticket-4711", "x" * 5_000):
        require_trust(settings_of(folder / "planloom.toml"), Path(target), given=False, ask=None)


def test_a_plan_that_is_run_on_code_asks_for_trust_as_an_audit_does(folder: Path) -> None:
    (folder / "code.py").write_text("x = 1\n")
    (folder / "scan.plan").write_text("result = [scan(s) for s in shards()]\n")
    run = ("run", "scan.plan", "--target", ".")
    with serving(completion('{"findings": []}')) as server:
        role = '[roles.worker]\nendpoint = "main"\nmodel = "m"\nprice = { call = 0.2 }\n'
        (folder / "planloom.toml").write_text(f'[endpoints.main]\nurl = "{server.url}"\n{role}')
        refused = planloom_here(folder, *run)
        assert (refused.returncode, server.total) == (2, 0), refused.stderr
        assert server.url in refused.stderr
        trusted = planloom_here(folder, *run, "--trust-config")
        assert (trusted.returncode, server.total) == (0, 1), trusted.stderr
