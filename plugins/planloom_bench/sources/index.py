"""A version of a package, fetched by pip into a cache and pinned by its hash.

What is in the cache is used as it is, without a network, after its hash was compared with the one noted when it came.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import attrs

from planloom_bench._errors import BadSource

__all__ = ["Archive", "Requirement", "fetch"]

_WRITTEN = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==(?P<version>[A-Za-z0-9][A-Za-z0-9.!+_-]*)"
    r"(?:#sha256=(?P<sha256>[0-9a-fA-F]{64}))?"
)
_TIMEOUT_S = 300
_NOTE = ".sha256"


@attrs.frozen(kw_only=True)
class Requirement:
    """One version of one package, and the hash that its archive must have, where that was said."""

    name: str
    version: str
    sha256: str | None = None

    @classmethod
    def read(cls, written: str) -> Requirement:
        """The requirement in ``NAME==VERSION`` or ``NAME==VERSION#sha256=HASH``.

        :raises BadSource: it is written otherwise.
        """
        match = _WRITTEN.fullmatch(written)
        if match is None and "[" in written:
            raise BadSource(
                f"pypi:{written} names extras, which bring further packages; leave them out, and install what the "
                "examples import in the Python that runs planloom"
            )
        if match is None:
            raise BadSource(
                f"pypi:{written} names no version of a package; write pypi:NAME==VERSION (`pip index versions NAME` "
                "lists them), and #sha256=HASH behind it to demand the very same archive"
            )
        sha256 = match["sha256"]
        return cls(name=match["name"], version=match["version"], sha256=sha256.lower() if sha256 else None)

    @property
    def canonical(self) -> str:
        """The package's name as an index compares it."""
        return re.sub(r"[-_.]+", "-", self.name).lower()

    @property
    def folder(self) -> str:
        """What its folder is called."""
        return f"{self.canonical}-{self.version}"


@attrs.frozen
class Archive:
    """A fetched archive and its hash."""

    path: Path
    sha256: str


def fetch(requirement: Requirement, cache: Path, *, from_source: bool = False) -> Archive:
    """The archive of a package: the cached one, or else what pip downloads.

    :param from_source: the source archive. To learn what is in one, pip runs its own build code.
    :raises BadSource: it cannot be fetched, or is not the archive that it should be.
    """
    folder = cache / requirement.folder / ("source" if from_source else "wheel")
    if not folder.is_dir():
        _download(requirement, folder, from_source)
    found = [path for path in sorted(folder.iterdir()) if path.suffix != _NOTE]
    if len(found) != 1:
        raise BadSource(
            f"{folder} holds {len(found)} archives and should hold one; remove it, to fetch the package anew"
        )
    return _checked(found[0], requirement)


def _checked(path: Path, requirement: Requirement) -> Archive:
    sha256 = _digest(path)
    note = path.with_name(path.name + _NOTE)
    if not note.is_file() or note.read_text(encoding="ascii").strip() != sha256:
        raise BadSource(f"{path} is not what was fetched; remove {path.parent}, to fetch the package anew")
    if requirement.sha256 not in (None, sha256):
        raise BadSource(
            f"{path.name} has the hash {sha256}, and {requirement.sha256} was asked for; another archive was "
            "published, or this machine takes another wheel: leave the hash out to take this one"
        )
    return Archive(path, sha256)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(requirement: Requirement, folder: Path, from_source: bool) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    arriving = Path(tempfile.mkdtemp(prefix=".arriving-", dir=folder.parent))
    try:
        _run_pip(requirement, arriving, from_source)
        for path in list(arriving.iterdir()):
            path.with_name(path.name + _NOTE).write_text(_digest(path) + "\n", encoding="ascii")
        # At once or not at all, so that nobody takes half an archive for a whole one.
        arriving.rename(folder)
    except OSError as error:
        if not folder.is_dir():
            raise BadSource(f"{folder} cannot be written ({error}); give another folder with --cache") from error
    finally:
        shutil.rmtree(arriving, ignore_errors=True)


def _run_pip(requirement: Requirement, into: Path, from_source: bool) -> None:
    wanted = f"{requirement.name}=={requirement.version}"
    kind = "--no-binary" if from_source else "--only-binary"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--disable-pip-version-check"]
    command += ["--quiet", kind, ":all:", "--dest", str(into), wanted]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words and a requirement of known form
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise BadSource(
            f"pip fetched nothing of {wanted} in {_TIMEOUT_S} s; look to the network, and try again"
        ) from error
    if done.returncode != 0:
        raise BadSource(f"pip cannot fetch {wanted}: {_said(done.stderr)}; {_advice(done.stderr, from_source)}")


def _said(errors: str) -> str:
    lines = [line.partition("ERROR: ")[2] or line for line in errors.splitlines() if line.strip()]
    wanted = [line for line in lines if "requirement" in line or "No module named" in line] or lines
    return wanted[0].strip()[:400] if wanted else "it gives no reason"


def _advice(errors: str, from_source: bool) -> str:
    if "No module named pip" in errors:
        return "run `python -m ensurepip`, or unpack the package yourself and give its folder"
    if "from versions: none" in errors and not from_source:
        return "check the name and the network; a package that comes without wheels needs --from-source"
    return "check the name, the version and the network"
