"""Answers that come packed, piece by piece; never more is unpacked at once than is asked for."""

from __future__ import annotations

import zlib

__all__ = ["Unpackable", "Unpacker"]

_GZIP_OR_ZLIB = zlib.MAX_WBITS + 32
_BARE = -zlib.MAX_WBITS
_HEADER_OF_ZLIB = 8


class Unpackable(Exception):
    """What came is not packed as the server says."""


class Unpacker:
    """Unpacks one answer.

    :param packed_as: what the header ``Content-Encoding`` says.
    """

    def __init__(self, packed_as: str) -> None:
        self._name = packed_as.strip().lower()
        if self._name not in ("gzip", "x-gzip", "deflate", "identity"):
            raise Unpackable(f"it is packed as `{packed_as[:40]}`, which was not asked for")
        self._zlib: zlib._Decompress | None = None

    def unpack(self, piece: bytes, most_bytes: int) -> bytes:
        """Return the next piece of the answer, at most so many bytes of it.

        :param piece: not empty. :raises Unpackable: it is damaged.
        """
        if self._name == "identity":
            return piece
        if self._zlib is None:
            # Some servers leave out the header that `deflate` should have.
            is_bare = self._name == "deflate" and piece[0] & 15 != _HEADER_OF_ZLIB
            self._zlib = zlib.decompressobj(_BARE if is_bare else _GZIP_OR_ZLIB)
        try:
            return self._zlib.decompress(piece, most_bytes)
        except zlib.error as error:
            raise Unpackable(str(error)) from error
