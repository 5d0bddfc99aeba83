"""Packed answers, however they are cut into pieces."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.wire._unpacking import Unpackable, Unpacker

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate ": lambda data: zlib.compress(data)[2:-4],  # without the header, as some servers send it
    "identity": lambda data: data,
}


@given(name=st.sampled_from(sorted(PACKERS)), data=st.binary(min_size=1, max_size=500), size=st.integers(1, 200))
def test_what_was_packed_comes_out_however_it_arrives(name: str, data: bytes, size: int) -> None:
    packed, unpacker = PACKERS[name](data), Unpacker(name)
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    assert b"".join(unpacker.unpack(piece, 1_000) for piece in pieces) == data


def test_no_more_is_unpacked_than_is_asked_for() -> None:
    assert len(Unpacker("gzip").unpack(gzip.compress(b" " * 1_000_000), 1_000)) == 1_000


def test_a_form_that_was_not_asked_for_is_named() -> None:
    with pytest.raises(Unpackable, match="packed as `br`"):
        Unpacker("br")


def test_what_is_not_packed_as_it_says_is_refused() -> None:
    with pytest.raises(Unpackable, match="header"):
        Unpacker("gzip").unpack(b"not packed at all", 1_000)
