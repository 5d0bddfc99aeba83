"""What a person may write for a library, and the folder on this machine that it stands for.

``pypi:NAME==VERSION`` is fetched, ``FOLDER@REVISION`` is taken out of git's store, and anything else is a folder that
is read where it lies. What is fetched or taken out goes into a scratch folder; no work tree and no cache is changed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import attrs

from planloom_bench._errors import BadSource

from .archives import top_of, unpack
from .index import Requirement, fetch
from .licences import find_licence
from .naming import name_of
from .paths import is_folder
from .revisions import check_out

__all__ = ["Source", "open_source"]

_INDEX = "pypi:"


@attrs.frozen(kw_only=True)
class Source:
    """A library on this machine, and what it takes to get the very same one again.

    :ivar root: the folder that holds it; it is read and never written.
    :ivar fetched: whether ``root`` is a copy of ours, in which nothing was left out by rules of its surroundings.
    :ivar licence: an SPDX identifier where one is stated or recognised; None where nothing is said.
    :ivar pins: what a manifest keeps: the kind of source, and the revision or the archive with its hash.
    """

    name: str
    root: Path
    fetched: bool
    version: str | None
    licence: str | None
    pins: Mapping[str, str]


def open_source(
    written: str, *, scratch: Path, cache: Path | None = None, revision: str | None = None, from_source: bool = False
) -> Source:
    """The library that ``written`` names.

    :param scratch: a folder for what is fetched or taken out; what it held is replaced.
    :param cache: the folder of fetched archives; the user's cache by default.
    :param revision: a revision of the checkout at ``written``, instead of ``@REVISION`` in it.
    :param from_source: fetch the source archive, not the wheel.
    :raises BadSource: there is no such library, or it cannot be fetched.
    """
    if written.startswith(_INDEX):
        _refuse_revision(written, revision)
        requirement = Requirement.read(written.removeprefix(_INDEX))
        return _from_index(requirement, scratch, cache or _default_cache(), from_source)
    folder, at = _folder_and_revision(written)
    if revision and at:
        raise BadSource(f"{written} names a revision and so does --revision {revision}; give one of them")
    chosen = revision or at
    return _from_git(folder, chosen, scratch) if chosen else _from_folder(folder)


def _default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "planloom" / "packages"


def _refuse_revision(written: str, revision: str | None) -> None:
    if revision:
        raise BadSource(f"{written} names its version itself; leave out --revision {revision}")


def _folder_and_revision(written: str) -> tuple[Path, str | None]:
    """The folder, and what follows an ``@``; a folder with an ``@`` in its name stands for itself."""
    if is_folder(Path(written)):
        return Path(written), None
    for at, sign in enumerate(written):
        if sign == "@" and is_folder(Path(written[:at] or ".")):
            return Path(written[:at] or "."), written[at + 1 :] or "HEAD"
    raise BadSource(
        f"there is no folder {written}; give a folder, a checkout as FOLDER@REVISION or a package as pypi:NAME==VERSION"
    )


def _from_folder(folder: Path) -> Source:
    root = folder.resolve()
    return Source(
        name=name_of(root.name),
        root=root,
        fetched=False,
        version=None,
        licence=find_licence(root),
        pins={"kind": "folder"},
    )


def _from_git(folder: Path, revision: str, scratch: Path) -> Source:
    root = _emptied(scratch) / name_of(folder.resolve().name)
    commit = check_out(folder, revision, root)
    return Source(
        name=root.name,
        root=root,
        fetched=True,
        version=commit[:12],
        licence=find_licence(root) or find_licence(folder.resolve()),
        pins={"kind": "git", "commit": commit},
    )


def _from_index(requirement: Requirement, scratch: Path, cache: Path, from_source: bool) -> Source:
    archive = fetch(requirement, cache, from_source=from_source)
    folder = _emptied(scratch) / requirement.folder
    unpack(archive.path, folder)
    root = top_of(folder, archive.path)
    return Source(
        name=requirement.canonical,
        root=root,
        fetched=True,
        version=requirement.version,
        licence=find_licence(root),
        pins={"kind": "index", "archive": archive.path.name, "archive_sha256": archive.sha256},
    )


def _emptied(scratch: Path) -> Path:
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    return scratch.resolve()
