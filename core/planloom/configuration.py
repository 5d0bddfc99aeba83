"""Configuration: ``planloom.toml``, or ``[tool.planloom]`` in ``pyproject.toml``, of the caller's working folder.

It is never searched for above that folder nor below an audited one, since it names the places that receive keys. Keys
themselves never stand in it: an endpoint names the environment variable that holds its key.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ._configured_values import ConfiguredValues
from ._errors import ConfigurationError, Misuse, did_you_mean
from ._given_files import at_home, text_of
from .clients import TIMEOUTS_S, ClientPlugin, Endpoint
from .kits import Kit
from .money import Price, credits_of
from .questions import canonical_json
from .settings import (
    AT_QUOTA,
    CONFIG_FILE,
    OFFLINE,
    AtQuota,
    GateSettings,
    RoleSettings,
    Settings,
    default_parameters,
    offline_endpoint,
    offline_model,
    offline_role,
    role_names_of,
    settings_without_file,
)

if TYPE_CHECKING:
    from .plugins import Registry

__all__ = ["CONFIG_VARIABLE", "STORE_VARIABLE", "load_settings"]

STORE_VARIABLE = "PLANLOOM_STORE"
CONFIG_VARIABLE = "PLANLOOM_CONFIG"

_MOST_BYTES = 1024 * 1024
_SECTIONS = ("store", "budget", "limits", "gate", "endpoints", "roles", "prompts", "kits")
_ENDPOINT_KEYS = (
    "client",
    "url",
    "key_env",
    "json_mode",
    "prefix_cache",
    "hedge_after_s",
    "parameters",
    "drop",
    "timeouts",
    "in_flight",
)
_LIMIT_KEYS = ("in_flight", "workers", "worker_timeout_s", "plan_steps", "plan_memory_mb", "at_quota")
_SENT_BY_PLANLOOM = ("messages", "model", "n", "response_format", "stream")
_PRICE_KEYS = ("call", "input", "cached_input", "output")
_STANDARD = Settings()


def load_settings(
    registry: Registry,
    *,
    folder: Path,
    config: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """Return the settings for a working folder.

    :param config: the file to read instead of looking for one; ``PLANLOOM_CONFIG`` says the same.
    :raises ConfigurationError: it cannot be read, or something in it is misspelled, missing or out of range.
    """
    path = config or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    source, document = _document(folder, path)
    settings = _Reader(source, registry).settings(document) if source else settings_without_file(registry)
    if environ.get(STORE_VARIABLE):
        settings = attrs.evolve(settings, store_path=at_home(environ[STORE_VARIABLE]))
    return settings


def _document(folder: Path, config: Path | None) -> tuple[Path | None, dict[str, Any]]:
    if config is not None:
        return config, _read_toml(config)
    own = folder / CONFIG_FILE
    if own.is_file():
        return own, _read_toml(own)
    if os.path.lexists(own):
        # Whoever put it there does not expect to go on as if it were not.
        raise ConfigurationError(f"{own} is not a file that can be read; correct it, or move it away")
    project = folder / "pyproject.toml"
    if project.is_file():
        tools = _read_toml(project).get("tool", {})
        table = tools.get("planloom") if isinstance(tools, dict) else None
        if table is not None and not isinstance(table, dict):
            raise ConfigurationError(f"{project}: tool.planloom is {table!r}; it must be a table")
        if table is not None:
            return project, table
    return None, {}


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text_of(path, _MOST_BYTES))
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}; name another file with --config") from error
    except RecursionError as error:
        raise ConfigurationError(f"{path} is nested too deeply to be read; correct it there") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}; correct it there") from error
    except ValueError as error:
        # Python's own text about a number of too many digits speaks of a setting of the interpreter.
        many = "digits" in str(error)
        what = "holds a number of more digits than can be read" if many else f"cannot be read: {error}"
        raise ConfigurationError(f"{path} {what}; correct it there") from error


class _Reader(ConfiguredValues):
    """Reads one document."""

    def __init__(self, source: Path, registry: Registry) -> None:
        super().__init__(source)
        self._registry = registry

    def settings(self, document: Mapping[str, Any]) -> Settings:
        self.refuse_unknown(document, _SECTIONS, "")
        tables = {name: self.table(document, name) for name in _SECTIONS}
        store, limits = tables["store"], tables["limits"]
        self.refuse_unknown(store, ("kind", "path", "cap"), "store")
        self.refuse_unknown(tables["budget"], ("cap",), "budget")
        self.refuse_unknown(limits, _LIMIT_KEYS, "limits")
        endpoints = {OFFLINE: offline_endpoint()}
        endpoints |= {name: self._endpoint(name, tables["endpoints"]) for name in tables["endpoints"]}
        roles = {name: self._role(name, tables["roles"], endpoints) for name in tables["roles"]}
        if not roles:
            roles = dict(settings_without_file(self._registry).roles)
        base = self.source.parent
        return Settings(
            source=self.source,
            store_kind=self.text(store, "kind", "store", _STANDARD.store_kind),
            store_path=str(base / at_home(self.text(store, "path", "store", _STANDARD.store_path))),
            store_cap=self.amount(store, "cap", "store") if "cap" in store else None,
            cap=self.amount(tables["budget"], "cap", "budget", credits_of(_STANDARD.cap)),
            in_flight=self.whole(limits, "in_flight", "limits", _STANDARD.in_flight),
            bare_in_flight=self.whole(limits, "in_flight", "limits", _STANDARD.bare_in_flight),
            workers=self.whole(limits, "workers", "limits", _STANDARD.workers),
            worker_timeout_s=self.seconds(limits, "worker_timeout_s", "limits", _STANDARD.worker_timeout_s),
            plan_steps=self.whole(limits, "plan_steps", "limits", _STANDARD.plan_steps),
            plan_memory_mb=self.whole(limits, "plan_memory_mb", "limits", _STANDARD.plan_memory_mb),
            at_quota=self._at_quota(limits),
            endpoints={name: _with_prefix_cache(endpoint, roles.values()) for name, endpoint in endpoints.items()},
            roles=roles,
            gate=self._gate(tables["gate"]),
            prompts={name: base / at_home(self._prompt(name, tables["prompts"])) for name in tables["prompts"]},
            kits={name: self._kit(name, tables["kits"]) for name in tables["kits"]},
        )

    def _endpoint(self, name: str, tables: Mapping[str, Any]) -> Endpoint:
        where = f"endpoints.{name}"
        if name == OFFLINE:
            raise self.fault(where, "is the name of planloom's own endpoint", "give yours another name")
        table = self.table(tables, name, "endpoints.")
        plugin = self._client(table, where)
        self.refuse_unknown(table, (*_ENDPOINT_KEYS, *plugin.settings), where)
        mode = self.text(table, "json_mode", where, plugin.json_modes[0])
        if mode not in plugin.json_modes:
            raise self.fault(f"{where}.json_mode", f"is `{mode}`", did_you_mean(mode, plugin.json_modes))
        timeouts = self._timeouts(table, where)
        return Endpoint(
            name=name,
            client=plugin.name,
            url=self.text(table, "url", where, ""),
            key_env=self.variable(table, "key_env", where),
            json_mode=mode,
            prefix_cache=self.switch(table, "prefix_cache", where) if "prefix_cache" in table else None,
            hedge_after_s=self._hedge_after_s(table, where, timeouts) if "hedge_after_s" in table else None,
            parameters=self._parameters(table, where),
            drop=self._dropped(table, where),
            settings={key: table[key] for key in plugin.settings if key in table},
            timeouts=timeouts,
            in_flight=self.whole(table, "in_flight", where, 1) if "in_flight" in table else None,
        )

    def _timeouts(self, table: Mapping[str, Any], where: str) -> dict[str, float]:
        timeouts = self.table(table, "timeouts", f"{where}.")
        self.refuse_unknown(timeouts, tuple(TIMEOUTS_S), f"{where}.timeouts")
        return {key: self.number(timeouts, key, f"{where}.timeouts") for key in timeouts}

    def _hedge_after_s(self, table: Mapping[str, Any], where: str, timeouts: Mapping[str, float]) -> float:
        after_s = self.seconds(table, "hedge_after_s", where, 0)
        limits = {**TIMEOUTS_S, **timeouts}
        first = min(("first_byte", "total"), key=limits.__getitem__)
        if after_s >= limits[first]:
            raise self.fault(
                f"{where}.hedge_after_s",
                f"is {table['hedge_after_s']}, so that no call is ever sent a second time: timeouts.{first} "
                f"ends a call whose answer did not begin after {limits[first]:g} s",
                "write fewer seconds, or raise that",
            )
        return after_s

    def _client(self, table: Mapping[str, Any], where: str) -> ClientPlugin:
        name = self.text(table, "client", where, "openai")
        known = self._registry.names("client")
        if name not in known:
            raise self.fault(f"{where}.client", f"names no installed client: `{name}`", did_you_mean(name, known))
        return self._registry.get("client", name, ClientPlugin)

    def _role(self, name: str, tables: Mapping[str, Any], endpoints: Mapping[str, Endpoint]) -> RoleSettings:
        where = f"roles.{name}"
        known = role_names_of(self._registry)
        if name not in known:
            raise self.fault(where, "is not a role that a loaded kit uses", did_you_mean(name, known))
        table = self.table(tables, name, "roles.")
        self.refuse_unknown(table, ("endpoint", "model", "price", "parameters", "drop"), where)
        endpoint = self.text(table, "endpoint", where)
        if endpoint not in endpoints:
            raise self.fault(f"{where}.endpoint", f"names no endpoint: `{endpoint}`", did_you_mean(endpoint, endpoints))
        if endpoints[endpoint].client == OFFLINE:
            return attrs.evolve(offline_role(name, offline_model(self._registry)), endpoint=endpoint)
        return RoleSettings(
            name=name,
            endpoint=endpoint,
            model=self.text(table, "model", where),
            price=self._price(table, where),
            parameters=self._sent(name, table, where, endpoints[endpoint]),
        )

    def _sent(self, name: str, table: Mapping[str, Any], where: str, endpoint: Endpoint) -> dict[str, Any]:
        """Return a role's parameters: its own, over its endpoint's, over the defaults that the endpoint can take."""
        unsent = self._registry.get("client", endpoint.client, ClientPlugin).unsent
        standard = {key: value for key, value in default_parameters(name).items() if key not in unsent}
        own = self._parameters(table, where)
        dropped = {*endpoint.drop, *self._dropped(table, where)} - own.keys()
        merged = {**standard, **endpoint.parameters, **own}
        return {key: value for key, value in merged.items() if key not in dropped}

    def _dropped(self, table: Mapping[str, Any], where: str) -> tuple[str, ...]:
        names = table.get("drop", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self.fault(f"{where}.drop", f"is {names!r}", 'write a list of parameters: ["temperature", "top_p"]')
        if "max_tokens" in names:
            raise self.fault(
                f"{where}.drop", "holds max_tokens, which bounds what a call may cost", "take it out, or rename it"
            )
        return tuple(names)

    def _parameters(self, table: Mapping[str, Any], where: str) -> dict[str, Any]:
        given = self.table(table, "parameters", f"{where}.")
        for key in _SENT_BY_PLANLOOM:
            if key in given:
                raise self.fault(f"{where}.parameters.{key}", "is what planloom sends itself", "take it out")
        self.whole(given, "max_tokens", f"{where}.parameters", 1)
        try:
            canonical_json(given)
        except Misuse as error:
            raise self.fault(f"{where}.parameters", "cannot be sent", f"{error.__cause__}; correct it") from error
        return given

    def _price(self, table: Mapping[str, Any], where: str) -> Price:
        if "price" not in table:
            raise self.fault(
                f"{where}.price", "is missing", "write what a call costs, for example `price = { call = 0.2 }` or "
                "`price = { input = 0.5, output = 2.0 }` in credits a million tokens (0 for a model that is free)"
            )  # fmt: skip
        price = self.table(table, "price", f"{where}.")
        self.refuse_unknown(price, _PRICE_KEYS, f"{where}.price")
        if not price:
            raise self.fault(f"{where}.price", "is empty", f"give at least one of {', '.join(_PRICE_KEYS)}")
        return Price(**{key: self.amount(price, key, f"{where}.price") for key in price})

    def _at_quota(self, limits: Mapping[str, Any]) -> AtQuota:
        said = self.text(limits, "at_quota", "limits", _STANDARD.at_quota)
        for known in AT_QUOTA:
            if said == known:
                return known
        raise self.fault("limits.at_quota", f"is `{said}`", did_you_mean(said, AT_QUOTA))

    def _gate(self, table: Mapping[str, Any]) -> GateSettings:
        self.refuse_unknown(table, ("policy", "pass_credits", "pass_share", "approve_up_to"), "gate")
        standard = _STANDARD.gate
        share = self.number(table, "pass_share", "gate", standard.pass_share)
        if not 0 <= share <= 1:
            raise self.fault("gate.pass_share", f"is {share}", "write a share between 0 and 1")
        return GateSettings(
            policy=self.text(table, "policy", "gate", standard.policy),
            pass_credits=self.amount(table, "pass_credits", "gate", credits_of(standard.pass_credits)),
            pass_share=share,
            approve_up_to=self.amount(table, "approve_up_to", "gate") if "approve_up_to" in table else None,
        )

    def _prompt(self, name: str, table: Mapping[str, Any]) -> str:
        kits = self._registry.all("kit", Kit).values()
        known = [f"{kit.name}.{prompt.name}" for kit in kits for prompt in kit.prompts]
        if name not in known:
            raise self.fault(f"prompts.{name}", "is not a prompt of an installed kit", did_you_mean(name, known))
        return self.text(table, name, "prompts")

    def _kit(self, name: str, tables: Mapping[str, Any]) -> Mapping[str, Any]:
        known = self._registry.names("kit")
        if name not in known:
            raise self.fault(f"kits.{name}", "is not an installed kit", did_you_mean(name, known))
        return self.table(tables, name, "kits.")


def _with_prefix_cache(endpoint: Endpoint, roles: Iterable[RoleSettings]) -> Endpoint:
    """Return an endpoint that keeps prefixes where a role has a price for them and nobody said that it does not."""
    priced = (role.price.cached_input is not None for role in roles if role.endpoint == endpoint.name)
    return attrs.evolve(endpoint, prefix_cache=True) if endpoint.prefix_cache is None and any(priced) else endpoint
