"""First fit in logarithmic time.

A tree of maxima over the room of the open shards: each node holds the largest room below it, so the leftmost
shard with enough room is found by walking down once, turning left whenever the left half has it.
"""

from __future__ import annotations


class Rooms:
    """The room left in each open shard, in the order the shards were opened; owned by one packing."""

    def __init__(self) -> None:
        self._leaves = 1
        self._most = [-1, -1]
        self._open = 0

    def open(self, room: int) -> int:
        """Add a shard with ``room`` and give its index."""
        if self._open == self._leaves:
            self._grow()
        index = self._open
        self._open += 1
        self._set(index, room)
        return index

    def take(self, size: int) -> int | None:
        """The first shard with room for ``size``, which it then loses; None when no shard has it."""
        most = self._most
        if most[1] < size:
            return None
        node, leaves = 1, self._leaves
        while node < leaves:
            node *= 2
            if most[node] < size:
                node += 1
        self._set(node - leaves, most[node] - size)
        return node - leaves

    def _set(self, index: int, room: int) -> None:
        most = self._most
        node = index + self._leaves
        most[node] = room
        while node > 1:
            beside = most[node ^ 1]
            if beside > room:
                room = beside
            node >>= 1
            if most[node] == room:
                break
            most[node] = room

    def _grow(self) -> None:
        old = self._most[self._leaves :]
        self._leaves *= 2
        leaves = self._leaves
        most = [-1] * leaves + old + [-1] * (leaves - len(old))
        for node in range(leaves - 1, 0, -1):
            most[node] = max(most[2 * node], most[2 * node + 1])
        self._most = most
