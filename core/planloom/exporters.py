"""Exporters: file formats that a kit's report can be written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .data_classes import frozen

__all__ = ["Exporter"]


@frozen(kw_only=True)
class Exporter:
    """One file format.

    :ivar name: what messages call it, unique over all kits.
    :ivar kit: the kit whose reports it reads. :ivar file_name: what it writes below ``--out``.
    :ivar export: gives the file's text from the kit's report object; no I/O.
    """

    name: str
    kit: str
    file_name: str
    export: Callable[[Any], str]
