"""Unpacking what a package index gave: regular files alone, below one folder, up to a size.

An archive is a stranger's: its paths may lead elsewhere, its links may point anywhere, and its few bytes may stand for
billions. Bytes are counted as they are written, for the sizes that an archive states may be wrong.
"""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from planloom_bench._errors import BadSource

from .paths import place_below

__all__ = ["top_of", "unpack"]

# Some ten times what the largest pure Python packages hold.
MOST_BYTES = 512 * 1024 * 1024
MOST_FILES = 100_000
_CHUNK_BYTES = 1024 * 1024
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError, RuntimeError)


def unpack(archive: Path, folder: Path) -> None:
    """Write the regular files of a wheel or a source archive below a new folder; links are passed over.

    A wheel's files land where an installer would put them, scripts and data apart, which it leaves out.

    :raises BadSource: the archive is broken, too large, or has a path that leads out of the folder.
    :raises OSError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True)
        room = MOST_BYTES
        for count, (name, stream) in enumerate(_members(archive), start=1):
            if count > MOST_FILES:
                raise BadSource(f"{archive.name} holds more than {MOST_FILES:,} files; it is not unpacked")
            room -= _write(stream, place_below(folder, name), room)
            if room < 0:
                raise BadSource(f"{archive.name} unpacks to more than {MOST_BYTES:,} bytes; it is not unpacked")
    except _BROKEN as error:
        # A number means that this system refused something, and the archive may be sound.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BadSource(f"{archive} cannot be unpacked ({error}); remove it, so that it is fetched again") from error


def top_of(folder: Path, archive: Path) -> Path:
    """The folder that a library begins in: of a source archive its one top folder."""
    inside = list(folder.iterdir())
    return inside[0] if archive.suffix != ".whl" and len(inside) == 1 and inside[0].is_dir() else folder


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if zipfile.is_zipfile(archive):
        yield from _of_zip(archive, is_wheel=archive.suffix == ".whl")
    else:
        yield from _of_tar(archive)


def _of_zip(archive: Path, *, is_wheel: bool) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as opened:
        for member in opened.infolist():
            # The upper half of the attributes is the mode, where a Unix wrote it; 0o120000 marks a link.
            is_link = (member.external_attr >> 16) & 0o170000 == 0o120000
            name = _installed(member.filename) if is_wheel else member.filename
            if name and not member.is_dir() and not is_link:
                with opened.open(member) as stream:
                    yield name, stream


def _installed(name: str) -> str:
    """Where an installer puts a wheel's file; empty when that is not among the modules."""
    top, _, rest = name.partition("/")
    if not top.endswith(".data"):
        return name
    scheme, _, place = rest.partition("/")
    return place if scheme in ("purelib", "platlib") else ""


def _of_tar(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(archive) as opened:
        for member in opened:
            stream = opened.extractfile(member) if member.isreg() else None
            if stream is not None:
                yield member.name.removeprefix("./"), stream


def _write(stream: IO[bytes], target: Path, room: int) -> int:
    """Copy a stream; gives the bytes written, which end soon after ``room``."""
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with target.open("xb") as out:
        while size <= room and (chunk := stream.read(_CHUNK_BYTES)):
            out.write(chunk)
            size += len(chunk)
    return size
