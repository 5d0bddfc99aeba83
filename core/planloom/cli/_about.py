"""``planloom explain``, ``prompts``, ``plugins`` and ``init``: what there is, and how to begin."""

from __future__ import annotations

from pathlib import Path

import click

from planlang import codes
from planlang import explain as explain_code
from planloom._errors import Misuse, UnknownNameError
from planloom.kits import Kit
from planloom.prompts import resolved_prompt

from .app import App, all_broken, settings_command

__all__ = ["explain", "init", "plugins", "prompts"]


@click.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Print the page of a problem's code, such as PL031, or list all."""
    if code is None:
        click.echo("\n".join(explain_code(known).splitlines()[0] for known in codes()))
        return
    if code.upper() not in codes():
        raise Misuse(f"no problem has the code `{code}`; codes look like PL031, and `planloom explain` lists all")
    click.echo(explain_code(code.upper()))


@click.command()
@click.argument("name", required=False)
@settings_command
def prompts(app: App, name: str | None) -> None:
    """Print a prompt, such as audit.scan, or list all."""
    known = {
        f"{kit.name}.{p.name}": (kit, p.name) for kit in app.registry.all("kit", Kit).values() for p in kit.prompts
    }
    if name is None:
        width = max(map(len, known), default=0)
        for full, (kit, short) in known.items():
            prompt = resolved_prompt(kit, short, app.settings)
            where = f" (from {app.settings.prompts[full]})" if full in app.settings.prompts else ""
            click.echo(f"{full:{width}}  {prompt.digest}{where}")
        return
    if name not in known:
        raise UnknownNameError("prompt", name, known)
    kit, short = known[name]
    click.echo(resolved_prompt(kit, short, app.settings).text.rstrip("\n"))


@click.command()
@settings_command
def plugins(app: App) -> None:
    """List the loaded plugins: version, hooks, and what each brings. Those that cannot be loaded come last."""
    for facts in app.registry.facts():
        click.echo(f"{facts.name}  ({facts.distribution} {facts.version})")
        click.echo(f"  hooks: {', '.join(facts.hooks) or 'none'}")
        for noun, names in sorted(facts.brings.items()):
            click.echo(f"  {noun}: {', '.join(names)}")
    if app.registry.broken:
        raise all_broken(app.registry)


_CONFIG = """\
# planloom's configuration. Everything here is optional: without a model, audits run on offline rules, free.
# To use models, take the `#` off the endpoint and the roles and write your own server, models and prices.
# A key never stands in this file: `key_env` names the environment variable that holds it.

# [endpoints.main]
# client = "openai"                       # any OpenAI-compatible server
# url = "https://api.example.com/v1"
# key_env = "EXAMPLE_API_KEY"
# json_mode = "json_schema"               # what the server supports: json_schema, json_object or none
# prefix_cache = true                     # the server keeps the beginnings of questions, which makes them cheaper

# [endpoints.claude]
# client = "anthropic"
# key_env = "ANTHROPIC_API_KEY"

# A price is so much a call, or so much a million tokens, in credits (US dollars unless you decide otherwise).
# [roles.lead]                            # writes the plan, and the report
# endpoint = "main"
# model = "a-strong-model"
# price = { call = 0.5 }

# [roles.worker]                          # reads the code
# endpoint = "main"
# model = "a-quick-model"
# price = { input = 0.5, cached_input = 0.05, output = 2.0 }

# [roles.judge]                           # doubts what was found
# endpoint = "main"
# model = "a-quick-model"
# price = { call = 0.2 }

# [roles.fast]                            # answers what a plan asks with model="fast"
# endpoint = "main"
# model = "a-quick-model"
# price = { call = 0.2 }

[budget]
cap = 150                                 # credits a job may spend

[gate]
pass_credits = 40                         # a plan up to this, and up to pass_share of the budget, runs unasked
pass_share = 0.33

[limits]
in_flight = 32                            # calls at once
workers = 1000                            # workers a run may have

[store]
path = ".planloom/store.db"
# cap = 1000                              # credits that all its jobs together may spend
"""


@click.command()
def init() -> None:
    """Write a commented planloom.toml in this folder."""
    path = Path("planloom.toml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(_CONFIG)
    except FileExistsError as error:
        raise Misuse(f"{path} is already here; edit it, or move it away first") from error
    except OSError as error:
        raise Misuse(f"cannot write {path}: {error.strerror}; run `planloom init` in a folder you can write") from error
    click.echo(
        f"wrote {path}; take the # off the endpoint and the roles in it, name your models, then run `planloom doctor`"
    )
