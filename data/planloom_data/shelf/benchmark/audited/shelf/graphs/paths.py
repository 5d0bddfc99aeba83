"""Ways through weighted directed graphs.

A graph is a mapping from each node to its neighbours and the cost of the step to them. A node that is only a
neighbour need not be a key.
"""

import heapq
from collections import deque
from collections.abc import Mapping
from itertools import pairwise
from math import inf

Graph = Mapping[str, Mapping[str, float]]


def distances(graph: Graph, start: str) -> dict[str, float]:
    """The cost of the cheapest way from `start` to every node it reaches (Dijkstra, 1959)."""
    settled: dict[str, float] = {}
    waiting: list[tuple[float, str]] = [(0, start)]
    while waiting:
        cost, node = heapq.heappop(waiting)
        if node in settled:
            continue
        settled[node] = cost
        for neighbour, step in graph.get(node, {}).items():
            if neighbour not in settled:
                heapq.heappush(waiting, (cost + step, neighbour))
    return settled


def cheapest_path(graph: Graph, start: str, goal: str) -> list[str]:
    """The nodes of the cheapest way, both ends included, or an empty list when there is none."""
    cost = distances(graph, start)
    if goal not in cost:
        return []
    path = [goal]
    while path[-1] != start:
        here = path[-1]
        # The costs are in the order in which they were settled, so the first fit lies nearer to the start.
        path.append(
            next(node for node in cost if here in graph.get(node, {}) and cost[node] + graph[node][here] == cost[here])
        )
    return path[::-1]


def fewest_steps(graph: Graph, start: str, goal: str) -> int | None:
    """The least number of steps from `start` to `goal`, costs ignored, or None when it cannot be reached."""
    steps = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if node == goal:
            return steps[node]
        for neighbour in graph.get(node, {}):
            if neighbour in steps:
                continue
            steps[neighbour] = steps[node] + 1
            queue.append(neighbour)
    return None


def path_cost(graph: Graph, path: list[str]) -> float:
    """The sum of the steps along a path; infinite when two neighbours on it are not joined."""
    total: float = 0
    for here, there in pairwise(path):
        total += graph.get(here, {}).get(there, inf)
    return total


def eccentricity(graph: Graph, node: str) -> float:
    """How far the farthest node is that can be reached."""
    return min(distances(graph, node).values())


def reachable(graph: Graph, start: str, within: float = inf) -> set[str]:
    """The nodes whose cheapest way from `start` costs at most `within`; the start is one of them."""
    return {node for node, cost in distances(graph, start).items() if cost <= within}
