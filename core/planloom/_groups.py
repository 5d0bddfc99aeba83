"""Groups of tasks that are waited for together: what workers' time was lost there, which tasks lack an answer, and
whether all of them have begun.

A group lives in the scope of the task that waits, from which its tasks inherit it; what it must know of each task
stands in that task's own scope, so that nothing is kept for a task that has ended.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Group"]

# Key of a task's scope: the group it counts for, and when its last worker ended.
_LAST_END = "last end"


class Group:
    """The tasks of one call that runs tasks.

    :param tasks: how many it has, of each of which :meth:`began` is told.
    :param outer: the group that the waiting task is in itself.
    :ivar path: the address of that call.
    :ivar all_to_begin: how many tasks have not begun, of an outermost group and of those in it.
    :ivar emptied: titles of phases that nobody was in while some had not; of an outermost group.
    """

    __slots__ = (
        "_around",
        "_ended",
        "_ends_s",
        "_if_fails",
        "_last_s",
        "_lost",
        "_to_begin",
        "all_to_begin",
        "emptied",
        "path",
    )

    def __init__(self, path: str, tasks: int = 0, outer: Group | None = None) -> None:
        self.path = path
        self._around = None if outer is None else outer.outermost
        self.emptied: dict[str, None] = {}
        self.all_to_begin = 0
        self._to_begin = tasks
        self.outermost.all_to_begin += tasks
        self._ended = 0
        self._ends_s = 0.0
        self._last_s: float | None = None
        self._lost: set[str] = set()
        self._if_fails: dict[str, list[Callable[[], None]]] = {}

    def worker_ended(self, scope: dict[str, object], seconds: float) -> None:
        """Note the end of a worker of the task with this scope; the task's last one counts."""
        former = scope.get(_LAST_END)
        if isinstance(former, tuple) and former[0] is self:
            self._ends_s -= former[1]
        else:
            self._ended += 1
        self._ends_s += seconds
        self._last_s = seconds if self._last_s is None else max(self._last_s, seconds)
        scope[_LAST_END] = (self, seconds)

    def answer_lost(self, place: str) -> None:
        """Note that a worker at this place, in a task of the group or below one, brought nothing back."""
        self._lost.add(self._task_of(place))

    def lacks_answer(self, task: str) -> bool:
        """Whether the task with this path lost a worker's answer, which then explains its failure."""
        return self._task_of(task) in self._lost

    def if_fails(self, place: str, then: Callable[[], None]) -> None:
        """Have something done if the task that this place is in, or below, fails."""
        self._if_fails.setdefault(self._task_of(place), []).append(then)

    def failed(self, task: str) -> None:
        """Do what was to be done if the task with this path fails."""
        for then in self._if_fails.pop(self._task_of(task), ()):
            then()

    def all_failed(self) -> None:
        """Do what was to be done if any task of the group fails."""
        for task in tuple(self._if_fails):
            for then in self._if_fails.pop(task):
                then()

    @property
    def lacks_any(self) -> bool:
        """Whether any task of the group lost a worker's answer."""
        return bool(self._lost)

    def idle_s(self, now_s: float) -> float:
        """Seconds that tasks whose workers had ended waited for the last of the group."""
        return self._ended * now_s - self._ends_s

    def pass_on(self, outer: Group, scope: dict[str, object]) -> None:
        """Count for the group that the waiting task, with this scope, is in itself."""
        if self._last_s is not None:
            outer.worker_ended(scope, self._last_s)
        if self._lost:
            outer.answer_lost(self.path)
        for then in (then for some in self._if_fails.values() for then in some):
            outer.if_fails(self.path, then)

    @property
    def outermost(self) -> Group:
        """The group around all groups that this one is in, or itself."""
        return self if self._around is None else self._around

    def began(self) -> None:
        """Note that one more task has begun."""
        self._to_begin -= 1
        (self._around or self).all_to_begin -= 1

    def over(self) -> None:
        """Note that no more tasks begin."""
        self.outermost.all_to_begin -= self._to_begin
        self._to_begin = 0

    def _task_of(self, place: str) -> str:
        return place[len(self.path) + 1 :].partition(".")[0]
