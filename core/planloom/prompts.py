"""Prompts as a project sees them: a kit's own text, or the file that configuration puts in its place."""

from __future__ import annotations

from collections.abc import Iterable

from ._errors import ConfigurationError
from ._given_files import text_of
from .kits import Kit, Prompt
from .settings import Settings

__all__ = ["prompt_digests", "resolved_prompt"]


def resolved_prompt(kit: Kit, name: str, settings: Settings) -> Prompt:
    """Return a kit's prompt, from the file that ``prompts."kit.name"`` names where there is one.

    :raises ConfigurationError: that file cannot be read.
    """
    path = settings.prompts.get(f"{kit.name}.{name}")
    if path is None:
        return kit.prompt(name)
    named = f"{settings.source}: prompts.{kit.name}.{name} names {path}"
    if not path.is_file():
        raise ConfigurationError(f"{named}, which is no file; correct it")
    try:
        text = text_of(path)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{named}, which cannot be read: {error}; correct it") from error
    if not text.strip():
        raise ConfigurationError(f"{named}, which is empty; write the prompt there, or take the setting out")
    return Prompt(name=name, text=text)


def prompt_digests(kits: Iterable[Kit], settings: Settings) -> dict[str, str]:
    """Return the hash of each prompt of these kits as the project uses it, by ``kit.name``."""
    return {f"{kit.name}.{p.name}": resolved_prompt(kit, p.name, settings).digest for kit in kits for p in kit.prompts}
