"""Directed graphs that say what must come before what: orders, layers and cycles.

A graph maps each task to the tasks it needs. A task that is only needed need not be a key.
"""

from collections.abc import Iterable, Mapping

Needs = Mapping[str, Iterable[str]]


def tasks_of(needs: Needs) -> set[str]:
    """Every task that is named anywhere."""
    named = set(needs)
    for needed in needs.values():
        named.update(needed)
    return named


def layers(needs: Needs) -> list[list[str]]:
    """The tasks in layers: all that a task needs lies in earlier ones, and each comes as early as it can."""
    open_needs = {task: set(needs.get(task, ())) for task in tasks_of(needs)}
    found: list[list[str]] = []
    while open_needs:
        ready = sorted(task for task, needed in open_needs.items() if not needed)
        if not ready:
            raise ValueError(f"these tasks wait for each other: {', '.join(sorted(open_needs))}")
        found.append(ready)
        for task in ready:
            del open_needs[task]
        for needed in open_needs.values():
            needed.difference_update(ready)
    return found


def in_order(needs: Needs) -> list[str]:
    """The tasks one after another, none before what it needs."""
    return [task for layer in layers(needs) for task in layer]


def all_needed(needs: Needs, task: str) -> set[str]:
    """Everything the task needs, directly or through others, without the task itself."""
    found: set[str] = set()
    waiting = list(needs.get(task, ()))
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        found.add(current)
        waiting.extend(needs.get(current, ()))
    found.discard(task)
    return found


def find_cycle(needs: Needs) -> list[str] | None:
    """One ring of tasks that need each other, or None; it starts with its first task in the alphabet."""
    for task in sorted(tasks_of(needs)):
        ring = _ring_through(needs, task)
        if ring:
            return ring
    return None


def _ring_through(needs: Needs, first: str) -> list[str]:
    trails = [[first]]
    seen: set[str] = set()
    while trails:
        trail = trails.pop(0)
        for needed in sorted(needs.get(trail[-1], ())):
            if needed == first:
                return trail
            if needed not in seen:
                seen.add(needed)
                trails.append([*trail, needed])
    return []


def earliest_finish(needs: Needs, lengths: Mapping[str, int]) -> dict[str, int]:
    """When each task is done at the earliest, if all that are ready run at the same time."""
    finish: dict[str, int] = {}
    for task in in_order(needs):
        start = max((finish[needed] for needed in needs.get(task, ())), default=0)
        finish[task] = start + lengths[task]
    return finish


def reverse(needs: Needs) -> dict[str, list[str]]:
    """For each task the tasks that need it, sorted."""
    users: dict[str, list[str]] = {task: [] for task in sorted(tasks_of(needs))}
    for task in sorted(needs):
        for needed in needs[task]:
            users[needed].append(task)
    return users
