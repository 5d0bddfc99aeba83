"""The generic hooks. A plugin implements those it needs; a kit may bring hooks of its own with
``register_hookspecs``.

Every hook is called once a process, is synchronous and quick, and does no I/O: it hands objects to ``register``, which
refuses a name that is taken and names both plugins. All implementations run, in no promised order, and what they return
is ignored. Hook API 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import click

    from .clients import ClientPlugin
    from .exporters import Exporter
    from .gates import Gate
    from .kits import Kit
    from .listeners import Listener
    from .plugins import Kind
    from .scouts import Scout
    from .stand_ins import StandIn
    from .stores import StorePlugin

__all__ = ["HOOK_API", "hookimpl", "hookspec"]

HOOK_API = 1

hookspec = pluggy.HookspecMarker("planloom")
hookimpl = pluggy.HookimplMarker("planloom")


@hookspec
def register_hookspecs(register: Callable[[object, tuple[Kind, ...]], None]) -> None:
    """Bring hooks of your own, for other plugins to implement.

    :param register: Call with a module (or object) that holds functions marked ``@hookspec`` and, for each of them, the
        :class:`planloom.plugins.Kind` of thing that its ``register`` argument takes. What is registered is then found
        by ``registry.get(noun, name)``.

    Since hook API 1.
    """


@hookspec
def register_kits(register: Callable[[Kit], None]) -> None:
    """Offer kits: the words, values, prompts, schemas and saved plans of one kind of job.

    :param register: Call once a kit. ``kit.name`` is what a run's record says.

    Since hook API 1.
    """


@hookspec
def register_clients(register: Callable[[ClientPlugin], None]) -> None:
    """Offer kinds of model clients that an endpoint's ``client`` setting can name.

    :param register: Call once a kind of client. Its ``open`` is called later, once an endpoint that is used.

    Since hook API 1.
    """


@hookspec
def register_stores(register: Callable[[StorePlugin], None]) -> None:
    """Offer kinds of stores that the ``store.kind`` setting can name.

    :param register: Call once a kind of store.

    Since hook API 1.
    """


@hookspec
def register_exporters(register: Callable[[Exporter], None]) -> None:
    """Offer file formats that a kit's report can be written in.

    :param register: Call once a format. ``exporter.kit`` says whose reports it reads, ``exporter.file_name`` what it
        writes below ``--out``.

    Since hook API 1.
    """


@hookspec
def register_stand_ins(register: Callable[[StandIn], None]) -> None:
    """Offer stand-ins that answer a kit's questions in a rehearsal, for free and from a hash.

    :param register: Call once a stand-in; at most one a kit.

    Since hook API 1.
    """


@hookspec
def register_scouts(register: Callable[[Scout], None]) -> None:
    """Offer scouts: plain code that adds facts to the sheet a lead plans from.

    :param register: Call once a scout. Its share of the sheet is limited (``scout.share_tokens``).

    Since hook API 1.
    """


@hookspec
def register_gates(register: Callable[[Gate], None]) -> None:
    """Offer approval policies that the ``gate.policy`` setting can name.

    :param register: Call once a policy.

    Since hook API 1.
    """


@hookspec
def register_listeners(register: Callable[[Listener], None]) -> None:
    """Offer listeners that see every event of every run.

    :param register: Call once a listener. It is called on the event loop: it must be quick, and what it raises is
        reported once and never ends a run.

    Since hook API 1.
    """


@hookspec
def register_commands(register: Callable[[click.Command], None]) -> None:
    """Offer commands of ``planloom``.

    :param register: Call once a command; ``command.name`` is what a person types.

    Since hook API 1.
    """
