"""File names as SARIF's uris: relative, percent-encoded, with forward slashes."""

from __future__ import annotations

from urllib.parse import quote

__all__ = ["uri_of"]


def uri_of(file: str, below: str = "") -> str:
    """The uri of a file of the audited folder, which lies ``below`` in its repository.

    Every byte that RFC 3986 does not leave unreserved is escaped, so ``#``, ``%`` and ``:`` stay part of the name.
    """
    parts = [part.strip("/") for part in (below.removeprefix("./"), file) if part.strip("/.")]
    return quote(_bytes("/".join(parts)), safe="/")


def _bytes(path: str) -> bytes:
    """The name's bytes on disk; a name that no disk can hold still gets some."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
