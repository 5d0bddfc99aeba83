"""What auditors read of a library: which files, their texts without examples and with bugs, and their folder."""

from __future__ import annotations

from .choosing import Chosen, choose
from .clean import clean_texts, write_clean
from .manifest import manifest_of
from .noticed import noticed_by_mypy
from .texts import CopiedFile, copied_files, key_of
from .writing import FILE_TIME, write_benchmark, write_tree

__all__ = [
    "FILE_TIME",
    "Chosen",
    "CopiedFile",
    "choose",
    "clean_texts",
    "copied_files",
    "key_of",
    "manifest_of",
    "noticed_by_mypy",
    "write_benchmark",
    "write_clean",
    "write_tree",
]
