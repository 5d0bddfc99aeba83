"""The settings that a run was begun with, as far as its record keeps them: what a replay asks the ledger with.

A question is known by its endpoint, its model and its parameters too, so that a run whose role has another model by now
would find none of its answers. Its record keeps what each of its roles was asked with, its kits' own settings, and what
its plan could use.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

from .clients import Endpoint
from .job import role_facts
from .money import Price
from .settings import RoleSettings, Settings

__all__ = ["settings_as_recorded"]


def settings_as_recorded(settings: Settings, facts: Mapping[str, Any]) -> Settings:
    """Return the settings with all that a run's record says otherwise; nobody can be asked anything with them."""
    kits = {name: own for name, own in facts.get("settings", {}).items() if _stored(settings.kits.get(name, {})) != own}
    settings = attrs.evolve(settings, kits={**settings.kits, **kits}, **facts.get("limits", {}))
    for name, then in facts.get("roles", {}).items():
        if name not in settings.roles or _stored(role_facts(settings, name)) != then:
            settings = _with_role(settings, name, then)
    return settings


def _stored(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _with_role(settings: Settings, name: str, then: Mapping[str, Any]) -> Settings:
    known = settings.roles.get(name)
    role = RoleSettings(
        name=name,
        endpoint=then["endpoint"],
        model=then["model"],
        price=Price() if known is None else known.price,
        parameters=then["parameters"],
    )
    endpoint = settings.endpoints.get(role.endpoint) or Endpoint(name=role.endpoint, client="")
    # Of the roles of one endpoint all that were answered were asked with one JSON mode: a run goes on with no other.
    endpoint = attrs.evolve(endpoint, json_mode=then["json_mode"])
    return attrs.evolve(
        settings,
        roles={**settings.roles, name: role},
        endpoints={**settings.endpoints, endpoint.name: endpoint},
    )
