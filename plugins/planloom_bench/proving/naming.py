"""Under which names a file of a library can be imported, and from where.

A file in a package belongs to its outermost package, wherever that lies: in the root, below ``src``, or above the
folder that was given. A file in no package is one of a namespace, or a script whose neighbours are imported by their
bare names. Names are tried in order; the first that imports is kept for the file.
"""

from __future__ import annotations

from pathlib import Path

import attrs

__all__ = ["Naming", "find_import_root", "namings"]


@attrs.frozen(kw_only=True)
class Naming:
    """A module's name, with the folders that go first and last on the import path."""

    module: str
    first: tuple[str, ...]
    last: tuple[str, ...] = ()


def find_import_root(root: Path) -> Path:
    """The folder that a library's imports begin in."""
    source = root / "src"
    if source.is_dir() and not (source / "__init__.py").exists():
        return source
    return _above_packages(root)


def namings(path: Path, import_root: Path) -> tuple[Naming, ...]:
    """The ways to import the file ``path``, the likeliest first; both paths are absolute."""
    stem = () if path.name == "__init__.py" else (path.stem,)
    if path.name != "__init__.py" and not (path.parent / "__init__.py").exists():
        return _of_script(path, import_root)
    top = _above_packages(path.parent)
    first = tuple(dict.fromkeys((str(top), str(import_root))))
    inner = Naming(module=".".join((*path.parent.relative_to(top).parts, *stem)), first=first)
    if not path.is_relative_to(import_root):
        return (inner,)
    outer = Naming(module=".".join((*path.parent.relative_to(import_root).parts, *stem)), first=first)
    return tuple(naming for naming in dict.fromkeys((inner, outer)) if naming.module)


def _of_script(path: Path, import_root: Path) -> tuple[Naming, ...]:
    folder, root = str(path.parent), str(import_root)
    alone = Naming(module=path.stem, first=(folder, root))
    if path.parent == import_root or not path.is_relative_to(import_root):
        return (alone,)
    dotted = ".".join((*path.parent.relative_to(import_root).parts, path.stem))
    return Naming(module=dotted, first=(root,), last=(folder,)), alone


def _above_packages(folder: Path) -> Path:
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder
