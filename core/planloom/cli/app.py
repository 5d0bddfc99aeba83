"""What commands share: options, settings, consoles."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import click

from planloom._errors import Misuse, PlanloomError, PluginError
from planloom._given_files import at_home, text_of
from planloom._given_json import json_or_text
from planloom._given_values import check_kept
from planloom.configuration import STORE_VARIABLE, load_settings
from planloom.data_classes import frozen
from planloom.money import MICRO, micro_of
from planloom.plugins import Registry
from planloom.settings import Settings
from planloom.visible import visible

if TYPE_CHECKING:
    from rich.console import Console


__all__ = [
    "CREDITS",
    "App",
    "all_broken",
    "app_command",
    "argument_options",
    "out_console",
    "read_arguments",
    "say_console",
    "settings_command",
    "trust_option",
]

F = TypeVar("F", bound=Callable[..., Any])

# Above it amounts are no longer whole numbers that JSON can hold; nobody has that much.
_MOST_CREDITS = 1_000_000_000


class _Credits(click.ParamType):  # type: ignore[type-arg]  # generic in newer clicks only
    """An amount of credits, kept in micro-credits."""

    name = "credits"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            amount = micro_of(value)
        except (ValueError, ArithmeticError):
            self.fail(f"`{value[:40]}` is not an amount of credits; write a number of at least 0", param, ctx)
        if amount > _MOST_CREDITS * MICRO:
            self.fail(f"`{value[:40]}` is too large; write at most {_MOST_CREDITS:,} credits", param, ctx)
        return amount


CREDITS = _Credits()


trust_option = click.option(
    "--trust-config", is_flag=True, help="Use the configuration though it may have come with the code."
)


def argument_options(function: F) -> F:
    """Give a command ``--arg`` and ``--args-file``, for :func:`read_arguments`."""
    path = click.Path(path_type=Path)
    function = click.option(
        "--args-file", metavar="FILE", type=path, help="Arguments from a file with one JSON object."
    )(function)
    one = "An argument of the plan, as JSON or plain text; may be repeated."
    return click.option("--arg", "pairs", multiple=True, metavar="NAME=JSON", help=one)(function)


@frozen(kw_only=True)
class App:
    """What a command runs with.

    :ivar config: the file that ``--config`` named.
    """

    registry: Registry
    settings: Settings
    config: Path | None = None


def settings_command(function: F) -> F:
    """Give a command that touches no store ``--config``, and an :class:`App` as its first argument."""

    def call(*args: Any, config: Path | None, **kwargs: Any) -> Any:
        return function(_configured(config), *args, **kwargs)

    return _optioned(call, function, _CONFIG_OPTION)


def app_command(function: F) -> F:
    """Give a command ``--config`` and ``--store``, and an :class:`App` as its first argument."""

    def call(*args: Any, config: Path | None, store: str | None, **kwargs: Any) -> Any:
        app = _configured(config)
        if store is not None:
            app = attrs.evolve(app, settings=attrs.evolve(app.settings, store_path=at_home(store)))
        elif not os.environ.get(STORE_VARIABLE):
            _refuse_tracked(app.settings.store_path)
        return function(app, *args, **kwargs)

    return _optioned(call, function, _CONFIG_OPTION, _STORE_OPTION)


_CONFIG_OPTION = click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read this configuration instead of planloom.toml here.",
)
_STORE_OPTION = click.option(
    "--store", metavar="PATH", help="Where answers and runs are kept (default: as configured, else .planloom/store.db)."
)


def _configured(config: Path | None) -> App:
    registry = click.get_current_context().find_object(Registry)
    assert registry is not None
    try:
        settings = load_settings(registry, folder=_working_folder(), config=config)
    except PlanloomError as error:
        if registry.broken:
            # What the configuration names may be what a plugin would have brought.
            raise PluginError(f"{error}\n{all_broken(registry)}") from error
        raise
    return App(registry=registry, settings=settings, config=config)


def all_broken(registry: Registry) -> PluginError:
    """Return what says of each plugin that cannot be loaded why; there is one at least."""
    from planloom.crashes import fault_told

    return PluginError("\n".join(map(fault_told, registry.broken)))


def _optioned(call: Callable[..., Any], function: F, *options: Callable[[Any], Any]) -> F:
    """Return a call in a function's place, with its options and these."""
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]  # click's own way
    for option in options:
        call = option(call)
    return call  # type: ignore[return-value]  # the same call with more options


def _refuse_tracked(store: str) -> None:
    """Refuse a store that no person named and that git tracks: it came with the checkout, whatever it answers.

    :raises Misuse: git tracks it, or a log beside it that would be read as part of it.
    """
    if not os.path.isfile(store):
        return
    from planloom.tracked import is_tracked

    for name in (store, f"{store}-wal", f"{store}-journal"):
        if is_tracked(Path(name)):
            raise Misuse(
                f"{name} is tracked by git, so it may have come with the checkout, and its answers would be taken for "
                f"a model's; if it is yours say `git rm --cached {name}`, or name it with --store to use it as it is"
            )


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise Misuse(f"the working folder cannot be used ({error.strerror}); change to another one") from error


def out_console() -> Console:
    """Return the console of results."""
    from ._console import ForeignConsole

    return ForeignConsole(sys.stdout, forgiven=BrokenPipeError)


def say_console() -> Console:
    """Return the console of progress and remarks, on standard error; they are lost where it cannot be written."""
    from ._console import ForeignConsole

    return ForeignConsole(sys.stderr, forgiven=OSError)


def read_arguments(pairs: tuple[str, ...], file: Path | None) -> dict[str, Any]:
    """Return a plan's arguments from ``name=JSON`` pairs and a JSON file; plain words are taken as text.

    :raises Misuse: the file cannot be read, a pair has no name, or what begins as JSON is none.
    """
    given: dict[str, Any] = {}
    if file is not None:
        try:
            given = json.loads(text_of(file), object_pairs_hook=_each_once)
        except (OSError, ValueError, RecursionError) as error:
            said = getattr(error, "strerror", None) or error
            raise Misuse(f"cannot read arguments from {file}: {said}; it must hold one JSON object") from error
        if not isinstance(given, dict):
            raise Misuse(f"{file} holds {_JSON_KINDS[type(given)]}; arguments must be one JSON object")
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise Misuse(f"`{pair}` is not an argument; write --arg name=value")
        given[name] = json_or_text(name, text, _each_once)
    for name, value in given.items():
        check_kept(name, value, f"give it as text, such as --arg '{name}=\"...\"'")
    return given


_JSON_KINDS = {
    list: "a list",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "a truth value",
    type(None): "null",
}


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object's items; which of two with one name is meant, nobody can know."""
    names = Counter(name for name, _ in pairs)
    twice = [name for name, number in names.items() if number > 1]
    if twice:
        raise Misuse(
            f"the key `{visible(twice[0])}` stands twice in one object of the arguments; leave one of them out"
        )
    return dict(pairs)
