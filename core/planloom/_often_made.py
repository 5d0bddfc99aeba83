"""Data classes that are made several times for every worker.

To people and type checkers they are frozen; when it runs nothing checks that, since a frozen class takes twice as long
to make (5.0 against 2.6 us for twelve fields), which was an eighth of a replay.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

__all__ = ["often_made"]

if TYPE_CHECKING:
    from attrs import frozen as often_made
else:
    import attrs

    from .data_classes import with_shared_methods

    often_made = partial(with_shared_methods, partial(attrs.define, on_setattr=attrs.setters.NO_OP))
