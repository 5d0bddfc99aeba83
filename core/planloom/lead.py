"""The lead: a model that writes the plan once, from the fact sheet alone.

Its reply's first fenced block is the plan, or the whole reply where that parses. Problems of the check and of the
rehearsal go back in the checker's own words, at most eight, for up to two repairs. Every attempt is kept.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from planlang import Vocabulary, brief, check

from ._errors import RoleLacks
from ._structured import without_thinking
from .data_classes import frozen
from .kits import Prompt
from .money import Spent
from .questions import Reply
from .rehearsal import BREAKS_WHEN_ALL_FAIL, Rehearsal

__all__ = ["Attempt", "LeadAsk", "WrittenPlan", "lead_messages", "plan_in_reply", "write_program"]

_SHOWN_PROBLEMS = 8
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)

LeadAsk = Callable[[list[tuple[str, str]]], Awaitable[Reply]]
"""Asks the lead: (role, text) messages in, its reply out."""


@frozen(kw_only=True)
class Attempt:
    """One answer of the lead, and what was wrong with it."""

    source: str
    problems: tuple[str, ...]
    prompt_tokens: int | None
    price: int
    cached: bool


@frozen(kw_only=True)
class WrittenPlan:
    """What the lead wrote.

    :ivar source: the accepted plan, ``None`` when no attempt was.
    :ivar attempts: all of them, in order.
    """

    source: str | None
    rehearsal: Rehearsal | None
    attempts: tuple[Attempt, ...]

    @property
    def prompt_tokens(self) -> int:
        """Prompt tokens of all attempts together, repairs included, where the server counted them."""
        return sum(attempt.prompt_tokens or 0 for attempt in self.attempts)

    @property
    def spent(self) -> Spent:
        """What planning cost, repairs included."""
        return Spent(
            paid=sum(attempt.price for attempt in self.attempts if not attempt.cached),
            full_price=sum(attempt.price for attempt in self.attempts),
        )


def lead_messages(prompt: Prompt, vocabulary: Vocabulary, job: str, sheet: str) -> list[tuple[str, str]]:
    """Return the first messages to a lead: the language in brief with its words, then the job and the fact sheet."""
    system = prompt.text.replace("{{language}}", brief(vocabulary))
    return [("system", system), ("user", f"THE JOB\n{job}\n\n{sheet}")]


def plan_in_reply(text: str) -> str:
    """Return the plan in a lead's reply: its first fenced block after what it thought aloud, or the whole text."""
    said = without_thinking(text)
    found = _FENCE.search(said)
    return found.group(2) if found else said.strip() + "\n"


async def write_program(
    messages: list[tuple[str, str]],
    vocabulary: Vocabulary,
    ask: LeadAsk,
    rehearse: Callable[[str], Awaitable[Rehearsal]],
    repairs: int = 2,
) -> WrittenPlan:
    """Have the lead write a plan; return it once check and rehearsal accept it, with every attempt.

    :param messages: from :func:`lead_messages`; grows with each repair turn.
    :param rehearse: rehearses an accepted source.
    """
    attempts: list[Attempt] = []
    for _ in range(repairs + 1):
        reply = await ask(messages)
        source = plan_in_reply(reply.text)
        problems, rehearsal = await _judge(source, vocabulary, rehearse)
        attempts.append(
            Attempt(
                source=source,
                problems=tuple(problems),
                prompt_tokens=reply.usage.prompt_tokens,
                price=reply.price,
                cached=reply.cached,
            )
        )
        if not problems:
            return WrittenPlan(source=source, rehearsal=rehearsal, attempts=tuple(attempts))
        # Servers refuse an assistant's message without text.
        said = [("assistant", reply.text)] if reply.text.strip() else []
        messages = [*messages, *said, ("user", _mend(problems))]
    return WrittenPlan(source=None, rehearsal=None, attempts=tuple(attempts))


async def _judge(
    source: str, vocabulary: Vocabulary, rehearse: Callable[[str], Awaitable[Rehearsal]]
) -> tuple[list[str], Rehearsal | None]:
    blocking = [problem for problem in check(source, vocabulary) if problem.severity == "problem"]
    if blocking:
        return [problem.render(source) for problem in blocking[:_SHOWN_PROBLEMS]], None
    try:
        rehearsal = await rehearse(source)
    except RoleLacks as error:  # which is the lead's to mend: it may ask another
        known = ", ".join(f"`{role}`" for role in error.configured)
        return [f"the plan uses the role `{error.role}`, which is not configured; configured are {known}"], None
    return [*rehearsal.problems, *_must_survive(rehearsal)], rehearsal


def _must_survive(rehearsal: Rehearsal) -> list[str]:
    """A lead must mend what a person is only told of: a plan that breaks when every worker fails."""
    return [text for text in rehearsal.advice if text.startswith(BREAKS_WHEN_ALL_FAIL)]


def _mend(problems: list[str]) -> str:
    listed = "\n\n".join(problems[:_SHOWN_PROBLEMS])
    return f"The plan was not accepted:\n\n{listed}\n\nAnswer with the whole corrected plan in one fenced block."
