"""A library may be a folder, a revision of a checkout or a package of the index; none of them is changed or trusted."""

import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from planloom_bench import BadSource
from planloom_bench.sources import Requirement, Source, fetch, open_source, unpack
from planloom_bench.sources import archives as archives_module
from planloom_bench.sources.archives import top_of
from planloom_bench.sources.licences import find_licence

METADATA = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\nLicense: MIT\n\nWords.\n"
WHEEL = {
    "tiny/__init__.py": "X = 1\n",
    "tiny/table.dat": "data\n",
    "tiny-1.0.data/purelib/tiny/more.py": "Y = 2\n",
    "tiny-1.0.data/scripts/tiny": "#!python\n",
    "tiny-1.0.dist-info/METADATA": METADATA,
    "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "tiny-1.0.dist-info/RECORD": "",
}


def zipped(path: Path, files: dict[str, str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def tarred(path: Path, files: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for name, target in (links or {}).items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
    return path


def files_of(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for the whole package index."""
    folder = tmp_path / "index"
    zipped(folder / "tiny-1.0-py3-none-any.whl", WHEEL)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "lib").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "lib" / "a.py").write_text("A = 1\n")
    (folder / "lib" / "link.py").symlink_to("a.py")
    (folder / "lib" / "$Format.py").write_text("# $Format:%H$\n")
    (folder / ".gitattributes").write_text("*.py export-subst\nlib/a.py export-ignore\n")
    (folder / "LICENSE").write_text("Permission is hereby granted, free of charge,\nto any person obtaining a copy\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "tag", "v1")
    (folder / "lib" / "a.py").write_text("A = 2\n")
    git(folder, "commit", "-qam", "second")
    (folder / "lib" / "a.py").write_text("A = 3\n")
    return folder


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def opened(written: object, tmp_path: Path, revision: str | None = None) -> Source:
    return open_source(str(written), scratch=tmp_path / "scratch", cache=tmp_path / "cache", revision=revision)


def test_a_folder_is_read_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "lib@2").mkdir()
    source = opened(tmp_path / "lib@2", tmp_path)
    assert (source.root, source.fetched, source.name) == (tmp_path / "lib@2", False, "lib-2")


def test_a_revision_is_taken_from_the_store_and_the_work_tree_stays(checkout: Path, tmp_path: Path) -> None:
    before = git(checkout, "status", "--porcelain")
    source = opened(f"{checkout}@v1", tmp_path)
    assert (source.root / "lib" / "a.py").read_text() == "A = 1\n"
    assert git(checkout, "status", "--porcelain") == before == " M lib/a.py\n"
    assert (checkout / "lib" / "a.py").read_text() == "A = 3\n"


def test_a_revision_holds_its_files_as_they_were_committed_without_links(checkout: Path, tmp_path: Path) -> None:
    root = opened(checkout, tmp_path, revision="HEAD~1").root
    assert set(files_of(root)) == {".gitattributes", "LICENSE", "lib/$Format.py", "lib/a.py"}
    assert (root / "lib" / "$Format.py").read_text() == "# $Format:%H$\n"


def test_a_folder_of_a_checkout_is_a_library_of_its_own(checkout: Path, tmp_path: Path) -> None:
    source = opened(f"{checkout / 'lib'}@HEAD", tmp_path)
    assert files_of(source.root)["a.py"] == "A = 2\n"
    assert source.pins == {"kind": "git", "commit": git(checkout, "rev-parse", "HEAD").strip()}


@pytest.mark.parametrize("revision", ["nonsense", "--help", "v1:lib"])
def test_a_revision_that_does_not_exist_is_named(checkout: Path, tmp_path: Path, revision: str) -> None:
    with pytest.raises(BadSource, match=f"has no revision {revision}"):
        opened(checkout, tmp_path, revision=revision)


def test_a_folder_that_is_no_checkout_has_no_revisions(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(BadSource, match="not a git repository"):
        opened(f"{tmp_path / 'plain'}@HEAD", tmp_path)


def test_two_revisions_are_one_too_many(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="give one of them"):
        opened(f"{checkout}@v1", tmp_path, revision="HEAD")


def test_a_package_is_fetched_once_and_then_used_without_the_index(index: Path, tmp_path: Path) -> None:
    first = opened("pypi:Tiny==1.0", tmp_path)
    (index / "tiny-1.0-py3-none-any.whl").unlink()
    second = opened("pypi:tiny==1.0", tmp_path)
    assert first == second
    assert files_of(second.root)["tiny/more.py"] == "Y = 2\n"
    assert "tiny" not in files_of(second.root)
    assert (second.version, second.licence, second.pins["archive"]) == ("1.0", "MIT", "tiny-1.0-py3-none-any.whl")


def test_a_package_whose_hash_is_another_than_was_asked_for_is_refused(index: Path, tmp_path: Path) -> None:
    sha256 = opened("pypi:tiny==1.0", tmp_path).pins["archive_sha256"]
    assert opened(f"pypi:tiny==1.0#sha256={sha256}", tmp_path).version == "1.0"
    with pytest.raises(BadSource, match=f"has the hash {sha256}, and {'0' * 64} was asked for"):
        opened(f"pypi:tiny==1.0#sha256={'0' * 64}", tmp_path)


def test_a_cached_archive_that_was_changed_is_refused(index: Path, tmp_path: Path) -> None:
    archive = fetch(Requirement.read("tiny==1.0"), tmp_path / "cache").path
    archive.write_bytes(archive.read_bytes() + b" ")
    with pytest.raises(BadSource, match="is not what was fetched; remove"):
        opened("pypi:tiny==1.0", tmp_path)


def test_a_version_that_does_not_exist_is_said_plainly(index: Path, tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"pip cannot fetch tiny==9\.9: .*tiny==9\.9.*; check the name"):
        opened("pypi:tiny==9.9", tmp_path)
    assert list((tmp_path / "cache" / "tiny-9.9").iterdir()) == []


@pytest.mark.parametrize(
    "written", ["tiny", "tiny>=1", "--help==1", "a==1 -r x", "tiny==1#sha256=12", "==1", "../x==1"]
)
def test_what_names_no_version_of_a_package_is_refused(written: str, tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="write pypi:NAME==VERSION"):
        opened(f"pypi:{written}", tmp_path)


def test_extras_of_a_package_are_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="names extras, which bring further packages; leave them out"):
        open_source("pypi:requests[socks]==2.32.3", scratch=tmp_path / "scratch")


def test_a_package_has_no_revisions(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="names its version itself"):
        opened("pypi:tiny==1.0", tmp_path, revision="HEAD")


def test_what_is_no_source_at_all_is_named_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"there is no folder nowhere.*FOLDER@REVISION.*pypi:NAME==VERSION"):
        opened("nowhere", tmp_path)


@pytest.mark.parametrize(
    "path", ["../out.py", "/out.py", "a/../../out.py", "C:/out.py", "a\\..\\..\\out.py", "a//b.py"]
)
def test_an_archive_cannot_write_elsewhere(path: str, tmp_path: Path) -> None:
    for archive in (
        zipped(tmp_path / "tiny.whl", {path: "X = 1\n"}),
        tarred(tmp_path / "tiny.tar.gz", {path: b"X = 1\n"}),
    ):
        with pytest.raises(BadSource, match="leads out of the library's folder"):
            unpack(archive, tmp_path / f"into-{archive.suffix}")
    assert not list(tmp_path.rglob("out.py"))


def test_a_source_archive_begins_in_its_one_top_folder(tmp_path: Path) -> None:
    archive = tarred(
        tmp_path / "tiny-1.0.tar.gz", {"tiny-1.0/tiny/a.py": b"", "./tiny-1.0/PKG-INFO": b"License: ISC\n"}
    )
    unpack(archive, tmp_path / "into")
    top = top_of(tmp_path / "into", archive)
    assert (top.name, find_licence(top)) == ("tiny-1.0", "ISC")


def test_links_of_an_archive_are_passed_over(tmp_path: Path) -> None:
    archive = tarred(tmp_path / "tiny.tar.gz", {"tiny/a.py": b""}, {"tiny/b.py": "/etc/passwd", "tiny/c": ".."})
    unpack(archive, tmp_path / "into")
    assert files_of(tmp_path / "into") == {"tiny/a.py": ""}


def test_links_in_a_zip_are_passed_over(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("tiny/b.py")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "tiny.whl", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("tiny/a.py", "")
    unpack(tmp_path / "tiny.whl", tmp_path / "into")
    assert files_of(tmp_path / "into") == {"tiny/a.py": ""}


def test_an_archive_that_grows_beyond_measure_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives_module, "MOST_BYTES", 1000)
    with pytest.raises(BadSource, match="unpacks to more than 1,000 bytes"):
        unpack(tarred(tmp_path / "tiny.tar.gz", {"tiny/a.py": bytes(5000)}), tmp_path / "into")


@pytest.mark.parametrize("data", [b"", b"no archive", b"PK\x03\x04 broken", b"\x1f\x8b\x08\x00 broken"])
def test_a_broken_archive_is_named(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "tiny.whl").write_bytes(data)
    with pytest.raises(BadSource, match="cannot be unpacked"):
        unpack(tmp_path / "tiny.whl", tmp_path / "into")


def test_a_folder_that_cannot_be_written_is_not_held_against_the_archive(tmp_path: Path) -> None:
    (tmp_path / "into").write_text("a file")
    archive = tarred(tmp_path / "tiny.tar.gz", {"tiny/a.py": b""})
    with pytest.raises(OSError, match="into"):
        unpack(archive, tmp_path / "into")


@pytest.mark.parametrize(
    ("name", "text", "licence"),
    [
        ("pyproject.toml", '[project]\nlicense = "BSD-3-Clause"\n', "BSD-3-Clause"),
        ("pyproject.toml", '[project]\nlicense = {text = "ISC"}\n', "ISC"),
        ("PKG-INFO", "License-Expression: 0BSD\n", "0BSD"),
        (
            "x-1.dist-info/METADATA",
            "Classifier: License :: OSI Approved :: zlib/libpng License\n",
            "zlib/libpng License",
        ),
        ("COPYING", "GNU LESSER GENERAL PUBLIC LICENSE\n     Version 2.1, February 1999\n", "LGPL-2.1"),
        ("LICENCE.txt", "Apache License\n   Version 2.0, January 2004\n", "Apache-2.0"),
        ("LICENSE", "Do as you like.\n", "see LICENSE"),
        ("README", "MIT", None),
    ],
)
def test_a_licence_is_found_where_libraries_state_it(tmp_path: Path, name: str, text: str, licence: str | None) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert find_licence(tmp_path) == licence
