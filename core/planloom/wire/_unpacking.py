"""Bodies that come packed, unpacked piece by piece and never beyond a limit.

Ours and not the HTTP library's, which takes whole what a piece becomes (a body that is packed twice becomes a million
times what it was), knows one member of gzip of the many that a body may have, and not the older name of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

__all__ = ["TooLarge", "Unpackable", "Unpacker"]

GZIP = frozenset({"gzip", "x-gzip"})
UNASKED = frozenset({"br", "compress", "x-compress", "zstd"})
MOST_LAYERS = 3
MOST_MEMBERS = 10_000  # of which a body of nothing else takes a tenth of a second
PIECE_BYTES = 64 * 1024
_MAGIC_BYTES = 2
_GZIP_MAGIC = b"\x1f\x8b"


class TooLarge(Exception):
    """The body is larger than any answer."""


class Unpackable(Exception):
    """The body is not what it is said to be packed as."""


class Unpacker:
    """Undoes what a body is packed as; a way that nobody knows is taken for none.

    :param encodings: what the header ``content-encoding`` says. :param limit_bytes: what may come of each layer.
    :raises Unpackable: it is packed in a way that was not asked for, or in too many layers.
    """

    def __init__(self, encodings: str, limit_bytes: int) -> None:
        names = [name.strip().lower() for name in encodings.split(",")]
        if unasked := UNASKED.intersection(names):
            raise Unpackable(f"it is packed as {min(unasked)}, which was not asked for")
        known = [name for name in names if name in GZIP or name == "deflate"]
        if len(known) > MOST_LAYERS:
            raise Unpackable(f"it is packed {len(known)} times over")
        self._layers = [_Layer(name in GZIP, limit_bytes) for name in reversed(known)]

    def unpack(self, piece: bytes, depth: int = 0) -> Iterator[bytes]:
        """Yield what a piece becomes.

        :raises Unpackable: it is nothing that was packed. :raises TooLarge: it becomes more than the limit.
        """
        if depth == len(self._layers):
            yield piece
            return
        for part in self._layers[depth].unpack(piece):
            yield from self.unpack(part, depth + 1)


class _Layer:
    """One layer of packing: gzip of one member after the other, or deflate with its frame or without."""

    def __init__(self, is_gzip: bool, limit_bytes: int) -> None:
        self._is_gzip = is_gzip
        self._left_bytes = limit_bytes
        self._members = 0
        self._over = False
        self._held = b""
        self._member: zlib._Decompress | None = None

    def unpack(self, piece: bytes) -> Iterator[bytes]:
        data, self._held = self._held + piece, b""
        is_full = False
        while (data or is_full) and not self._over:
            if self._member is None:
                if len(data) < _MAGIC_BYTES:  # which tell what begins here
                    self._held = data
                    return
                self._begin(data)
                continue
            try:
                part = self._member.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                raise Unpackable(str(error).rpartition(": ")[2]) from error  # not the number and the function
            is_full = len(part) == PIECE_BYTES
            data = self._member.unconsumed_tail
            if self._member.eof:
                data, self._member, is_full = self._member.unused_data, None, False
                self._over = not self._is_gzip
            if part:
                self._count(part)
                yield part

    def _begin(self, data: bytes) -> None:
        self._members += 1
        if self._members > 1 and not data.startswith(_GZIP_MAGIC):
            self._over = True  # blanks that fill it up, which gzip itself leaves unread too
        elif self._members > MOST_MEMBERS:
            raise Unpackable(f"it has more than {MOST_MEMBERS:,} members")
        elif self._is_gzip:
            self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        else:
            is_framed = data[0] & 15 == zlib.DEFLATED and int.from_bytes(data[:2]) % 31 == 0
            self._member = zlib.decompressobj(zlib.MAX_WBITS if is_framed else -zlib.MAX_WBITS)

    def _count(self, part: bytes) -> None:
        self._left_bytes -= len(part)
        if self._left_bytes < 0:
            raise TooLarge
