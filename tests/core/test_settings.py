"""Configuration: what it says, where it is read from, and how each mistake is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
from syrupy.assertion import SnapshotAssertion

from planlang import Limits
from planloom import ConfigurationError
from planloom.configuration import load_settings
from planloom.money import MICRO, Price
from planloom.plugins import Registry, load_plugins
from planloom.settings import Settings, default_parameters

WHOLE = """
[store]
kind = "sqlite"
path = "elsewhere/answers.db"

[budget]
cap = 12.5

[limits]
in_flight = 4
workers = 50

[gate]
policy = "default"
pass_credits = 2
pass_share = 0.5
approve_up_to = 8

[endpoints.main]
client = "openai"
url = "https://api.example.com/v1"
key_env = "EXAMPLE_KEY"
json_mode = "json_object"
allow_insecure = false
timeouts = { connect = 5, total = 60 }

[roles.worker]
endpoint = "main"
model = "quick"
price = { input = 0.5, cached_input = 0.05, output = 2.0 }
parameters = { temperature = 0.2, seed = 7 }

[roles.lead]
endpoint = "main"
model = "strong"
price = { call = 0.5 }

[roles.judge]
endpoint = "offline"

[prompts]
"audit.scan" = "prompts/scan.md"

[kits.audit]
lenses = ["logic"]
"""


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


def read(registry: Registry, folder: Path, text: str, **environ: str) -> Settings:
    (folder / "planloom.toml").write_text(text, encoding="utf-8")
    return load_settings(registry, folder=folder, environ=environ)


def test_every_table_is_read(registry: Registry, tmp_path: Path) -> None:
    settings = read(registry, tmp_path, WHOLE)
    assert settings.source == tmp_path / "planloom.toml"
    assert (settings.store_kind, settings.store_path) == ("sqlite", str(tmp_path / "elsewhere/answers.db"))
    assert (settings.cap, settings.in_flight, settings.workers) == (12_500_000, 4, 50)
    assert attrs.asdict(settings.gate) == {
        "policy": "default",
        "pass_credits": 2 * MICRO,
        "pass_share": 0.5,
        "approve_up_to": 8 * MICRO,
    }
    assert settings.prompts == {"audit.scan": tmp_path / "prompts/scan.md"}
    assert settings.kits == {"audit": {"lenses": ["logic"]}}


def test_an_endpoint_is_read_with_its_clients_own_settings(registry: Registry, tmp_path: Path) -> None:
    endpoint = read(registry, tmp_path, WHOLE).endpoints["main"]
    assert (endpoint.client, endpoint.url, endpoint.key_env) == ("openai", "https://api.example.com/v1", "EXAMPLE_KEY")
    assert (endpoint.json_mode, endpoint.settings) == ("json_object", {"allow_insecure": False})
    assert endpoint.timeouts == {"connect": 5.0, "total": 60.0}


def test_a_role_is_read_with_its_price_and_parameters(registry: Registry, tmp_path: Path) -> None:
    roles = read(registry, tmp_path, WHOLE).roles
    assert roles["worker"].price == Price(input=500_000, cached_input=50_000, output=2_000_000)
    assert roles["worker"].parameters == {"temperature": 0.2, "top_p": 0.95, "max_tokens": 16_000, "seed": 7}
    assert (
        roles["lead"].parameters
        == default_parameters("lead")
        == {
            "temperature": 0.6,
            "top_p": 0.95,
            "max_tokens": 8_000,
        }
    )
    assert (roles["judge"].endpoint, roles["judge"].price) == ("offline", Price())


def test_with_no_configuration_every_role_is_answered_offline_and_free(registry: Registry, tmp_path: Path) -> None:
    settings = load_settings(registry, folder=tmp_path, environ={})
    assert settings.offline
    assert {"lead", "worker", "judge", "fast"} <= settings.roles.keys()
    assert (settings.store_path, settings.cap) == (".planloom/store.db", 150 * MICRO)


def test_a_configuration_without_roles_is_offline_too(registry: Registry, tmp_path: Path) -> None:
    assert read(registry, tmp_path, "[budget]\ncap = 3\n").offline


def test_a_table_in_pyproject_is_read_and_planloom_toml_goes_before_it(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.planloom.budget]\ncap = 7\n[tool.other]\nx = 1\n")
    assert load_settings(registry, folder=tmp_path, environ={}).cap == 7 * MICRO
    assert read(registry, tmp_path, "[budget]\ncap = 3\n").cap == 3 * MICRO


def test_a_pyproject_without_the_table_says_nothing(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert load_settings(registry, folder=tmp_path, environ={}).source is None


def test_configuration_is_not_searched_for_above_the_working_folder(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "planloom.toml").write_text("[budget]\ncap = 3\n")
    (tmp_path / "below").mkdir()
    assert load_settings(registry, folder=tmp_path / "below", environ={}).source is None


def test_the_environment_names_another_file_and_another_store(registry: Registry, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("[budget]\ncap = 9\n")
    settings = read(registry, tmp_path, "", PLANLOOM_CONFIG=str(other), PLANLOOM_STORE="/tmp/else.db")
    assert (settings.cap, settings.store_path) == (9 * MICRO, "/tmp/else.db")


def test_a_file_named_by_the_caller_goes_before_everything(registry: Registry, tmp_path: Path) -> None:
    named = tmp_path / "named.toml"
    named.write_text("[budget]\ncap = 2\n")
    settings = load_settings(registry, folder=tmp_path, config=named, environ={"PLANLOOM_CONFIG": "elsewhere"})
    assert settings.cap == 2 * MICRO


def test_a_role_that_is_not_configured_is_named_with_those_that_are(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"the role `fast`.*add a table \[roles.fast\].*worker, lead, judge"):
        read(registry, tmp_path, WHOLE).role("fast")


ENDPOINT = '[endpoints.main]\nclient = "openai"\nurl = "https://api.example.com/v1"\n'
ROLE = ENDPOINT + '[roles.worker]\nendpoint = "main"\nmodel = "m"\n'

FAULTS = {
    "not TOML": "[budget\n",
    "an unknown table": "[budgte]\ncap = 1\n",
    "a table that is a value": "budget = 3\n",
    "an unknown setting": "[budget]\ncapp = 1\n",
    "a cap of 400 digits": f"[budget]\ncap = {'9' * 400}\n",
    "a number that Python does not read": f"[budget]\ncap = {'9' * 5000}\n",
    "lists in lists without end": f"a = {'[' * 5000}{']' * 5000}\n",
    "more workers than there are": "[limits]\nworkers = 1000000000000000000000000000000\n",
    "a model without a name": '[endpoints.e]\n[roles.worker]\nendpoint = "e"\nmodel = ""\nprice = { call = 1 }\n',
    "a NUL in a path": '[store]\npath = "a\\u0000b"\n',
    "messages among the parameters": ROLE + "price = { call = 1 }\nparameters = { messages = [] }\n",
    "a negative cap": "[budget]\ncap = -1\n",
    "a cap in quotes": '[budget]\ncap = "150"\n',
    "a cap that is not a number": "[budget]\ncap = nan\n",
    "a cap without end": "[budget]\ncap = inf\n",
    "a cap that is true": "[budget]\ncap = true\n",
    "no calls at once": "[limits]\nin_flight = 0\n",
    "half a worker": "[limits]\nworkers = 1.5\n",
    "no time for a worker": "[limits]\nworker_timeout_s = 0\n",
    "no memory for a plan": "[limits]\nplan_memory_mb = 0\n",
    "another thing to do at a quota": '[limits]\nat_quota = "wiat"\n',
    "no calls at once at an endpoint": '[endpoints.main]\nurl = "http://a"\nin_flight = 0\n',
    "a share above one": "[gate]\npass_share = 2\n",
    "an unknown gate setting": "[gate]\npass_credit = 2\n",
    "a store of a wrong type": "[store]\npath = 3\n",
    "an unknown client": '[endpoints.main]\nclient = "opnai"\n',
    "an unknown endpoint setting": ENDPOINT + "timeout = 3\n",
    "an unknown timeout": ENDPOINT + "timeouts = { first_bite = 3 }\n",
    "an unknown JSON mode": ENDPOINT + 'json_mode = "json-schema"\n',
    "a key in place of a variable's name": ENDPOINT + 'key_env = "sk-secret"\n',
    "a key in the file": ENDPOINT + 'key = "sk-secret"\n',
    "an endpoint named offline": '[endpoints.offline]\nclient = "openai"\n',
    "an unknown role": ENDPOINT + '[roles.workr]\nendpoint = "main"\n',
    "an unknown role setting": ROLE + "price = { call = 1 }\nmax_tokens = 3\n",
    "a role without an endpoint": '[roles.worker]\nmodel = "m"\n',
    "an unknown endpoint": ENDPOINT + '[roles.worker]\nendpoint = "mian"\nmodel = "m"\nprice = { call = 1 }\n',
    "a role without a model": ENDPOINT + '[roles.worker]\nendpoint = "main"\nprice = { call = 1 }\n',
    "a role without a price": ROLE,
    "an empty price": ROLE + "price = {}\n",
    "an unknown price": ROLE + "price = { per_call = 1 }\n",
    "a negative price": ROLE + "price = { call = -1 }\n",
    "a price that is a number": ROLE + "price = 0.2\n",
    "max_tokens that is no number": ROLE + 'price = { call = 1 }\nparameters = { max_tokens = "many" }\n',
    "a parameter JSON cannot hold": ROLE + "price = { call = 1 }\nparameters = { temperature = nan }\n",
    "a parameter that is a date": ROLE + "price = { call = 1 }\nparameters = { when = 2026-01-01 }\n",
    "an unknown prompt": '[prompts]\n"audit.scna" = "x.md"\n',
    "an unknown kit": "[kits.audti]\nx = 1\n",
}


@pytest.mark.parametrize("text", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_names_the_file_the_setting_and_what_to_write(
    registry: Registry, tmp_path: Path, snapshot: SnapshotAssertion, text: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(registry, tmp_path, text)
    said = str(caught.value)
    assert str(tmp_path / "planloom.toml") in said
    assert "sk-secret" not in said
    assert said.replace(str(tmp_path), "FOLDER") == snapshot


def test_a_file_that_is_not_there_is_named(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot read .*gone\.toml: No such file"):
        load_settings(registry, folder=tmp_path, config=tmp_path / "gone.toml", environ={})


def test_a_tool_table_that_is_a_value_is_refused(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nplanloom = 3\n")
    with pytest.raises(ConfigurationError, match=r"tool\.planloom is 3; it must be a table"):
        load_settings(registry, folder=tmp_path, environ={})


def test_a_file_with_a_byte_order_mark_is_read(registry: Registry, tmp_path: Path) -> None:
    assert read(registry, tmp_path, "\ufeff[limits]\nworkers = 7\n").workers == 7


def test_settings_are_the_same_however_often_they_are_read(registry: Registry, tmp_path: Path) -> None:
    def plain() -> dict[str, Any]:
        return attrs.asdict(read(registry, tmp_path, WHOLE))

    assert plain() == plain()


def test_limits_of_runs_workers_and_endpoints_are_read(registry: Registry, tmp_path: Path) -> None:
    limits = "[limits]\nin_flight = 8\nworker_timeout_s = 90.5\nat_quota = 'stop'\nplan_memory_mb = 512\n"
    found = read(registry, tmp_path, f"{limits}[endpoints.main]\nurl = 'http://a'\nin_flight = 4\n")
    assert (found.in_flight, found.worker_timeout_s, found.at_quota) == (8, 90.5, "stop")
    assert found.plan_limits == Limits(memory_bytes=2**29)
    assert found.endpoints["main"].in_flight == 4


def test_without_a_word_workers_have_half_an_hour_and_accounts_are_waited_for(
    registry: Registry, tmp_path: Path
) -> None:
    found = read(registry, tmp_path, "[endpoints.main]\nurl = 'http://a'\n")
    assert (found.in_flight, found.worker_timeout_s, found.at_quota) == (32, 1_800, "wait")
    assert found.plan_limits == Limits()
    assert found.endpoints["main"].in_flight is None
