"""What is configured: endpoints, roles and what they cost, budgets, limits; see :mod:`planloom.configuration`.

With no role configured, every role is answered by the offline endpoint, free and without a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs

from planlang import Limits

from ._errors import RoleLacks
from .clients import ClientPlugin, Endpoint
from .data_classes import frozen
from .money import MICRO, Price

if TYPE_CHECKING:
    from .plugins import Registry

__all__ = [
    "AT_QUOTA",
    "CONFIG_FILE",
    "DEFAULT_PRICES",
    "MOST_TOKENS",
    "OFFLINE",
    "STANDARD_ROLES",
    "AtQuota",
    "GateSettings",
    "RoleSettings",
    "Settings",
    "default_parameters",
    "offline_endpoint",
    "offline_model",
    "offline_role",
    "offline_settings",
    "role_names_of",
    "settings_without_file",
]

_MB = 1024 * 1024

AtQuota: TypeAlias = Literal["wait", "stop"]
AT_QUOTA: tuple[AtQuota, ...] = ("wait", "stop")

CONFIG_FILE = "planloom.toml"
OFFLINE = "offline"
STANDARD_ROLES = ("lead", "worker", "judge", "fast")

# What `planloom init` writes, and what a rehearsal counts with when no model is configured.
DEFAULT_PRICES: Mapping[str, Price] = {
    "lead": Price(call=MICRO // 2),
    "worker": Price(call=MICRO // 5),
    "judge": Price(call=MICRO // 5),
    "fast": Price(call=MICRO // 5),
}

MOST_TOKENS = 16_000
"""Of an answer, where nothing is said: what a call is reserved for, and what a client says whose API wants a number."""

_MAX_TOKENS = {"lead": 8_000}


def default_parameters(role: str) -> dict[str, Any]:
    """Return the sampling parameters of a role; a project may change each. Reasoning models loop under greedy
    decoding, hence the temperature."""
    return {"temperature": 0.6, "top_p": 0.95, "max_tokens": _MAX_TOKENS.get(role, MOST_TOKENS)}


@frozen(kw_only=True)
class RoleSettings:
    """Which model plays a role, what it costs and how it is asked."""

    name: str
    endpoint: str
    model: str
    price: Price
    parameters: Mapping[str, Any]

    @property
    def most_tokens(self) -> int:
        """How many tokens an answer may have, which a call is reserved for."""
        return int(self.parameters.get("max_tokens", MOST_TOKENS))


@frozen(kw_only=True)
class GateSettings:
    """The numbers of the approval policy; amounts in micro-credits.

    :ivar pass_share: share of the budget that passes by itself.
    :ivar approve_up_to: a standing approval written beforehand, if any.
    """

    policy: str = "default"
    pass_credits: int = 40 * MICRO
    pass_share: float = 1 / 3
    approve_up_to: int | None = None


@frozen(kw_only=True)
class Settings:
    """Everything that is configured.

    :ivar source: the file it was read from, ``None`` for the defaults.
    :ivar store_path: where the store is. :ivar store_cap: what all its jobs together may spend, in micro-credits.
    :ivar cap: the job budget in micro-credits.
    :ivar in_flight: model calls at once in a run, and at an endpoint that sets no number of its own.
    :ivar bare_in_flight: the same for a run without a kit.
    :ivar workers: workers a run may have. :ivar worker_timeout_s: how long one of them may be asked, in all.
    :ivar plan_steps: what its plan may compute. :ivar plan_memory_mb: what values its plan may make, in all.
    :ivar at_quota: what a run does when an account is used up: ``wait`` until it is reset, or ``stop``, to be resumed.
    :ivar prompts: files that replace a kit's prompts, by ``kit.name``.
    :ivar kits: each kit's own settings.
    """

    source: Path | None = None
    store_kind: str = "sqlite"
    store_path: str = ".planloom/store.db"
    store_cap: int | None = None
    cap: int = 150 * MICRO
    in_flight: int = 32
    bare_in_flight: int = 16
    workers: int = 1_000
    worker_timeout_s: float = 1_800.0
    plan_steps: int = Limits().steps
    plan_memory_mb: int = Limits().memory_bytes // _MB
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

    @property
    def plan_limits(self) -> Limits:
        """What a plan may use."""
        return Limits(steps=self.plan_steps, memory_bytes=self.plan_memory_mb * _MB)

    def role(self, name: str) -> RoleSettings:
        """Return a role's settings.

        :raises RoleLacks: the role is not configured.
        """
        if name not in self.roles:
            raise RoleLacks(name, str(self.source or CONFIG_FILE), self.roles)
        return self.roles[name]


def offline_settings(role_names: tuple[str, ...] = STANDARD_ROLES, model: str = OFFLINE) -> Settings:
    """Return the settings of a machine with no configuration: every role is answered offline and free."""
    roles = {name: offline_role(name, model) for name in role_names}
    return Settings(endpoints={OFFLINE: offline_endpoint()}, roles=roles)


def offline_endpoint() -> Endpoint:
    """Return planloom's own endpoint, which needs no configuration."""
    return Endpoint(name=OFFLINE, client=OFFLINE)


def offline_role(name: str, model: str) -> RoleSettings:
    """Return a role that is answered there, free."""
    return RoleSettings(name=name, endpoint=OFFLINE, model=model, price=Price(), parameters={})


def offline_model(registry: Registry) -> str:
    """Return the model that the installed offline client answers as."""
    plugin = registry.all("client", ClientPlugin).get(OFFLINE)
    return plugin.model() if plugin is not None and plugin.model is not None else OFFLINE


def settings_without_file(registry: Registry) -> Settings:
    """Return the settings of a machine with no configuration, for the loaded plugins."""
    return offline_settings(role_names_of(registry), offline_model(registry))


def role_names_of(registry: Registry) -> tuple[str, ...]:
    """Return the standard roles and those that loaded kits use besides."""
    from .kits import Kit

    names = dict.fromkeys(STANDARD_ROLES)
    for kit in registry.all("kit", Kit).values():
        names.update(dict.fromkeys(kit.roles))
    return tuple(names)
