"""The client: questions in, answers of the offline rules out.

A shard is analysed once for all lenses: the rules of every lens run together, the findings are kept by the text's
hash, and each scan is given those of its lens. Three lenses that ask about a shard at once share one analysis. A line
``Rules: wide`` in the system prompt asks for the wide set too: being part of the question, it is part of what a ledger
knows the answer by.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from planloom import Usage
from planloom.clients import Endpoint, PermanentError
from planloom.plugins import load_plugins
from planloom.questions import Message, Question, Reply

from ._jobs import FORMS, scan_job
from ._workers import Workers
from .rules import Rule

MODEL = "offline"
KEPT_SHARDS = 256
"""Findings kept by shard: a few kilobytes each, and the lenses of one shard come close together."""
DEFAULT_TIMEOUT_S = 600.0

_WIDE = re.compile(r"^Rules: wide *$", re.MULTILINE)
_LENS = re.compile(r"^Lens: *([\w-]+) *$", re.MULTILINE)


def installed_rules() -> tuple[Rule, ...]:
    """Return the rules of all installed plugins, sorted by name."""
    rules = load_plugins().all("offline rule", Rule)
    return tuple(rules[name] for name in sorted(rules))


class OfflineClient:
    """Answers scans, skeptics and reports from the text it is sent. Owns its processes until it is closed.

    :param rules: gives the rules when the first question comes; by default those of all installed plugins.
    """

    def __init__(self, endpoint: Endpoint, rules: Callable[[], Sequence[Rule]] = installed_rules) -> None:
        self._load_rules = rules
        self._timeout_s = endpoint.timeouts.get("total", DEFAULT_TIMEOUT_S)
        self._rules: Sequence[Rule] = ()
        self._workers: Workers | None = None
        self._analyses: OrderedDict[tuple[str, ...], asyncio.Task[dict[str, Any]]] = OrderedDict()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The processes it has started and not ended."""
        return self._workers.process_ids if self._workers is not None else ()

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        """Answer one question; nothing leaves the machine, and no file is read but those written from the question.

        :param began: called when the answer is there.

        :raises PermanentError: an answer of another form is wanted, or a rule failed.
        :raises TransientError: the analysis took too long or its process died.
        """
        started = time.monotonic()
        job = _wanted(question)
        system, user = _first(question, "system"), _first(question, "user")
        answer = await (self._scan(system, user) if job == "findings" else self._open().run(job, _text(user)))
        if began is not None:
            began()
        return Reply(
            text=json.dumps(answer, ensure_ascii=False),
            finish_reason="stop",
            usage=Usage(),
            seconds=time.monotonic() - started,
            model=MODEL,
        )

    async def close(self) -> None:
        """End what still runs."""
        tasks, self._analyses = list(self._analyses.values()), OrderedDict()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._workers is not None:
            await self._workers.close()

    def _open(self) -> Workers:
        if self._workers is None:
            self._rules = self._load_rules()
            self._workers = Workers(self._rules, timeout_s=self._timeout_s)
        return self._workers

    async def _scan(self, system: Message | None, user: Message | None) -> dict[str, Any]:
        found = (await self._analysis(user, wide=_WIDE.search(_text(system)) is not None))["findings"]
        of_lens = self._rules_of(system)
        return {"findings": [_shown(finding) for finding in found if finding["rule"] in of_lens]}

    async def _analysis(self, user: Message | None, *, wide: bool) -> dict[str, Any]:
        job = scan_job(wide=wide)
        key = (job, *(part.digest for part in user.parts)) if user is not None else (job,)
        task = self._analyses.get(key)
        if task is None:
            task = asyncio.create_task(self._open().run(job, _text(user)))
            self._analyses[key] = task
            self._forget()
        try:
            # A worker that is cancelled must not take the others' analysis with it.
            return await asyncio.shield(task)
        except Exception:
            self._analyses.pop(key, None)
            raise

    def _forget(self) -> None:
        done = [key for key, task in self._analyses.items() if task.done()]
        for key in done[: max(0, len(self._analyses) - KEPT_SHARDS)]:
            del self._analyses[key]

    def _rules_of(self, system: Message | None) -> frozenset[str]:
        """Names of the rules of the lens that a system prompt names; all rules without one that rules know."""
        named = _LENS.search(_text(system))
        of_lens = frozenset(rule.name for rule in self._rules if named and rule.lens == named[1])
        return of_lens or frozenset(rule.name for rule in self._rules)


def _wanted(question: Question) -> str:
    """The name of the schema that an answer must satisfy."""
    wanted = question.parameters.get("response_format")
    schema = wanted.get("json_schema") if isinstance(wanted, dict) else None
    name = schema.get("name") if isinstance(schema, dict) else None
    if name in FORMS:
        return str(name)
    asked = f"an answer of the form {name!r}" if name else "free text"
    raise PermanentError(
        f"the offline analyst was asked for {asked}; it can answer only {', '.join(FORMS)}, since it has no model "
        "behind it; name a model for this role in planloom.toml (`planloom init` writes one)",
        error_class="bad_request",
    )


def _first(question: Question, role: str) -> Message | None:
    return next((message for message in question.messages if message.role == role), None)


def _text(message: Message | None) -> str:
    return message.text if message is not None else ""


def _shown(finding: dict[str, Any]) -> dict[str, Any]:
    """A finding as the schema of scans has it, which knows no rules: the claim names the rule."""
    return {key: value for key, value in finding.items() if key != "rule"}
