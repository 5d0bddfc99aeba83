"""What a plan computes with.

Lists, dicts and sets are subclasses of the host's containers with two more slots. ``owner`` is the task that may
change the value; ``locks`` counts the loops that iterate over it. A set is a dict without values, so that it keeps
the order of insertion and nothing a plan builds depends on hash seeds. Code tests *exact* types everywhere: nothing
but these classes and the host's scalars is ever a guest value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from planlang._vocabulary import Opaque, Word

if TYPE_CHECKING:
    from .functions import FunctionCode
    from .tasks import CopiesOf, Task
    from .words import WordCalls

__all__ = [
    "SCALARS",
    "UNBOUND",
    "Builtin",
    "DictView",
    "Frame",
    "GuestFunction",
    "LazyIterator",
    "PlanDict",
    "PlanList",
    "PlanSet",
    "WordValue",
    "new_dict",
    "new_list",
    "new_set",
    "type_name",
]

# [task, call depth, host frames in use, return value, parameters, captured cells, locals]
Frame = list[Any]


class Unbound:
    """Stands in a slot whose name has no value yet."""

    __slots__ = ()


UNBOUND: Final = Unbound()


class PlanList(list[Any]):
    """A plan's list."""

    __slots__ = ("locks", "owner")
    owner: Task
    locks: int


class PlanDict(dict[Any, Any]):
    """A plan's dict."""

    __slots__ = ("locks", "owner")
    owner: Task | CopiesOf
    locks: int


class PlanSet(dict[Any, None]):
    """A plan's set: a dict whose values are all ``None``."""

    __slots__ = ("locks", "owner")
    owner: Task
    locks: int


class DictView:
    """What ``keys``, ``values`` and ``items`` of a dict return: a live view."""

    __slots__ = ("kind", "source")

    def __init__(self, kind: str, source: PlanDict) -> None:
        self.kind, self.source = kind, source

    def native(self) -> Any:
        """Return the host's own view; only its length and iteration are safe to use."""
        if self.kind == "keys":
            return self.source.keys()
        return self.source.values() if self.kind == "values" else self.source.items()


class LazyIterator:
    """A generator expression, or what ``zip``, ``map`` and the like return; it is consumed once.

    ``kind`` is the type's name in CPython; ``depth`` counts iterators inside iterators; ``frames`` are the frames
    of the guest code that runs when it advances, which its consumer moves to its own call depth.
    """

    __slots__ = ("depth", "frames", "iterator", "kind")

    def __init__(self, kind: str, iterator: Iterator[Any], depth: int, frames: tuple[Frame, ...]) -> None:
        self.kind, self.iterator, self.depth, self.frames = kind, iterator, depth, frames


class GuestFunction:
    """A plan's ``def`` or ``lambda`` together with what it captured.

    It has no ``__init__``: the one that makes it sets all four itself, in a third of the time.
    """

    __slots__ = ("cells", "code", "defaults", "keyword_defaults")
    code: FunctionCode
    defaults: tuple[Any, ...]
    keyword_defaults: Mapping[str, Any]
    cells: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The name in its ``def``, or ``lambda``."""
        return self.code.name.strip("<>")

    @property
    def parameters(self) -> int:
        """How many positional parameters it takes at most."""
        return self.code.positional

    @property
    def required(self) -> int:
        """How many of them must be given."""
        return self.parameters - len(self.defaults)


class WordValue:
    """A word of the vocabulary, as a value.

    ``call(frame, args, keywords, offset)`` calls it; ``calls`` makes the closures of calls in the source.
    """

    __slots__ = ("call", "calls", "waits", "word")

    def __init__(self, word: Word, calls: WordCalls) -> None:
        self.word, self.calls, self.call, self.waits = word, calls, calls.call, calls.waits

    @property
    def name(self) -> str:
        """The word's name."""
        return self.word.name

    @property
    def parameters(self) -> int:
        """How many positional parameters it takes at most."""
        kinds = [p.kind for p in self.word.signature.parameters.values()]
        return sum(kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD) for kind in kinds)

    @property
    def required(self) -> int:
        """How many of them must be given."""
        parameters = self.word.signature.parameters.values()
        by_place = (p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
        return sum(p.default is p.empty for p in by_place)


class Builtin:
    """A builtin function or type, as a value.

    ``holds`` are the value classes that ``isinstance`` accepts for it, ``least`` and ``most`` how many positional
    arguments it takes, ``keywords`` which keywords (``None``: any).
    """

    __slots__ = ("call", "holds", "keywords", "least", "most", "name")

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        arity: tuple[int, int],
        keywords: frozenset[str] | None,
        holds: tuple[type, ...],
    ) -> None:
        self.name, self.call, self.holds, self.keywords = name, call, holds, keywords
        self.least, self.most = arity

    @property
    def parameters(self) -> int:
        """How many positional parameters it takes at most."""
        return self.most

    @property
    def required(self) -> int:
        """How many of them must be given."""
        return self.least

    def expects(self) -> str:
        """Return how many arguments it takes, in words."""
        if self.least == self.most:
            return f"{self.least} argument{'' if self.least == 1 else 's'}"
        return f"{self.least} to {self.most} arguments" if self.most < 100 else f"at least {self.least} arguments"


SCALARS: Final = frozenset((int, str, float, bool, type(None)))

_NAMES: Final[dict[type, str]] = {
    PlanList: "list",
    PlanDict: "dict",
    PlanSet: "set",
    GuestFunction: "function",
    WordValue: "function",
}


def type_name(value: object) -> str:
    """Return the name CPython gives to this value's type."""
    kind = type(value)
    if kind in _NAMES:
        return _NAMES[kind]
    if isinstance(value, LazyIterator):
        return value.kind
    if isinstance(value, DictView):
        return f"dict_{value.kind}"
    if isinstance(value, Builtin):
        return "type" if value.holds else "builtin_function_or_method"
    return "opaque value" if isinstance(value, Opaque) else kind.__name__


def new_list(task: Task, items: Iterable[Any]) -> PlanList:
    """Return a list of these items that belongs to the task."""
    made = PlanList(items)
    made.owner = task
    made.locks = 0
    return made


def new_dict(task: Task, items: Any = ()) -> PlanDict:
    """Return a dict of these items that belongs to the task."""
    made = PlanDict(items)
    made.owner = task
    made.locks = 0
    return made


def new_set(task: Task, items: Iterable[Any]) -> PlanSet:
    """Return a set of these items, in this order, that belongs to the task; the items must be known to be hashable."""
    made = PlanSet(dict.fromkeys(items))
    made.owner = task
    made.locks = 0
    return made
