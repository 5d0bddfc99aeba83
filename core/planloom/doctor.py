"""Whether a machine, a configuration and its endpoints are fit to run plans, and what to do where they are not."""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
import shutil
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import attrs

from ._above import told_of_above
from ._errors import ConfigurationError, PlanloomError, PluginError, PluginFailed
from ._machine_slots import SlotFile, open_slot_file
from ._probes import MOST_TOKENS, UNKNOWN, WORKS, Examined, Target, examine, worst_of
from .clients import ClientPlugin
from .crashes import fault_told
from .data_classes import frozen
from .kits import Kit
from .loom import open_loom
from .money import Price, show_price
from .plugins import Registry
from .settings import RoleSettings, Settings, role_names_of
from .store_tools import DOCTOR
from .stores import StorePlugin
from .words import asking_words

__all__ = ["Check", "Visit", "checks_of", "reachable", "visit", "worst_price"]

Verdict = Literal["ok", "note", "bad"]

LEAST_FREE_BYTES = 200 * 1024 * 1024
FREE_BYTES = 2 * 1024 * 1024 * 1024


@frozen(kw_only=True)
class Check:
    """One thing that was looked at.

    :ivar verdict: ``bad`` is what will fail; ``note`` what is worth knowing.
    :ivar step: what to do about it. :ivar exit_code: of a command that found this, where it is bad.
    :ivar endpoint: the endpoint that cannot be asked while this is bad; every one where it is empty.
    """

    name: str
    said: str
    verdict: Verdict = "ok"
    step: str = ""
    exit_code: int = 1
    endpoint: str = ""


@frozen(kw_only=True)
class Visit:
    """What asking the endpoints brought.

    :ivar paid: what it cost, in micro-credits. :ivar uncertain: what calls of unknown outcome may have cost besides.
    """

    examined: tuple[Examined, ...]
    checks: tuple[Check, ...]
    paid: int
    uncertain: int


# --- without asking anybody


def checks_of(registry: Registry, settings: Settings, environ: Mapping[str, str] = os.environ) -> list[Check]:
    """Return what can be found out without asking anybody."""
    found = [_about_planloom(), *map(_about_broken, registry.broken), _about_configuration(settings)]
    found += _about_store(registry, settings)
    found += [_about_role(registry, settings, role) for role in settings.roles.values()]
    found += _about_no_roles(registry, settings)
    used = {role.endpoint for role in settings.roles.values()}
    for name in sorted(used):
        found += _about_endpoint(registry, settings, name, environ)
    return [*found, *_about_slots()]


def _about_planloom() -> Check:
    said = f"{version('planloom')}, Python {platform.python_version()}, {platform.system()}"
    if platform.system() in ("Linux", "Darwin"):
        return Check(name="planloom", said=said)
    return Check(
        name="planloom", said=said, verdict="note", step="run jobs on Linux or macOS; here plans can be checked"
    )


def _about_broken(error: PluginError) -> Check:
    said = f"{fault_told(error)}; until then no other command runs"
    return Check(name=f"plugin {error.plugin}", said=said, verdict="bad", exit_code=error.exit_code)


def _about_configuration(settings: Settings) -> Check:
    offline = "the offline analyst plays every role, free and without a network"
    if settings.source is None:
        above = told_of_above(settings, Path.cwd())
        return Check(name="configuration", said=f"none: {offline}", verdict="note" if above else "ok", step=above)
    unnamed = f" names no model: {offline}" if settings.offline else ""
    return Check(name="configuration", said=f"{settings.source}{unnamed}")


def _about_store(registry: Registry, settings: Settings) -> Iterator[Check]:
    path = Path(settings.store_path)
    plugin = registry.all("store", StorePlugin).get(settings.store_kind)
    embedded = plugin is not None and plugin.embedded
    if not embedded or path.exists():
        yield _opened(registry, settings)
    elif not os.access(_nearest(path), os.W_OK):
        yield Check(
            name="store",
            said=f"{path} cannot be made, since {_nearest(path)} cannot be written",
            verdict="bad",
            step="name another place with --store, or under [store] in the configuration",
        )
    else:
        yield Check(name="store", said=f"{path} is not there yet and can be made")
    yield _about_disk(_nearest(path) if embedded else Path.cwd())


def _opened(registry: Registry, settings: Settings) -> Check:
    try:
        store = registry.get("store", settings.store_kind, StorePlugin).open(settings.store_path)
        asyncio.run(store.close())
    except PlanloomError as error:
        return Check(name="store", said=str(error), verdict="bad", exit_code=error.exit_code)
    return Check(name="store", said=f"{store.where} can be opened")


def _nearest(path: Path) -> Path:
    """Return the nearest folder above a path that is there."""
    return next(folder for folder in path.absolute().parents if folder.exists())


def _about_disk(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    said = f"{free / 1024**3:.1f} GB free for {folder}"
    if free < LEAST_FREE_BYTES:
        return Check(name="disk", said=said, verdict="bad", step="make room: a full disk stops every run")
    if free < FREE_BYTES:
        return Check(name="disk", said=said, verdict="note", step="long jobs may fill it")
    return Check(name="disk", said=said)


def _about_role(registry: Registry, settings: Settings, role: RoleSettings) -> Check:
    name = f"role {role.name}"
    if registry.get("client", settings.endpoints[role.endpoint].client, ClientPlugin).free:
        return Check(name=name, said=f"{role.model} at {role.endpoint}, free")
    said = f"{role.model} at {role.endpoint}, {show_price(role.price)}"
    if role.price == Price():
        step = "a cap bounds nothing that is free; write what it really costs if it is not"
        return Check(name=name, said=said, verdict="note", step=step)
    return Check(name=name, said=f"{said}, in credits")


def _about_no_roles(registry: Registry, settings: Settings) -> Iterator[Check]:
    """Yield which roles are not configured and what will not work for that, and kits whose words cannot be had."""
    lacking = [name for name in role_names_of(registry) if name not in settings.roles]
    asking: dict[str, list[str]] = {name: [] for name in lacking}
    for kit in registry.all("kit", Kit).values():
        try:
            words = asking_words(registry, settings, (kit,))
        except Exception as error:  # whatever a stranger's kit raises, the others are looked at
            yield _about_kit(registry, kit, error)
            continue
        for name in lacking:
            asking[name] += [f"{word} (kit {kit.name})" for word in words.get(name, ()) if word != "agent"]
    for name in lacking:
        step = f"for plans that ask this role add a table [roles.{name}]"
        if not asking[name]:
            yield Check(name=f"role {name}", said="not configured", verdict="note", step=step)
            continue
        said = f"not configured: {', '.join(asking[name])} will not work, nor jobs of the kit that need it"
        yield Check(name=f"role {name}", said=said, verdict="note", step=step)


def _about_kit(registry: Registry, kit: Kit, error: Exception) -> Check:
    if not isinstance(error, PlanloomError):
        error = PluginFailed(f"the vocabulary of the kit {kit.name}", registry.owner("kit", kit.name), error)
    return Check(name=f"kit {kit.name}", said=fault_told(error), verdict="bad", exit_code=error.exit_code)


def _about_endpoint(registry: Registry, settings: Settings, name: str, environ: Mapping[str, str]) -> Iterator[Check]:
    endpoint = settings.endpoints[name]
    plugin = registry.get("client", endpoint.client, ClientPlugin)
    if plugin.free:
        return
    if endpoint.key_env:
        yield _about_key(endpoint.key_env, name, environ)
        if not environ.get(endpoint.key_env, "").strip():
            return
    try:
        plugin.open(endpoint)
    except ConfigurationError as error:
        yield Check(name=f"endpoint {name}", said=str(error), verdict="bad", exit_code=error.exit_code, endpoint=name)
        return
    yield Check(name=f"endpoint {name}", said=f"{endpoint.url or plugin.name}, JSON by {endpoint.json_mode}")


def _about_key(variable: str, endpoint: str, environ: Mapping[str, str]) -> Check:
    if environ.get(variable, "").strip():
        return Check(name=f"key of {endpoint}", said=f"{variable} is set")
    return Check(
        name=f"key of {endpoint}",
        said=f"{variable} is not set",
        verdict="bad",
        step=f"set it: export {variable}=...",
        exit_code=2,
        endpoint=endpoint,
    )


def _about_slots() -> Iterator[Check]:
    opened = open_slot_file()
    if isinstance(opened, SlotFile):
        opened.close()
    else:
        step = "runs side by side may together have more calls in flight than each is allowed"
        yield Check(name="state folder", said=opened, verdict="note", step=step)


# --- by asking


def reachable(registry: Registry, settings: Settings, checks: list[Check]) -> list[Target]:
    """Return each model at each endpoint that a role uses, but for what is free and what cannot be asked."""
    unfit = {check.endpoint for check in checks if check.verdict == "bad"}
    found: dict[tuple[str, str], Target] = {}
    for role in settings.roles.values():
        endpoint = settings.endpoints[role.endpoint]
        plugin = registry.get("client", endpoint.client, ClientPlugin)
        if plugin.free or unfit & {"", endpoint.name}:
            continue
        key = (endpoint.name, role.model)
        known = found.get(key) or Target(endpoint=endpoint, plugin=plugin, role=role, roles=())
        found[key] = attrs.evolve(known, roles=(*known.roles, role.name))
    return list(found.values())


def worst_price(targets: list[Target]) -> int:
    """Return what asking them may cost at most, in micro-credits."""
    return sum(map(worst_of, targets))


async def visit(registry: Registry, settings: Settings, targets: list[Target]) -> Visit:
    """Ask each target, within a budget of the worst price; what was paid is in the store's books.

    :raises StoreError: the store cannot be opened.
    """
    budget = f"{DOCTOR}{secrets.token_hex(3)}"
    async with open_loom(registry, settings) as loom:
        await loom.store.open_budget(budget, worst_price(targets))
        examined = [await examine(loom, budget, target) for target in targets]
        books = loom.store.books(budget)
    checks = tuple(check for each in examined for check in _about_answers(each))
    return Visit(examined=tuple(examined), checks=checks, paid=books.spent, uncertain=books.uncertain)


def _about_answers(found: Examined) -> Iterator[Check]:
    target = found.target
    name = f"{target.role.model} at {target.endpoint.name}"
    if found.error is not None:
        code = 2 if found.error.exit_code == 2 else 1
        yield Check(name=name, said=str(found.error), verdict="bad", exit_code=code)
        return
    yield Check(name=name, said=f"answered in {found.seconds:.1f} s as {found.model}")
    yield _about_counts(name, found)
    if found.unfinished:
        yield _about_unfinished(name, found)
    yield from _about_json(name, found)
    yield from _about_streaming(name, found)
    if found.thinking:
        step = "it costs time and tokens; many servers take a parameter that switches it off"
        yield Check(name=name, said=f"thinks before it answers: {found.thinking}", verdict="note", step=step)


def _about_counts(name: str, found: Examined) -> Check:
    counts = {key.removesuffix("_tokens").replace("_", " "): count for key, count in found.counts.items()}
    said = "counts tokens: " + (", ".join(f"{key} {count}" for key, count in counts.items()) or "none")
    price = found.target.role.price
    if price.by_tokens and not {"prompt", "completion"} <= counts.keys():
        step = "prices will be estimated from the texts; price it by call where you can"
        return Check(name=name, said=said, verdict="note", step=step)
    if price.cached_input is not None and "cached prompt" not in counts:
        return Check(name=name, said=said, verdict="note", step="cached input will be charged as any other input")
    return Check(name=name, said=said)


def _about_unfinished(name: str, found: Examined) -> Check:
    """Say that it gave no whole answer to the plainest question, after which no other was asked."""
    if found.unfinished == "length":
        most = min(MOST_TOKENS, int(found.target.role.parameters.get("max_tokens", MOST_TOKENS)))
        said = f"its answer was cut at {most:,} tokens before it was whole, and nothing else was asked"
        step = f"give a model that thinks first more than that as max_tokens of role {found.target.role.name}"
        return Check(name=name, said=said, verdict="note" if most == MOST_TOKENS else "bad", step=step, exit_code=2)
    said = f"gave no whole answer (finish reason {found.unfinished}), and nothing else was asked"
    return Check(name=name, said=said, verdict="bad", step="look at the filters and the chat template of the server")


def _about_json(name: str, found: Examined) -> Iterator[Check]:
    configured = found.target.endpoint.json_mode
    where = f"endpoints.{found.target.endpoint.name}.json_mode"
    working = [mode for mode, said in found.json_modes.items() if said == WORKS]
    for mode, said in found.json_modes.items():
        if mode == configured and said.startswith(UNKNOWN):
            step = f"ask again: a doubtful {where} costs every worker that wants JSON"
            yield Check(name=name, said=f"{mode} is {said}", verdict="bad", step=step)
        elif mode == configured and said != WORKS:
            step = f'set {where} = "{next(iter(working), "none")}"'
            yield Check(name=name, said=f"{mode} {said}", verdict="bad", step=step, exit_code=2)
        else:
            yield Check(name=name, said=f"{mode} {said}", verdict="ok" if said == WORKS else "note")
    if configured not in working and working and configured == "none":
        step = f'set {where} = "{working[0]}"'
        yield Check(name=name, said="can be asked for JSON and is not", verdict="note", step=step)


def _about_streaming(name: str, found: Examined) -> Iterator[Check]:
    for about, said in found.streaming.items():
        what = "an answer that is streamed" if about == "streamed" else "an answer in one piece"
        yield Check(name=name, said=f"{what} {said}", verdict="ok" if said == WORKS else "note")
