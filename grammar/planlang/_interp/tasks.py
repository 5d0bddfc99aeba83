"""One task of a program: where it stands, what it may change, which iteration locks its generators hold."""

from __future__ import annotations

from typing import Any, Final

from .meter import DICT_ENTRY_BYTES, Meter

__all__ = ["CopiesOf", "Task", "adopt_check", "child_task", "locked_error", "root_task"]

_OWNER_BYTES: Final = 48


class Task:
    """A thread of a plan; owned by the runner that started it.

    ``path`` is its address in the plan, ``calls`` how many counted words it has called, ``open_locks`` what its
    unfinished generators iterate over, ``ended`` whether its values now belong to its ``parent``, ``offset`` the
    place of the last builtin or method that may call functions, ``read_only`` whether nobody may change its values.
    """

    __slots__ = (
        "calls",
        "ended",
        "groups",
        "level",
        "meter",
        "offset",
        "open_locks",
        "parent",
        "path",
        "read_only",
        "scope",
        "seated",
    )

    meter: Meter
    path: str
    parent: Task | None
    scope: dict[str, object]
    calls: int
    ended: bool
    open_locks: set[Any] | None
    level: int
    seated: bool
    groups: int
    offset: int
    read_only: bool

    def end(self) -> None:
        """Hand what the task made to its parent and release what its generators still hold."""
        self.ended = True
        for lock in tuple(self.open_locks or ()):
            lock.release()


class CopiesOf:
    """Owns, for a task, dicts that were charged as copies; whoever changes one first pays for one that grows."""

    __slots__ = ("task",)

    def __init__(self, task: Task) -> None:
        task.meter.store(_OWNER_BYTES)
        self.task = task


def root_task(meter: Meter, read_only: bool = False) -> Task:
    """Return the task of a whole program, or with ``read_only`` the owner of what nobody may change."""
    task = _task(meter, "", None, {}, 0)
    task.seated, task.read_only = False, read_only
    return task


def child_task(parent: Task, path: str) -> Task:
    """Return a task that holds a seat; its scope starts as a copy of its parent's."""
    return _task(parent.meter, path, parent, parent.scope.copy(), parent.level + 1)


def _task(meter: Meter, path: str, parent: Task | None, scope: dict[str, object], level: int) -> Task:
    # Not an __init__, which takes twice as long, in a class of which a plan may make a hundred thousand.
    task = Task()
    task.meter = meter
    task.path = path
    task.parent = parent
    task.scope = scope
    task.level = level
    task.calls = task.groups = task.offset = 0
    task.ended = task.read_only = False
    task.seated = True
    task.open_locks = None
    return task


def adopt_check(value: Any, task: Task) -> None:
    """Return when the task may change the value, whose tag names another task; else raise.

    Follows finished tasks to their parents and shortens the way for the next look.
    """
    owner: Task | CopiesOf = value.owner
    if isinstance(owner, CopiesOf):
        task.meter.store(DICT_ENTRY_BYTES * len(value))
        owner = owner.task
    while owner.ended and owner.parent is not None:
        owner = owner.parent
    if owner is task:
        value.owner = task
        return
    if owner.read_only:
        raise PermissionError("this value is read-only; change a copy of it")
    raise PermissionError(
        "this value belongs to another task; return what the task found and let the plan that started it collect it"
    )


def locked_error(value: Any) -> RuntimeError:
    """Return the error for adding to or removing from a value that a loop iterates over."""
    return RuntimeError("a loop iterates over this value: collect the changes and apply them after the loop")
