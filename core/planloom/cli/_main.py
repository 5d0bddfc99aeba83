"""The entry point: loads plugins, runs a command, and turns every fault into a message and an exit code."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence

import click

from planloom._errors import Misuse, PlanloomError, PluginError, did_you_mean, raised_told
from planloom.plugins import Registry, load_what_loads, way_out
from planloom.processes import seldom_collected
from planloom.visible import visible

from ._streams import mend_streams, silence, unwritable

__all__ = ["main"]

_BUG_EXIT = 1


_SECTIONS = {
    "Plans": ("check", "rehearse", "run", "explain"),
    "Runs": ("runs", "show", "follow", "cancel", "raise", "resume", "replay", "export"),
    "Looking after it": ("init", "doctor", "store", "prompts", "plugins"),
}
# They say what is wrong with a plugin, or have nothing to do with any.
_WITH_ANY_PLUGINS = ("doctor", "plugins", "explain", "init")
_HELP = """\
Plans written by models: checked, rehearsed, approved, and run by many workers under one budget.

Begin with `planloom audit PATH` or `planloom demo`: both are free until a configuration names models, which `planloom
init` begins. Each command has its own --help.
"""
_EXIT_CODES = """\
Exit codes: 0 whole, 1 failed, 2 misuse or configuration, 3 completed with holes, 4 held for approval, 5 paused,
interrupted or stopped at the budget, 6 refused, 7 nothing to do, 9 runaway, 130 cancelled.
"""


class _Commands(click.Group):
    """The commands that plugins brought, by what they are for; an unknown one is answered with the nearest."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = {name for names in _SECTIONS.values() for name in names}
        jobs = tuple(name for name in self.list_commands(ctx) if name not in own)
        for section, names in {"Jobs": jobs, **_SECTIONS}.items():
            rows = [(name, self.commands[name].get_short_help_str(100)) for name in names if name in self.commands]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name not in _WITH_ANY_PLUGINS and not name.startswith("-"):
            _check_loaded(ctx.find_object(Registry))
        if name and not name.startswith("-") and name not in self.commands:
            raise Misuse(f"there is no command `{name}`; {did_you_mean(name, self.commands)}")
        return super().resolve_command(ctx, args)


def _check_loaded(registry: Registry | None) -> None:
    """:raises PluginError: a plugin cannot be loaded, and what it would have brought may be what is asked for."""
    if registry is not None and registry.broken:
        raise registry.broken[0]


def _group(registry: Registry) -> click.Group:
    commands = dict(registry.all("command", click.Command))
    group = _Commands(
        name="planloom",
        commands=commands,
        help=_HELP,
        epilog=_EXIT_CODES,
    )
    return click.version_option(package_name="planloom", prog_name="planloom")(group)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    mend_streams()
    # Also while a command starts: of what it imports next to nothing is garbage.
    with seldom_collected():
        sys.exit(_run(list(sys.argv[1:] if arguments is None else arguments)))


def _run(arguments: list[str]) -> int:
    registry = None
    try:
        registry = load_what_loads()
        result = _group(registry).main(arguments, prog_name="planloom", standalone_mode=False, obj=registry)
        return result if isinstance(result, int) else 0
    except PlanloomError as error:
        return _fail(_told(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.ClickException as error:
        where = f" (see `{error.ctx.command_path} --help`)" if isinstance(error, click.UsageError) and error.ctx else ""
        return _fail(f"{error.format_message().rstrip('.')}{where}", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _fail("cancelled; every answer that came is kept: run the same command again to go on", 130)
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        # Whoever read our output went away, which click takes for a failure; nothing is left to say to them.
        silence(sys.stdout)
        return 0
    except Exception as error:
        if isinstance(error, OSError) and unwritable(error):
            silence(sys.stdout)
        return _fail(_fault_told(error, registry), _BUG_EXIT)


def _fail(message: str, code: int) -> int:
    # Where the message cannot be written either, the exit code has to do.
    try:
        click.echo(f"planloom: {visible(message)}", err=True)
    except OSError:
        silence(sys.stderr)
    return code


def _machine_fault(error: Exception) -> str | None:
    """Return what this machine lacks, where that is what ended the command."""
    again = "and run the same command again, every answer that came is kept"
    if isinstance(error, MemoryError):
        return f"there is not enough memory; free some, or audit less at once, {again}"
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return f"no more files can be opened ({error.strerror}); raise the limit that `ulimit -n` shows {again}"
    if isinstance(error, OSError) and unwritable(error):
        return f"the output cannot be written: {error.strerror}; send it to another place {again}"
    return None


def _told(error: PlanloomError) -> str:
    if not isinstance(error, PluginError):
        return str(error)
    from planloom.crashes import fault_told

    return fault_told(error)


def _fault_told(error: Exception, registry: Registry | None) -> str:
    """Return what is at fault: this machine, a plugin or planloom itself."""
    from planloom._blame import blamed
    from planloom.crashes import traceback_told

    lack = _machine_fault(error)
    found = None if registry is None else blamed(registry, error)
    # Of a plugin's own file that cannot be read or written the same is said as of an output.
    if lack and (found is None or not (isinstance(error, OSError) and unwritable(error))):
        return lack
    if found is not None:
        said = f"the plugin {found.plugin} failed ({found.place}): {raised_told(error)}"
        return f"{said}; {traceback_told(error)}: report it to who wrote the plugin, and {way_out(found.distribution)}"
    return f"a fault of planloom itself; {traceback_told(error)}: report it with that, which holds no keys"
