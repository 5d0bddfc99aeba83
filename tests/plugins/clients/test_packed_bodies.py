"""Bodies that come packed: in members, in layers, without their frames, far too large, or not at all as they say."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest

from planloom.clients import PermanentError, TransientError
from planloom.testing.loopback import Served

from .ways import IDS, WAYS, Way, ask, fault, packed_blanks

pytestmark = pytest.mark.parametrize("way", WAYS, ids=IDS)


def bare(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def in_members(body: bytes) -> bytes:
    return b"".join(gzip.compress(body[at : at + 50]) for at in range(0, len(body), 50))


PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "in members": ("gzip", in_members),
    "in members, one of them empty": ("gzip", lambda body: gzip.compress(b"") + in_members(body)),
    "by the older name": ("X-GZIP", gzip.compress),
    "filled up with zeros": ("gzip", lambda body: gzip.compress(body) + bytes(512)),
    "without the sum at its end": ("gzip", lambda body: gzip.compress(body)[:-8]),
    "deflate": ("deflate", zlib.compress),
    "deflate without its frame": ("deflate", bare),
    "in two layers": ("deflate, gzip", lambda body: gzip.compress(zlib.compress(body))),
    "in two layers, of which one is none": ("identity, gzip", gzip.compress),
    "as nothing": ("", lambda body: body),
}


@pytest.mark.parametrize("size_bytes", [1, 7, 100_000])
@pytest.mark.parametrize(("encoding", "pack"), PACKED.values(), ids=PACKED.keys())
def test_a_packed_answer_is_had_however_it_is_cut(
    way: Way, encoding: str, pack: Callable[[bytes], bytes], size_bytes: int
) -> None:
    answer = way.answer()
    headers = {**answer.headers, "content-encoding": encoding}
    served = Served(body=pack(answer.body), headers=headers).in_chunks().trickled(size_bytes, 0.0)
    assert ask(way, served).text == "yes"


@pytest.mark.parametrize(
    ("encoding", "body", "said"),
    [
        ("br", b"\x0b\x02\x80yes\x03", "it is packed as br, which was not asked for"),
        ("gzip, zstd", b"\x28\xb5\x2f\xfd", "it is packed as zstd, which was not asked for"),
        (", ".join(["gzip"] * 100), gzip.compress(b"{}"), "it is packed 100 times over"),
        ("gzip", b"{}", "incorrect header check"),
        ("gzip, gzip", gzip.compress(b"{}"), "incorrect header check"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"") * 20_000), "it has more than 10,000 members"),
    ],
    ids=["br", "zstd", "a hundred layers", "not packed", "not packed twice", "members without end"],
)
def test_what_cannot_be_unpacked_is_said_with_why(way: Way, encoding: str, body: bytes, said: str) -> None:
    caught = fault(way, Served(body=body, headers={"content-encoding": encoding}))
    assert (type(caught), caught.error_class, caught.maybe_billed) == (TransientError, "malformed", True)
    assert f"sent an answer that cannot be unpacked: {said}" in str(caught)


def test_some_bytes_that_become_a_gigabyte_are_refused_while_they_are_unpacked(way: Way) -> None:
    body = gzip.compress(packed_blanks(1_000))
    assert len(body) < 20_000
    caught = fault(way, Served(body=body, headers={"content-encoding": "gzip, gzip"}))
    assert (type(caught), caught.error_class, caught.maybe_billed) == (PermanentError, "malformed", True)
    assert "more than 67,108,864 bytes" in str(caught)
