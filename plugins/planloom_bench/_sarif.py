"""SARIF 2.1.0 as any tool may write it, read as plain items with a file and a line.

Only what a tool holds against the code counts: no result that passed, that was suppressed, or that is gone since an
earlier run. A result on a whole file has no line, and is set aside by the reader of the items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard
from urllib.parse import unquote, urlsplit

__all__ = ["is_sarif", "items_of"]

_HELD = (None, "fail", "open", "review")
# Bases may stand on bases; a ring of them ends here.
_DEEPEST_BASE = 8


def is_sarif(raw: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a JSON value is a SARIF log."""
    return isinstance(raw, Mapping) and isinstance(raw.get("runs"), list)


def items_of(log: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """The results of all runs, in their order, as items."""
    for run in log["runs"]:
        for result in _list(run, "results"):
            if isinstance(result, Mapping) and _is_held(result):
                yield _item(result, run)


def _is_held(result: Mapping[str, Any]) -> bool:
    if result.get("kind") not in _HELD or result.get("baselineState") == "absent":
        return False
    suppressions = _list(result, "suppressions")
    return not any(_map(part).get("status", "accepted") == "accepted" for part in suppressions)


def _item(result: Mapping[str, Any], run: object) -> dict[str, object]:
    location = _map(next(iter(_list(result, "locations")), None))
    physical = _map(location.get("physicalLocation"))
    return {
        "file": _path(_map(physical.get("artifactLocation")), run),
        "line": _map(physical.get("region")).get("startLine"),
        "function": _function(location),
        "confidence": _confidence(result),
        "rule": result.get("ruleId") or _map(result.get("rule")).get("id") or _listed_rule(result, run),
    }


def _listed_rule(result: Mapping[str, Any], run: object) -> object:
    """The id of a rule that is named by its place among those of the tool."""
    rules = _list(_map(_map(run).get("tool")).get("driver"), "rules")
    index = result.get("ruleIndex", _map(result.get("rule")).get("index"))
    return _map(rules[index]).get("id") if isinstance(index, int) and 0 <= index < len(rules) else None


def _path(artifact: Mapping[str, Any], run: object) -> str | None:
    index = artifact.get("index")
    artifacts = _list(run, "artifacts")
    if "uri" not in artifact and isinstance(index, int) and 0 <= index < len(artifacts):
        artifact = _map(_map(artifacts[index]).get("location"))
    uri = _joined(artifact, _map(_map(run).get("originalUriBaseIds")))
    return None if uri is None else _plain(uri)


def _joined(artifact: Mapping[str, Any], bases: Mapping[str, Any]) -> str | None:
    """The uri behind those of its bases, as far as they are known."""
    uri = artifact.get("uri")
    if not isinstance(uri, str):
        return None
    for _ in range(_DEEPEST_BASE):
        artifact = _map(bases.get(str(artifact.get("uriBaseId"))))
        base = artifact.get("uri")
        if not isinstance(base, str) or _is_absolute(uri):
            break
        uri = f"{base.rstrip('/')}/{uri}"
    return uri


def _is_absolute(uri: str) -> bool:
    return uri.startswith("/") or ":" in uri.partition("/")[0]


def _plain(uri: str) -> str:
    """The path of a uri; one that some tool has not encoded is taken as it is."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    # One letter is a drive of Windows, no scheme.
    return unquote(uri if len(parts.scheme) == 1 else parts.path, errors="surrogateescape")


def _function(location: Mapping[str, Any]) -> object:
    logical = _map(next(iter(_list(location, "logicalLocations")), None))
    return logical.get("fullyQualifiedName") or logical.get("name")


def _confidence(result: Mapping[str, Any]) -> object:
    """What the result says of itself, else its rank, which SARIF counts from 0 to 100."""
    stated, rank = _map(result.get("properties")).get("confidence"), result.get("rank")
    if stated is None and isinstance(rank, int | float) and not isinstance(rank, bool) and 0 <= rank <= 100:
        return rank / 100
    return stated


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object, name: str) -> list[Any]:
    found = _map(value).get(name)
    return found if isinstance(found, list) else []
