"""One request to a model: what its client answers, and what that cost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .clients import ModelError, PermanentError
from .questions import Question, Reply
from .tokens import estimate_text_tokens

if TYPE_CHECKING:
    from ._call import Errand
    from .settings import RoleSettings

__all__ = ["FOR_ITS_LOAD", "reply_to"]

FOR_ITS_LOAD = ("rate_limited", "overloaded")
"""Classes of refusals that say nothing of the question: with fewer requests in flight it would have been answered."""


async def reply_to(errand: Errand, began: Callable[[], None]) -> Reply:
    """Ask once and return the answer with its price.

    A client that breaks fails its worker, like any other fault that is not the run's.

    :param began: called when the answer begins. :raises ModelError: there is none.
    """
    try:
        reply: object = await errand.client.ask(errand.question, began=began)
    except (ModelError, MemoryError):
        raise
    except Exception as error:
        raise _broke(errand, f"{type(error).__name__}: {error}") from error
    if not isinstance(reply, Reply):
        raise _broke(errand, f"it gave a {type(reply).__name__} for a reply")
    return _priced(reply, errand.question, errand.role)


def _broke(errand: Errand, what: str) -> ModelError:
    return PermanentError(
        f"the client of endpoint `{errand.question.endpoint}` broke ({what}); report it to who maintains its plugin",
        error_class="client",
        maybe_billed=True,
    )


def _priced(reply: Reply, question: Question, role: RoleSettings) -> Reply:
    """Return the reply with its price, from the server's token counts, or from estimated ones, and marked so."""
    usage = reply.usage
    prompt = usage.prompt_tokens
    completion = usage.completion_tokens
    estimated = role.price.by_tokens and (prompt is None or completion is None)
    if prompt is None:
        prompt = estimate_text_tokens(sum(len(part.text) for part in question.parts))
    if completion is None:
        completion = estimate_text_tokens(len(reply.text))
    cached = usage.cached_prompt_tokens or 0
    return Reply(
        text=reply.text,
        finish_reason=reply.finish_reason,
        usage=usage,
        seconds=reply.seconds,
        model=reply.model,
        price=role.price.of(max(0, prompt), max(0, completion), max(0, cached)),
        estimated=estimated,
        role=role.name,
        created_at=datetime.now(UTC),
    )
