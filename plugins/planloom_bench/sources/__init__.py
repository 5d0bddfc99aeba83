"""Where a library to plant bugs in comes from: a folder, a revision of a git checkout, or the package index."""

from __future__ import annotations

from .archives import unpack
from .index import Requirement, fetch
from .opening import Source, open_source
from .paths import is_folder
from .revisions import check_out

__all__ = ["Requirement", "Source", "check_out", "fetch", "is_folder", "open_source", "unpack"]
