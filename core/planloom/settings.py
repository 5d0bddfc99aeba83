"""Configuration: ``planloom.toml``, or ``[tool.planloom]`` in ``pyproject.toml``, of the caller's working folder.

It is never searched for above that folder nor below an audited one, since it names the places that receive keys. Keys
themselves never stand in it: an endpoint names the environment variable that holds its key. With no role configured,
every role is answered by the offline endpoint, free and without a network.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs

from ._errors import ConfigurationError, Misuse, did_you_mean
from ._given_files import at_home, text_of
from .clients import ClientPlugin, Endpoint
from .money import MICRO, Price, micro_of
from .questions import canonical_json

if TYPE_CHECKING:
    from .plugins import Registry

__all__ = [
    "DEFAULT_PRICES",
    "AtQuota",
    "GateSettings",
    "RoleSettings",
    "Settings",
    "default_parameters",
    "load_settings",
    "offline_settings",
]

AtQuota: TypeAlias = Literal["wait", "stop"]
_AT_QUOTA: tuple[AtQuota, ...] = ("wait", "stop")

CONFIG_FILE = "planloom.toml"
STORE_VARIABLE = "PLANLOOM_STORE"
CONFIG_VARIABLE = "PLANLOOM_CONFIG"
OFFLINE = "offline"
STANDARD_ROLES = ("lead", "worker", "judge", "fast")

# What `planloom init` writes, and what a rehearsal counts with when no model is configured.
DEFAULT_PRICES: Mapping[str, Price] = {
    "lead": Price(call=MICRO // 2),
    "worker": Price(call=MICRO // 5),
    "judge": Price(call=MICRO // 5),
    "fast": Price(call=MICRO // 5),
}

_MAX_TOKENS = {"lead": 8_000}


def default_parameters(role: str) -> dict[str, Any]:
    """Return the sampling parameters of a role; a project may change each. Reasoning models loop under greedy
    decoding, hence the temperature."""
    return {"temperature": 0.6, "top_p": 0.95, "max_tokens": _MAX_TOKENS.get(role, 16_000)}


@attrs.frozen(kw_only=True)
class RoleSettings:
    """Which model plays a role, what it costs and how it is asked."""

    name: str
    endpoint: str
    model: str
    price: Price
    parameters: Mapping[str, Any]


@attrs.frozen(kw_only=True)
class GateSettings:
    """The numbers of the approval policy; amounts in micro-credits.

    :ivar pass_share: share of the budget that passes by itself.
    :ivar approve_up_to: a standing approval written beforehand, if any.
    """

    policy: str = "default"
    pass_credits: int = 40 * MICRO
    pass_share: float = 1 / 3
    approve_up_to: int | None = None


@attrs.frozen(kw_only=True)
class Settings:
    """Everything that is configured.

    :ivar source: the file it was read from, ``None`` for the defaults.
    :ivar store_path: where the store is. :ivar cap: the job budget in micro-credits.
    :ivar in_flight: model calls at once in a run, and at an endpoint that sets no number of its own.
    :ivar bare_in_flight: the same for a run without a kit.
    :ivar workers: workers a run may have. :ivar worker_timeout_s: how long one of them may be asked, in all.
    :ivar at_quota: what a run does when an account is used up: ``wait`` until it is reset, or ``stop``, to be resumed.
    :ivar prompts: files that replace a kit's prompts, by ``kit.name``.
    :ivar kits: each kit's own settings.
    """

    source: Path | None = None
    store_kind: str = "sqlite"
    store_path: str = ".planloom/store.db"
    cap: int = 150 * MICRO
    in_flight: int = 32
    bare_in_flight: int = 16
    workers: int = 1_000
    worker_timeout_s: float = 1_800.0
    at_quota: AtQuota = "wait"
    endpoints: Mapping[str, Endpoint] = attrs.field(factory=dict)
    roles: Mapping[str, RoleSettings] = attrs.field(factory=dict)
    gate: GateSettings = attrs.field(factory=GateSettings)
    prompts: Mapping[str, Path] = attrs.field(factory=dict)
    kits: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)

    @property
    def offline(self) -> bool:
        """Whether no model is configured, so that the offline analyst answers."""
        return all(self.endpoints[role.endpoint].client == OFFLINE for role in self.roles.values())

    def role(self, name: str) -> RoleSettings:
        """Return a role's settings.

        :raises ConfigurationError: the role is not configured.
        """
        if name not in self.roles:
            where = self.source or CONFIG_FILE
            raise ConfigurationError(
                f"the plan uses the role `{name}`, which {where} does not configure; add a table [roles.{name}] with "
                f"`endpoint`, `model` and `price` (configured: {', '.join(self.roles) or 'none'})"
            )
        return self.roles[name]


def offline_settings(role_names: tuple[str, ...] = STANDARD_ROLES, model: str = OFFLINE) -> Settings:
    """Return the settings of a machine with no configuration: every role is answered offline and free."""
    roles = {name: _offline_role(name, model) for name in role_names}
    return Settings(endpoints={OFFLINE: _offline_endpoint()}, roles=roles)


def _offline_endpoint() -> Endpoint:
    return Endpoint(name=OFFLINE, client=OFFLINE)


def _offline_role(name: str, model: str) -> RoleSettings:
    return RoleSettings(name=name, endpoint=OFFLINE, model=model, price=Price(), parameters={})


def _offline_model(registry: Registry) -> str:
    plugin = registry.all("client", ClientPlugin).get(OFFLINE)
    return plugin.model() if plugin is not None and plugin.model is not None else OFFLINE


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
    settings = _Reader(source, registry).settings(document) if source else _without_file(registry)
    if environ.get(STORE_VARIABLE):
        settings = attrs.evolve(settings, store_path=at_home(environ[STORE_VARIABLE]))
    return settings


def _without_file(registry: Registry) -> Settings:
    return offline_settings(_role_names(registry), _offline_model(registry))


def _role_names(registry: Registry) -> tuple[str, ...]:
    from .kits import Kit

    names = dict.fromkeys(STANDARD_ROLES)
    for kit in registry.all("kit", Kit).values():
        names.update(dict.fromkeys(kit.roles))
    return tuple(names)


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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}; correct it there") from error
    except ValueError as error:
        long = (
            "holds a number of more digits than can be read" if "digits" in str(error) else f"cannot be read: {error}"
        )
        raise ConfigurationError(f"{path} {long}; correct it there") from error


_MOST_BYTES = 1024 * 1024
_SECTIONS = ("store", "budget", "limits", "gate", "endpoints", "roles", "prompts", "kits")
_ENDPOINT_KEYS = (
    "client",
    "url",
    "key_env",
    "json_mode",
    "prefix_cache",
    "parameters",
    "drop",
    "timeouts",
    "in_flight",
)
_LIMIT_KEYS = ("in_flight", "workers", "worker_timeout_s", "at_quota")
_TIMEOUT_KEYS = ("connect", "first_byte", "between_bytes", "total")
_SENT_BY_PLANLOOM = ("messages", "model", "n", "response_format", "stream")
# A billion credits, workers or seconds is a slip of the hand, and what lies far beyond it has no exact form in JSON.
_MOST = 1_000_000_000
_LONGEST_SHOWN = 60
_PRICE_KEYS = ("call", "input", "cached_input", "output")


class _Reader:
    """Reads one document; every fault names the file, the key and what to write."""

    def __init__(self, source: Path, registry: Registry) -> None:
        self._source = source
        self._registry = registry

    def settings(self, document: Mapping[str, Any]) -> Settings:
        self._known(document, _SECTIONS, "")
        tables = {name: self._table(document, name) for name in _SECTIONS}
        store, limits = tables["store"], tables["limits"]
        self._known(store, ("kind", "path"), "store")
        self._known(tables["budget"], ("cap",), "budget")
        self._known(limits, _LIMIT_KEYS, "limits")
        endpoints = {OFFLINE: _offline_endpoint()}
        endpoints |= {name: self._endpoint(name, tables["endpoints"]) for name in tables["endpoints"]}
        roles = {name: self._role(name, tables["roles"], endpoints) for name in tables["roles"]}
        if not roles:
            roles = dict(_without_file(self._registry).roles)
        base = self._source.parent
        return Settings(
            source=self._source,
            store_kind=self._text(store, "kind", "store", "sqlite"),
            store_path=str(base / at_home(self._text(store, "path", "store", ".planloom/store.db"))),
            cap=self._amount(tables["budget"], "cap", "budget", 150),
            in_flight=self._whole(limits, "in_flight", "limits", 32),
            bare_in_flight=self._whole(limits, "in_flight", "limits", 16),
            workers=self._whole(limits, "workers", "limits", 1_000),
            worker_timeout_s=self._seconds(limits, "worker_timeout_s", "limits", 1_800),
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
            raise self._fault(where, "is the name of planloom's own endpoint", "give yours another name")
        table = self._table(tables, name, "endpoints.")
        plugin = self._client(table, where)
        self._known(table, (*_ENDPOINT_KEYS, *plugin.settings), where)
        mode = self._text(table, "json_mode", where, plugin.json_modes[0])
        if mode not in plugin.json_modes:
            raise self._fault(f"{where}.json_mode", f"is `{mode}`", did_you_mean(mode, plugin.json_modes))
        timeouts = self._table(table, "timeouts", f"{where}.")
        self._known(timeouts, _TIMEOUT_KEYS, f"{where}.timeouts")
        return Endpoint(
            name=name,
            client=plugin.name,
            url=self._text(table, "url", where, ""),
            key_env=self._variable(table, "key_env", where),
            json_mode=mode,
            prefix_cache=self._switch(table, "prefix_cache", where) if "prefix_cache" in table else None,
            parameters=self._parameters(table, where),
            drop=self._dropped(table, where),
            settings={key: table[key] for key in plugin.settings if key in table},
            timeouts={key: self._number(timeouts, key, f"{where}.timeouts") for key in timeouts},
            in_flight=self._whole(table, "in_flight", where, 1) if "in_flight" in table else None,
        )

    def _client(self, table: Mapping[str, Any], where: str) -> ClientPlugin:
        name = self._text(table, "client", where, "openai")
        known = self._registry.names("client")
        if name not in known:
            raise self._fault(f"{where}.client", f"names no installed client: `{name}`", did_you_mean(name, known))
        return self._registry.get("client", name, ClientPlugin)

    def _role(self, name: str, tables: Mapping[str, Any], endpoints: Mapping[str, Endpoint]) -> RoleSettings:
        where = f"roles.{name}"
        known = _role_names(self._registry)
        if name not in known:
            raise self._fault(where, "is not a role that a loaded kit uses", did_you_mean(name, known))
        table = self._table(tables, name, "roles.")
        self._known(table, ("endpoint", "model", "price", "parameters", "drop"), where)
        endpoint = self._text(table, "endpoint", where)
        if endpoint not in endpoints:
            raise self._fault(
                f"{where}.endpoint", f"names no endpoint: `{endpoint}`", did_you_mean(endpoint, endpoints)
            )
        if endpoints[endpoint].client == OFFLINE:
            return attrs.evolve(_offline_role(name, _offline_model(self._registry)), endpoint=endpoint)
        return RoleSettings(
            name=name,
            endpoint=endpoint,
            model=self._text(table, "model", where),
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
            raise self._fault(f"{where}.drop", f"is {names!r}", 'write a list of parameters: ["temperature", "top_p"]')
        if "max_tokens" in names:
            raise self._fault(
                f"{where}.drop", "holds max_tokens, which bounds what a call may cost", "take it out, or rename it"
            )
        return tuple(names)

    def _switch(self, table: Mapping[str, Any], key: str, where: str) -> bool:
        return bool(self._value(table, key, where, None, lambda value: isinstance(value, bool), "true or false"))

    def _parameters(self, table: Mapping[str, Any], where: str) -> dict[str, Any]:
        given = self._table(table, "parameters", f"{where}.")
        for key in _SENT_BY_PLANLOOM:
            if key in given:
                raise self._fault(f"{where}.parameters.{key}", "is what planloom sends itself", "take it out")
        self._whole(given, "max_tokens", f"{where}.parameters", 1)
        try:
            canonical_json(given)
        except Misuse as error:
            raise self._fault(f"{where}.parameters", "cannot be sent", f"{error.__cause__}; correct it") from error
        return given

    def _price(self, table: Mapping[str, Any], where: str) -> Price:
        if "price" not in table:
            raise self._fault(
                f"{where}.price", "is missing", "write what a call costs, for example `price = { call = 0.2 }` or "
                "`price = { input = 0.5, output = 2.0 }` in credits a million tokens (0 for a model that is free)"
            )  # fmt: skip
        price = self._table(table, "price", f"{where}.")
        self._known(price, _PRICE_KEYS, f"{where}.price")
        if not price:
            raise self._fault(f"{where}.price", "is empty", f"give at least one of {', '.join(_PRICE_KEYS)}")
        return Price(**{key: self._amount(price, key, f"{where}.price") for key in price})

    def _at_quota(self, limits: Mapping[str, Any]) -> AtQuota:
        said = self._text(limits, "at_quota", "limits", "wait")
        for known in _AT_QUOTA:
            if said == known:
                return known
        raise self._fault("limits.at_quota", f"is `{said}`", did_you_mean(said, _AT_QUOTA))

    def _gate(self, table: Mapping[str, Any]) -> GateSettings:
        self._known(table, ("policy", "pass_credits", "pass_share", "approve_up_to"), "gate")
        standard = GateSettings()
        share = self._number(table, "pass_share", "gate", standard.pass_share)
        if not 0 <= share <= 1:
            raise self._fault("gate.pass_share", f"is {share}", "write a share between 0 and 1")
        return GateSettings(
            policy=self._text(table, "policy", "gate", standard.policy),
            pass_credits=self._amount(table, "pass_credits", "gate", 40),
            pass_share=share,
            approve_up_to=self._amount(table, "approve_up_to", "gate") if "approve_up_to" in table else None,
        )

    def _prompt(self, name: str, table: Mapping[str, Any]) -> str:
        from .kits import Kit

        kits = self._registry.all("kit", Kit).values()
        known = [f"{kit.name}.{prompt.name}" for kit in kits for prompt in kit.prompts]
        if name not in known:
            raise self._fault(f"prompts.{name}", "is not a prompt of an installed kit", did_you_mean(name, known))
        return self._text(table, name, "prompts")

    def _kit(self, name: str, tables: Mapping[str, Any]) -> Mapping[str, Any]:
        known = self._registry.names("kit")
        if name not in known:
            raise self._fault(f"kits.{name}", "is not an installed kit", did_you_mean(name, known))
        return self._table(tables, name, "kits.")

    # --- one value at a time

    def _fault(self, key: str, what: str, advice: str) -> ConfigurationError:
        return ConfigurationError(f"{self._source}: {key} {what}; {advice}")

    def _known(self, table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
        for key in table:
            if key not in known:
                name = f"{where}.{key}" if where else key
                raise self._fault(name, "is not a setting", did_you_mean(key, known))

    def _table(self, table: Mapping[str, Any], key: str, where: str = "") -> dict[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self._fault(f"{where}{key}", f"is {value!r}", "it must be a table")
        return value

    def _value(
        self, table: Mapping[str, Any], key: str, where: str, default: Any, fits: Callable[[Any], bool], wanted: str
    ) -> Any:
        if key not in table:
            if default is None:
                raise self._fault(f"{where}.{key}", "is missing", f"add it: {wanted}")
            return default
        value = table[key]
        if not fits(value):
            shown = repr(value)
            shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
            raise self._fault(f"{where}.{key}", f"is {shown}", f"write {wanted}")
        return value

    def _text(self, table: Mapping[str, Any], key: str, where: str, default: str | None = None) -> str:
        """Only a text that may be left out may be empty."""

        def fits(value: Any) -> bool:
            return isinstance(value, str) and "\0" not in value and bool(value or default == "")

        return str(self._value(table, key, where, default, fits, "a text in quotes"))

    def _variable(self, table: Mapping[str, Any], key: str, where: str) -> str:
        """What is no variable's name is not repeated: it may be the secret itself."""
        name = self._text(table, key, where, "")
        if name and not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise self._fault(
                f"{where}.{key}",
                "is no name of an environment variable",
                "if it is the key, put that into a variable and write the variable's name here",
            )
        return name

    def _whole(self, table: Mapping[str, Any], key: str, where: str, default: int) -> int:
        wanted = f"a whole number from 1 to {_MOST:,}"
        return int(self._value(table, key, where, default, lambda v: type(v) is int and 1 <= v <= _MOST, wanted))

    def _seconds(self, table: Mapping[str, Any], key: str, where: str, default: float) -> float:
        wanted = f"a number of seconds above 0, up to {_MOST:,}"
        return float(self._value(table, key, where, default, lambda v: _is_amount(v) and v > 0, wanted))

    def _number(self, table: Mapping[str, Any], key: str, where: str, default: float | None = None) -> float:
        wanted = f"a number from 0 to {_MOST:,}"
        return float(self._value(table, key, where, default, _is_amount, wanted))

    def _amount(self, table: Mapping[str, Any], key: str, where: str, default: float | None = None) -> int:
        return micro_of(self._number(table, key, where, default))


def _with_prefix_cache(endpoint: Endpoint, roles: Iterable[RoleSettings]) -> Endpoint:
    """Return an endpoint that keeps prefixes where a role has a price for them and nobody said that it does not."""
    priced = (role.price.cached_input is not None for role in roles if role.endpoint == endpoint.name)
    return attrs.evolve(endpoint, prefix_cache=True) if endpoint.prefix_cache is None and any(priced) else endpoint


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= _MOST
