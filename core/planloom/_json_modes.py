"""Asking for an answer of a shape in words, where a server refuses the way that is configured.

The worker that was refused asks once more without the server's help, which is another question with a fingerprint of
its own, and so do all of the run that want this shape from then on, those included that wait for a slot, unless the
ledger has an answer to what they would have asked. Once one of them is answered the journal keeps it, so that a run
which goes on or is played again asks as it did. A new run finds out for itself: a refusal costs nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from .settings import RoleSettings
from .workers import Schema

__all__ = ["IN_WORDS", "JsonModes"]

IN_WORDS = "none"
_ENTRY = {"word": "json_mode", "value": IN_WORDS}


class JsonModes:
    """What one run found out about its endpoints.

    :param recorded: the journal of its earlier starts, or of an unfinished run that it takes over from.
    :param journal: takes an entry by its place. :param log: says something in the run's event stream.
    """

    def __init__(
        self,
        recorded: Mapping[str, Any] | None = None,
        journal: Callable[[str, Mapping[str, Any]], None] = lambda place, entry: None,
        log: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._recorded, self._journal, self._log = recorded or {}, journal, log
        self._in_words: dict[tuple[str, bytes], bool] = {}
        self._unanswered: set[tuple[str, bytes]] = set()
        self._told: set[tuple[str, str]] = set()

    def in_words(self, role: RoleSettings, schema: Schema) -> bool:
        """Whether a role is asked for this shape in words, since its server refused the other way."""
        key = (role.name, schema.canonical)
        known = self._in_words.get(key)
        if known is None:
            place = _place(role, schema)
            known = self._in_words[key] = self._recorded.get(place, {}).get("value") == IN_WORDS
            if known:  # written again: it may be another run that recorded it
                self._journal(place, _ENTRY)
        return known

    def refused(self, role: RoleSettings, schema: Schema) -> None:
        """Hear that a server does not take the configured mode."""
        if not self.in_words(role, schema):
            key = (role.name, schema.canonical)
            self._in_words[key] = True
            self._unanswered.add(key)

    def answered(self, role: RoleSettings, schema: Schema, configured: str) -> None:
        """Hear that a question in words was answered; of a refused mode that settles it."""
        key = (role.name, schema.canonical)
        if key not in self._unanswered:
            return
        self._unanswered.discard(key)
        self._journal(_place(role, schema), _ENTRY)
        if (role.endpoint, role.model) not in self._told:
            self._told.add((role.endpoint, role.model))
            self._log(
                f"endpoint `{role.endpoint}` refuses json_mode {configured} of model `{role.model}` (first for the "
                f"shape `{schema.name}`); the run asks in words in its place: write another json_mode under the "
                "endpoint, `planloom doctor` finds out which it heeds"
            )


def _place(role: RoleSettings, schema: Schema) -> str:
    """Return where the journal keeps it; no place of a plan looks so."""
    return f"json_mode {role.name} {hashlib.sha256(schema.canonical).hexdigest()[:16]}"
