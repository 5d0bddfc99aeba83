"""Mappings inside mappings: reaching, flattening, merging and comparing them.

A path is a string of keys with dots between them. Only mappings are walked; lists count as plain values.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Tree = Mapping[str, Any]


def get(tree: Tree, path: str, default: Any = None) -> Any:
    """The value at a path, or the default where the path leads nowhere."""
    value: Any = tree
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return default
        value = value[key]
    return value


def put(tree: Tree, path: str, value: Any) -> dict[str, Any]:
    """A copy of the tree with the value at the path; mappings on the way are made where they are missing."""
    key, _, rest = path.partition(".")
    if not rest:
        return {**tree, key: value}
    below = tree.get(key)
    branch = below if isinstance(below, Mapping) else {}
    return {**tree, key: put(branch, rest, value)}


def flatten(tree: Tree, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its path, depth first; an empty mapping counts as a value."""
    for key, value in tree.items():
        path = f"{prefix}.{key}" if prefix else key
        if isinstance(value, Mapping) and value:
            yield from flatten(value, path)
        else:
            yield path, value


def unflatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """The tree whose values lie at the given paths."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        tree = put(tree, path, value)
    return tree


def merge(base: Tree, changes: Tree) -> dict[str, Any]:
    """The base with the changes laid over it, branch by branch; a value of None removes the key."""
    merged = dict(base)
    for key, change in changes.items():
        if change is None:
            merged.pop(key, None)
            continue
        current = merged.get(key)
        if isinstance(change, Mapping):
            merged[key] = merge(current if isinstance(current, Mapping) else {}, change)
        else:
            merged[key] = change
    return merged


def changes(before: Tree, after: Tree) -> dict[str, tuple[Any, Any]]:
    """The paths whose values differ, each with its old and new value; None stands for a value not there."""
    old, new = dict(flatten(before)), dict(flatten(after))
    paths = sorted(old.keys() | new.keys())
    return {path: (old.get(path), new.get(path)) for path in paths if old.get(path) != new.get(path)}


def depth(tree: Tree) -> int:
    """How many keys the longest path has; 0 for an empty tree."""
    deepest = 1
    for value in tree.values():
        below = depth(value) if isinstance(value, Mapping) else 0
        deepest = max(deepest, 1 + below)
    return deepest
