"""How texts lie in the file: UTF-8, compressed where that saves something, with the codec beside it.

zlib at level 1 packs a shard of 250 KB in 10 ms to 40 % of its size; level 6 takes 32 ms for 34 %. Model output may
hold lone surrogates, which SQLite's text columns cannot: bodies keep them, short columns show them as U+FFFD.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from planloom import StoreError

__all__ = [
    "DIGEST_BYTES",
    "GONE",
    "PLAIN",
    "ZLIB",
    "clean",
    "decode",
    "digest_of",
    "encode",
    "from_digests",
    "pack",
    "to_digests",
    "unpack",
]

PLAIN = 0
ZLIB = 1
GONE = 255
"""The codec of a text that was pruned: its row stays, for the money and the hash."""

_WORTH_PACKING_BYTES = 512
"""A shorter text costs more time to pack, some ten microseconds, than its few hundred bytes are worth."""
_LEVEL = 1


def to_bytes(text: str) -> bytes:
    """Return a text's UTF-8 form, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


_COMPACT = json.JSONEncoder(separators=(",", ":"))


def _encoder() -> Callable[[Any], str]:
    """Return what encodes as ``_COMPACT`` does, made once: the class makes its encoder in C anew for every value, which
    takes longer than most values do."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # not every Python has it
        return _COMPACT.encode
    pieces = make(None, _COMPACT.default, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True)

    def encoded(value: Any) -> str:
        try:
            return "".join(pieces(value, 0))
        except RecursionError:
            return _COMPACT.encode(value)  # which says what is wrong with it

    return encoded


encode = _encoder()
"""Return plain data as compact JSON."""


def digest_of(text: str) -> bytes:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(to_bytes(text)).digest()


def pack(text: str) -> tuple[bytes, int]:
    """Return a text's stored form and its codec."""
    plain = to_bytes(text)
    if len(plain) < _WORTH_PACKING_BYTES:
        return plain, PLAIN
    packed = zlib.compress(plain, _LEVEL)
    return (packed, ZLIB) if len(packed) < len(plain) else (plain, PLAIN)


def unpack(body: bytes, codec: int) -> str:
    """Return the text of a stored form.

    :raises StoreError: the codec is not known, or the bytes do not fit it.
    """
    try:
        if codec == PLAIN:
            return body.decode("utf-8", "surrogatepass")
        if codec != ZLIB:
            raise ValueError(f"no codec has the number {codec}")
        return zlib.decompress(body).decode("utf-8", "surrogatepass")
    except (ValueError, zlib.error) as error:
        raise StoreError(
            f"a text in the store is damaged ({error}); restore a copy of the store, or begin another with --store"
        ) from error


def clean(text: str) -> str:
    """Return a text that a text column can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def decode(text: str) -> Any:
    """Return the plain data of stored JSON.

    :raises StoreError: it is no JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"a record in the store is damaged ({error}); restore a copy of the store, or begin another with --store"
        ) from error


DIGEST_BYTES = 32
_HEX_DIGITS = 2 * DIGEST_BYTES


def to_digests(fingerprints: Sequence[str]) -> bytes:
    """Return fingerprints as one value."""
    return bytes.fromhex("".join(fingerprints))


def from_digests(stored: bytes) -> tuple[str, ...]:
    """Return stored fingerprints.

    :raises StoreError: they are none.
    """
    if not isinstance(stored, bytes) or len(stored) % DIGEST_BYTES:
        raise StoreError(
            "a record in the store is damaged (its fingerprints are none); restore a copy of the store, "
            "or begin another with --store"
        )
    text = stored.hex()
    if len(text) == _HEX_DIGITS:  # what nearly every worker has
        return (text,)
    return tuple([text[start : start + _HEX_DIGITS] for start in range(0, len(text), _HEX_DIGITS)])
