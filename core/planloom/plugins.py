"""Loading plugins and finding what they brought, by noun and name.

A :class:`Kind` says what one ``register_*`` hook takes. The core's own kinds and those that plugins bring with
``register_hookspecs`` are treated alike: one loop calls every hook, one table holds every name, one error names both
plugins when a name is brought twice. The manager is built by :func:`load_plugins` and passed on; there is no global.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import pluggy

from . import hookspecs
from ._errors import DuplicateNameError, PluginError, UnknownNameError, raised_told
from .data_classes import frozen

__all__ = ["Kind", "PluginFacts", "Registry", "load_plugins", "load_what_loads", "way_out"]

ENTRY_POINT_GROUP = "planloom"
_OURS = "planloom"

T = TypeVar("T")


@frozen
class Kind:
    """One kind of thing that plugins bring.

    :ivar hook: the hook that takes it, ``register_lenses``.
    :ivar noun: what messages call it and look-ups ask for, ``lens``.
    :ivar accepts: gives the class that a registered object must be of; a function, so that it is imported late.
    """

    hook: str
    noun: str
    accepts: Callable[[], type]


@frozen
class PluginFacts:
    """What ``planloom plugins`` lists of one plugin."""

    name: str
    distribution: str
    version: str
    hooks: tuple[str, ...]
    brings: Mapping[str, tuple[str, ...]]


def _core_kinds() -> tuple[Kind, ...]:
    def click_command() -> type:
        import click

        return click.Command

    def late(module: str, name: str) -> Callable[[], type]:
        def load() -> type:
            found: type = getattr(importlib.import_module(f"planloom.{module}"), name)
            return found

        return load

    return (
        Kind("register_kits", "kit", late("kits", "Kit")),
        Kind("register_clients", "client", late("clients", "ClientPlugin")),
        Kind("register_stores", "store", late("stores", "StorePlugin")),
        Kind("register_exporters", "exporter", late("exporters", "Exporter")),
        Kind("register_stand_ins", "stand-in", late("stand_ins", "StandIn")),
        Kind("register_scouts", "scout", late("scouts", "Scout")),
        Kind("register_gates", "gate", late("gates", "Gate")),
        Kind("register_listeners", "listener", late("listeners", "Listener")),
        Kind("register_commands", "command", click_command),
    )


class Registry:
    """Everything the loaded plugins brought. Filled once by :func:`load_plugins`, read-only afterwards.

    :ivar broken: why plugins were left out that cannot be loaded, see :func:`load_what_loads`.
    """

    def __init__(self, manager: pluggy.PluginManager) -> None:
        self.manager = manager
        self.broken: tuple[PluginError, ...] = ()
        self._kinds: dict[str, Kind] = {}
        self._things: dict[str, dict[str, Any]] = {}
        self._owners: dict[tuple[str, str], str] = {}
        self._kind_owners: dict[tuple[str, str], str] = {}
        self._distributions: dict[str, tuple[str, str]] = {}

    def all(self, noun: str, of: type[T]) -> Mapping[str, T]:
        """Return what was registered of one kind, by name."""
        return MappingProxyType(self._things.get(noun, {}))

    def names(self, noun: str) -> tuple[str, ...]:
        """Return the names registered of one kind, sorted."""
        return tuple(sorted(self._things.get(noun, {})))

    def get(self, noun: str, name: str, of: type[T]) -> T:
        """Return one registered thing.

        :raises UnknownNameError: with the nearest name, or all names there are.
        """
        things: dict[str, T] = self._things.get(noun, {})
        if name not in things:
            raise UnknownNameError(noun, name, things)
        return things[name]

    def owner(self, noun: str, name: str) -> str:
        """Return the name of the plugin that brought a thing."""
        return self._owners[noun, name]

    def distribution(self, plugin: str) -> str:
        """Return the name of the distribution that holds a plugin, empty where it is not an installed one."""
        return self._distributions.get(plugin, ("", ""))[0]

    def facts(self) -> list[PluginFacts]:
        """Return the loaded plugins, sorted by name, with what each brought."""
        rows = []
        for name, plugin in self.manager.list_name_plugin():
            project, version = self._distributions.get(name, ("", ""))
            hooks = tuple(sorted(h.name for h in self.manager.get_hookcallers(plugin) or ()))
            rows.append(PluginFacts(name, project, version, hooks, self._brought_by(name)))
        return sorted(rows, key=lambda row: row.name)

    def _brought_by(self, plugin: str) -> Mapping[str, tuple[str, ...]]:
        brought: dict[str, list[str]] = {}
        for (noun, name), owner in self._owners.items():
            if owner == plugin:
                brought.setdefault(noun, []).append(name)
        return {noun: tuple(sorted(names)) for noun, names in brought.items()}

    # --- filling

    def _add_kinds(self, kinds: Iterable[Kind], plugin: str) -> None:
        for kind in kinds:
            _own(self._kind_owners, "hook", kind.hook, plugin)
            _own(self._kind_owners, "kind of thing", kind.noun, plugin)
            self._kinds[kind.hook] = kind
            self._things[kind.noun] = {}

    def _add(self, kind: Kind, thing: Any, plugin: str) -> None:
        if not isinstance(thing, kind.accepts()):
            gave = f"gave {kind.hook} a {type(thing).__name__}, where a {kind.accepts().__name__} belongs"
            raise PluginError(f"plugin {plugin} {gave}; {self._way_out(plugin)}", plugin=plugin)
        name = str(thing.name)  # type: ignore[attr-defined]  # every kind's class has a name
        _own(self._owners, kind.noun, name, plugin)
        self._things[kind.noun][name] = thing

    def _call(self, hook: str, argument_of: Callable[[str], Callable[..., None]]) -> None:
        """Call a hook plugin by plugin, so that ``register`` knows who calls it."""
        caller = getattr(self.manager.hook, hook)
        for implementation in caller.get_hookimpls():
            plugin = implementation.plugin_name
            try:
                implementation.function(*(argument_of(plugin) for _ in implementation.argnames))
            except (DuplicateNameError, PluginError):
                raise
            except Exception as error:
                text = f"plugin {plugin} failed in {hook}: {raised_told(error)}; {self._way_out(plugin)}"
                raise PluginError(text, plugin=plugin, raised=error) from error

    def _way_out(self, plugin: str) -> str:
        """Return how to go on where a plugin cannot be loaded."""
        return way_out(self.distribution(plugin))

    def _misfit(self, error: pluggy.PluginValidationError, plugin: str) -> PluginError:
        """Return that a plugin does not fit a hook."""
        text = f"plugin {plugin} does not fit its hook: {_in_one_line(error)}; {self._way_out(plugin)}"
        return PluginError(text, plugin=plugin)


def _own(owners: dict[tuple[str, str], str], noun: str, name: str, plugin: str) -> None:
    """Give a name to a plugin.

    :raises DuplicateNameError: another has it.
    """
    if (noun, name) in owners:
        raise DuplicateNameError(noun, name, owners[noun, name], plugin)
    owners[noun, name] = plugin


def way_out(distribution: str) -> str:
    """Return how to go on where a plugin of a distribution is at fault."""
    return f"update it, or go without: `pip uninstall {distribution}`" if distribution else "update or uninstall it"


def load_what_loads() -> Registry:
    """Load the installed plugins without those that cannot be, which ``broken`` of what is returned names.

    :raises PluginError: planloom's own part is at fault, or not one plugin alone.
    :raises DuplicateNameError: two plugins bring one name.
    """
    broken: dict[str, PluginError] = {}
    while True:
        try:
            registry = load_plugins(without=tuple(broken))
        except PluginError as error:
            if error.plugin in ("", _OURS, *broken):
                raise
            broken[error.plugin] = error
        else:
            registry.broken = tuple(broken.values())
            return registry


def load_plugins(
    extra: Iterable[tuple[str, object]] = (), *, installed: bool = True, without: Collection[str] = ()
) -> Registry:
    """Load the installed plugins and return what they brought.

    :param extra: further plugins as (name, module or object), for tests and embedding.
    :param installed: load what is installed under the entry-point group ``planloom``.
    :param without: names of installed plugins to leave out.
    :raises PluginError: a plugin cannot be imported, implements a hook that nobody specified, or breaks a contract.
    :raises DuplicateNameError: two plugins bring one name.
    """
    manager = pluggy.PluginManager("planloom")
    manager.add_hookspecs(hookspecs)
    registry = Registry(manager)
    registry._add_kinds(_core_kinds(), _OURS)
    _load_builtin(registry)
    if installed:
        _load_installed(registry, without)
    for name, plugin in extra:
        _register(registry, name, plugin)
    _load_hookspecs(registry)
    _check_pending(registry)
    for kind in list(registry._kinds.values()):
        _collect(registry, kind)
    return registry


def _register(registry: Registry, name: str, plugin: object, source: tuple[str, str] = ("", "")) -> None:
    if registry.manager.has_plugin(name):
        first, second = registry._distributions[name][0], source[0]
        raise DuplicateNameError("plugin", name, first or name, second or name)
    registry._distributions[name] = source
    try:
        registry.manager.register(plugin, name=name)
    except pluggy.PluginValidationError as error:
        raise registry._misfit(error, name) from error


def _load_builtin(registry: Registry) -> None:
    from . import _builtin

    _register(registry, _OURS, _builtin, _name_and_version(importlib.metadata.distribution("planloom")))


def _load_installed(registry: Registry, without: Collection[str]) -> None:
    # Reading a distribution's metadata takes a millisecond, and most entries here are of one.
    sources: dict[importlib.metadata.Distribution | None, tuple[str, str]] = {None: ("", "")}
    for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        if entry.name in without:
            continue
        try:
            plugin = entry.load()
        except Exception as error:
            dist = entry.dist.name if entry.dist else entry.value
            text = f"plugin {entry.name} of {dist} cannot be imported: {raised_told(error)}; {way_out(dist)}"
            raise PluginError(text, plugin=entry.name, raised=error) from error
        if entry.dist is not None and entry.dist not in sources:
            sources[entry.dist] = _name_and_version(entry.dist)
        _register(registry, entry.name, plugin, sources[entry.dist])


def _name_and_version(dist: importlib.metadata.Distribution) -> tuple[str, str]:
    metadata = dist.metadata
    return metadata["Name"], metadata["Version"]


def _collect(registry: Registry, kind: Kind) -> None:
    def register_for(plugin: str) -> Callable[[Any], None]:
        return lambda thing: registry._add(kind, thing, plugin)

    registry._call(kind.hook, register_for)


def _load_hookspecs(registry: Registry) -> None:
    def register_for(plugin: str) -> Callable[..., None]:
        def register(specs: object, kinds: tuple[Kind, ...]) -> None:
            registry._add_kinds(kinds, plugin)
            try:
                registry.manager.add_hookspecs(specs)  # type: ignore[arg-type]  # a module or any object will do
            except pluggy.PluginValidationError as error:
                # Whoever implements one of them otherwise was added before.
                raise registry._misfit(error, registry.manager.get_name(error.plugin) or plugin) from error

        return register

    registry._call("register_hookspecs", register_for)


def _check_pending(registry: Registry) -> None:
    try:
        registry.manager.check_pending()
    except pluggy.PluginValidationError as error:
        plugin = registry.manager.get_name(error.plugin) or ""
        said = f"plugin {plugin} implements a hook that nobody specified: {_in_one_line(error)}"
        raise PluginError(
            f"{said}; check the hook's spelling, or {registry._way_out(plugin)}", plugin=plugin
        ) from error


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())
