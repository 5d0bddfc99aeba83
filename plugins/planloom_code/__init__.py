"""Source code as audits need it: found, decoded, numbered, packed, and findings tied to places in it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planloom_code._discover import Discovery, FoundFile, discover
    from planloom_code._errors import (
        BadPattern,
        CodeError,
        FileChanged,
        HiddenKey,
        NoSuchPath,
        NotInTree,
        NotSource,
        Unparsable,
        Unreadable,
    )
    from planloom_code._findings import Finding, Malformed, dedupe, key_of, normalise, normalise_all
    from planloom_code._grammar import GRAMMAR, parse
    from planloom_code._lines import count_lines, split_lines
    from planloom_code._naming import FileNames
    from planloom_code._numbering import CHARACTERS_A_TOKEN, numbered_lines
    from planloom_code._pack import Packable, Shard, pack, repack
    from planloom_code._places import Place, Places
    from planloom_code._source import (
        ParseProblem,
        Skipped,
        SourceFile,
        numbered,
        read_source,
        render,
        shown_path,
        source_of,
        unparsable,
    )
    from planloom_code._splitting import Piece, split_file
    from planloom_code._tree import FileInfo, SourceTree

__all__ = [
    "CHARACTERS_A_TOKEN",
    "GRAMMAR",
    "BadPattern",
    "CodeError",
    "Discovery",
    "FileChanged",
    "FileInfo",
    "FileNames",
    "Finding",
    "FoundFile",
    "HiddenKey",
    "Malformed",
    "NoSuchPath",
    "NotInTree",
    "NotSource",
    "Packable",
    "ParseProblem",
    "Piece",
    "Place",
    "Places",
    "Shard",
    "Skipped",
    "SourceFile",
    "SourceTree",
    "Unparsable",
    "Unreadable",
    "count_lines",
    "dedupe",
    "discover",
    "key_of",
    "normalise",
    "normalise_all",
    "numbered",
    "numbered_lines",
    "pack",
    "parse",
    "read_source",
    "render",
    "repack",
    "shown_path",
    "source_of",
    "split_file",
    "split_lines",
    "unparsable",
]

_PARTS = {
    "_discover": (
        "Discovery",
        "FoundFile",
        "discover",
    ),
    "_errors": (
        "BadPattern",
        "CodeError",
        "FileChanged",
        "HiddenKey",
        "NoSuchPath",
        "NotInTree",
        "NotSource",
        "Unparsable",
        "Unreadable",
    ),
    "_findings": (
        "Finding",
        "Malformed",
        "dedupe",
        "key_of",
        "normalise",
        "normalise_all",
    ),
    "_grammar": (
        "GRAMMAR",
        "parse",
    ),
    "_lines": (
        "count_lines",
        "split_lines",
    ),
    "_naming": ("FileNames",),
    "_numbering": (
        "CHARACTERS_A_TOKEN",
        "numbered_lines",
    ),
    "_pack": (
        "Packable",
        "Shard",
        "pack",
        "repack",
    ),
    "_places": (
        "Place",
        "Places",
    ),
    "_source": (
        "ParseProblem",
        "Skipped",
        "SourceFile",
        "numbered",
        "read_source",
        "render",
        "shown_path",
        "source_of",
        "unparsable",
    ),
    "_splitting": (
        "Piece",
        "split_file",
    ),
    "_tree": (
        "FileInfo",
        "SourceTree",
    ),
}


def __getattr__(name: str) -> Any:
    """Import a part when it is first asked for: who reads findings need not wait for what walks trees."""
    from importlib import import_module

    for module, names in _PARTS.items():
        if name in names:
            globals()[name] = getattr(import_module(f".{module}", __name__), name)
            return globals()[name]
    raise AttributeError(f"module 'planloom_code' has no attribute {name!r}")
