"""What a plan may call and read: the host's words and values.

The language knows no word of its own beyond Python's builtins. A host describes each word once; the checker
reads the description, the interpreter calls it. Plain data crosses in both directions as copies: a word gets
lists, dicts, tuples, sets, text, numbers, ``None``, :class:`Function` and :class:`Opaque`, and may return the
same. A word never sees the interpreter's own objects and a plan never sees the host's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from ._errors import PlanFailed

if TYPE_CHECKING:
    import inspect

__all__ = ["Call", "Function", "Opaque", "Value", "Vocabulary", "Word"]

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class Opaque:
    """A host value that a plan can hold and pass on, and nothing else. Hosts subclass it."""

    __slots__ = ()


class Function(Protocol):
    """A plan's own function, as a word sees it: something to hand to :meth:`Call.apply` or :meth:`Call.run_tasks`."""

    @property
    def name(self) -> str:
        """The name in its ``def``, or ``lambda``."""

    @property
    def parameters(self) -> int:
        """How many positional parameters it takes at most."""

    @property
    def required(self) -> int:
        """How many of them must be given."""


class Call(Protocol):
    """What a word is told about the place it was called from; its first argument.

    :ivar host: what :meth:`planlang.Program.run` was given.
    :ivar path: the address of this call in the plan, fixed by place and the same on every run: ``2.0.13`` is the
        third waiting call of the plan, its first thunk, the fourteenth waiting call in that.
    :ivar scope: values that belong to the calling task; a child task starts with a copy of its parent's.
    """

    @property
    def host(self) -> object: ...
    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def scope(self) -> dict[str, object]: ...

    async def run_tasks(
        self,
        thunks: Sequence[Function | Callable[[Call], Awaitable[object]]],
        on_failure: Callable[[str, PlanFailed], None],
    ) -> list[object]:
        """Run every thunk as a task of its own, at once, and return their values in order.

        A thunk is a plan's function, or a coroutine function of the host that is given the :class:`Call` of its task
        and can :meth:`apply` plan functions there, one after the other. A thunk that fails gives ``None`` and one call
        of ``on_failure`` with its path; its siblings go on.

        :raises PlanAborted: the first one raised by any of them, once all that ran have ended.
        """

    async def apply(self, function: Function, *args: object) -> object:
        """Call a plan's function in the calling task and return what it returns, as plain data."""


class Word(NamedTuple):
    """One function that plans may call.

    :ivar call: ``call(place: Call, *args, **kwargs)``; arguments arrive bound to ``signature`` as the plan gave
        them (no defaults filled in). Returns plain data, or an awaitable of it when ``suspends``.
    :ivar signature: what a plan may pass; ``place`` is not part of it. Annotations, where they are ``int``,
        ``float``, ``str``, ``bool``, ``list`` or ``dict``, let the checker judge literal arguments.
    :ivar doc: one line for the lead that writes plans: what comes out.
    :ivar spends: a call may cost money.
    :ivar suspends: a call may wait.
    :ivar runs_tasks: it runs functions it is given as tasks. A list that it returns is the plan's from then on: other
        tasks go on while it is copied.
    :ivar functions: for a parameter that takes such a function, or a list of them: how few and how many arguments each
        is given, ``{"thunks": (0, 0)}`` or ``{"stages": (1, 3)}``. Without any, a ``*`` parameter takes stages, else
        the first parameter takes thunks.
    :ivar choices: for a parameter that takes a name: the names there are.
    :ivar barred: for such a parameter: further names that are there and no plan may give, each with the reason, to be
        read behind "cannot be named here: ", and what to do instead.
    :ivar choice_nouns: what such a name is called in messages, ``lens`` for example.
    :ivar aliases: other keyword spellings that are accepted with advice: ``{"role": "model"}``.
    :ivar judges: for a parameter: is given what is written out for it in a plan, as plain data, and returns ``None`` or
        what is wrong with it, what to do instead, and the keys and indexes that lead to it. It never raises.
    """

    name: str
    call: Callable[..., object]
    signature: inspect.Signature
    doc: str
    spends: bool = False
    suspends: bool = False
    runs_tasks: bool = False
    functions: Mapping[str, tuple[int, int]] = _NONE
    choices: Mapping[str, Collection[str]] = _NONE
    barred: Mapping[str, Mapping[str, tuple[str, str]]] = _NONE
    choice_nouns: Mapping[str, str] = _NONE
    aliases: Mapping[str, str] = _NONE
    judges: Mapping[str, Callable[[Any], tuple[str, str, Sequence[object]] | None]] = _NONE


class Value(NamedTuple):
    """One read-only value that plans may read by name.

    :ivar make: called once a run with the host; returns plain data.
    """

    name: str
    doc: str
    make: Callable[[object], object]


class Vocabulary:
    """The words and values of one job, by name.

    :raises ValueError: two entries have one name.
    """

    def __init__(self, entries: Iterable[Word | Value]) -> None:
        self._entries: dict[str, Word | Value] = {}
        for entry in entries:
            if entry.name in self._entries:
                raise ValueError(f"two words are named `{entry.name}`")
            self._entries[entry.name] = entry
        # A check looks into them at every node.
        self._words = {n: e for n, e in self._entries.items() if isinstance(e, Word)}
        self._values = {n: e for n, e in self._entries.items() if isinstance(e, Value)}

    @property
    def words(self) -> Mapping[str, Word]:
        """The words, by name, in the order they were given."""
        return self._words

    @property
    def values(self) -> Mapping[str, Value]:
        """The values, by name, in the order they were given."""
        return self._values

    def get(self, name: str) -> Word | Value | None:
        """Return the entry of that name, or ``None``."""
        return self._entries.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._entries
