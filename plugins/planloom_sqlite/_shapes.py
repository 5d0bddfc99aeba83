"""Events as they are stored: the number of a shape, which is a type with the names of its fields, and their values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from planloom import StoreError
from planloom.stores import Event

from ._packing import decode, encode

__all__ = ["event_from", "shape_of", "type_of", "values_of"]

_BESIDE_NAME = '"\n'
"""A quote and a line break, which JSON has no use for: they stand for the name of the run that an event is of, whose
threads' ids begin with it."""


def shape_of(kind: str, data: Mapping[str, Any]) -> str:
    """Return what events with these fields have in common, as it is stored: their type, and the names of the fields."""
    return _shape(kind, tuple(data))


@lru_cache(256)
def _shape(kind: str, fields: tuple[str, ...]) -> str:
    return encode([kind, *fields])


@lru_cache(256)
def _fields(shape: str) -> tuple[str, tuple[str, ...]]:
    kind, *fields = decode(shape)
    return kind, tuple(fields)


def type_of(shape: str) -> str:
    """Return the type of the events of a shape."""
    return _fields(shape)[0]


def values_of(run: str, data: Mapping[str, Any]) -> str:
    """Return the values of an event's fields as they are stored: as JSON, with a mark where texts begin as threads do
    of that run."""
    return encode(list(data.values())).replace(*_marked(run))


@lru_cache(16)
def _marked(run: str) -> tuple[str, str]:
    return f"{encode(run)[:-1]}/", f"{_BESIDE_NAME}/"


def event_from(run: str, row: tuple[int, float, str, str]) -> Event:
    """Return the event of a row of seq, t, shape and values.

    :raises StoreError: the row is damaged.
    """
    seq, t, shape, stored = row
    kind, fields = _fields(shape)
    values = decode(stored.replace(_BESIDE_NAME, encode(run)[:-1]))
    try:
        data = dict(zip(fields, values, strict=True))
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"a record in the store is damaged (event {seq} of run {run} has other fields than {', '.join(fields)}); "
            "restore a copy of the store, or begin another with --store"
        ) from error
    return Event(seq=seq, t=t, type=kind, data=data)
