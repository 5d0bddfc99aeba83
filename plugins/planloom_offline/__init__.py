"""The offline analyst: a model client with no model behind it.

It answers scans, skeptics and reports by static rules and, where mypy is installed, by its type errors, in this process
and its children: no network, no key, no cost, and nothing is read but the text of the question. The rules are few and
were measured on planted bugs; each finding names its rule and what the measurement said. A wide set, with more false
alarms, runs where it is asked for. Other plugins bring further rules with the hook ``register_rules``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from planloom.clients import ClientPlugin, Endpoint, ModelClient
from planloom.hookspecs import hookimpl
from planloom.late import late_names
from planloom.plugins import Kind

from . import hookspecs
from ._tight import TIGHT_RULES, TYPE_CHECKER
from ._wide import WIDE_RULES
from .rules import Hit, Rule

if TYPE_CHECKING:
    from ._client import OfflineClient, installed_rules
    from .parsed import Function, ParsedFile, Shard, Site

__all__ = [
    "TIGHT_RULES",
    "TYPE_CHECKER",
    "WIDE_RULES",
    "Function",
    "Hit",
    "OfflineClient",
    "ParsedFile",
    "Rule",
    "Shard",
    "Site",
    "installed_rules",
    "register_clients",
    "register_hookspecs",
    "register_rules",
]

__getattr__ = late_names(
    __name__,
    {"_client": ("OfflineClient", "installed_rules"), "parsed": ("Function", "ParsedFile", "Shard", "Site")},
)


@hookimpl
def register_hookspecs(register: Callable[[object, tuple[Kind, ...]], None]) -> None:
    """Bring the hook ``register_rules``."""
    register(hookspecs, (Kind("register_rules", "offline rule", lambda: Rule),))


@hookimpl
def register_clients(register: Callable[[ClientPlugin], None]) -> None:
    """Offer the client ``offline``."""
    register(
        ClientPlugin(
            name="offline",
            summary="static rules, no model, no network",
            open=_open,
            model=_model_id,
            free=True,
            basis=_basis,
        )
    )


@hookimpl
def register_rules(register: Callable[[Rule], None]) -> None:
    """Offer the tight set, the type checker and the wide set."""
    for rule in (*TIGHT_RULES, TYPE_CHECKER, *WIDE_RULES):
        register(rule)


def _model_id() -> str:
    """Return an id that changes with the rules: an answer that other rules gave must not be taken from a ledger."""
    import hashlib
    from importlib.metadata import entry_points
    from importlib.resources import files

    from ._mypy import installed_mypy

    digest = hashlib.sha256()
    for source in sorted(files("planloom_offline").iterdir(), key=lambda entry: entry.name):
        if source.name.endswith(".py"):
            digest.update(source.read_bytes())
    entries = sorted(entry_points(group="planloom"), key=lambda found: found.name)
    versions = {dist: dist.version for dist in {entry.dist for entry in entries} if dist}
    for entry in entries:
        digest.update(f"{entry.name} {versions.get(entry.dist, '') if entry.dist else ''}\n".encode())
    mypy = installed_mypy()
    if mypy is not None:
        digest.update(f"mypy {mypy.version}\n".encode())
    return f"offline-{digest.hexdigest()[:12]}"


def _basis() -> str:
    from ._mypy import installed_mypy

    if installed_mypy() is not None:
        return "the type checker mypy took part, since it is installed"
    # Measured on 288 bugs that no rule was made beside (docs/reference/benchmarks-offline.md): 11 without, 22 with it.
    return (
        "the type checker mypy is not installed, with which about twice as much is found: `pip install mypy` beside "
        "planloom and audit again"
    )


def _open(endpoint: Endpoint) -> ModelClient:
    from ._client import OfflineClient

    return OfflineClient(endpoint)
