"""A question as the Messages API takes it.

System messages are a field of their own; messages of one role in a row are one message of several blocks. An answer of
a given shape is asked for as the input of a tool that must be called, which is what the API promises a shape for. With
a prefix cache, two places are marked for the server to keep: the end of the system text, and the end of the first long
part after it, which is what many workers share (a shard of code). Prefixes below 4,096 characters are not marked, since
the server keeps none of fewer than about 1,000 tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planloom.data_classes import frozen
from planloom.questions import PART_SEPARATOR, Part, Question
from planloom.settings import MOST_TOKENS
from planloom.wire import check_unreserved

__all__ = ["AnswerTool", "answer_tool", "conversation", "message_frame"]

RESERVED = frozenset({"messages", "model", "stream", "system", "tool_choice", "tools"})
LONG_CHARACTERS = 4_096
KEEP: Mapping[str, Any] = {"type": "ephemeral"}

WRAPPED = "answer"
COMBINERS = frozenset({"allOf", "anyOf", "const", "enum", "not", "oneOf"})


def message_frame(question: Question) -> dict[str, Any]:
    """Return what is posted around the messages, but for ``stream``.

    :raises PermanentError: a parameter that the client sets itself.
    """
    parameters = dict(question.parameters)
    check_unreserved(parameters, RESERVED)
    parameters.pop("response_format", None)
    frame = {"model": question.model, "max_tokens": MOST_TOKENS, **parameters}
    if tool := answer_tool(question):
        frame |= {"tools": [tool.described()], "tool_choice": {"type": "tool", "name": tool.name}}
    return frame


def conversation(question: Question, *, prefix_cache: bool) -> dict[str, Any]:
    """Return the messages as they are posted, those of the system in a field of their own.

    :param prefix_cache: mark what the server should keep of them.
    """
    system = [part for message in question.messages if message.role == "system" for part in message.parts]
    turns: list[tuple[str, list[Part]]] = []
    for message in question.messages:
        if message.role == "system" or not message.parts:
            continue
        if turns and turns[-1][0] == message.role:
            turns[-1][1].extend(message.parts)
        else:
            turns.append((message.role, list(message.parts)))
    messages = [{"role": role, "content": _blocks(parts)} for role, parts in turns]
    said = {"messages": messages} | ({"system": _blocks(system)} if system else {})
    if prefix_cache:
        _mark(said)
    return said


def _blocks(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return parts as blocks of text, which the API joins without a blank line between them."""
    texts = [part.text + PART_SEPARATOR for part in parts[:-1]] + [part.text for part in parts[-1:]]
    return [{"type": "text", "text": text} for text in texts]


def _mark(said: dict[str, Any]) -> None:
    system = said.get("system", [])
    if sum(len(block["text"]) for block in system) >= LONG_CHARACTERS:
        system[-1]["cache_control"] = KEEP
    first = said["messages"][0]["content"] if said["messages"] else []
    for block in first:
        if len(block["text"]) >= LONG_CHARACTERS:
            block["cache_control"] = KEEP
            return


@frozen(kw_only=True)
class AnswerTool:
    """The tool whose input is the answer.

    :ivar schema: what its input must satisfy.
    :ivar wrapped: the answer is no object, as an input must be, and stands in one as its only property.
    """

    name: str
    schema: Mapping[str, Any]
    wrapped: bool

    def described(self) -> dict[str, Any]:
        """Return it as the API takes it."""
        what = "Give your whole answer by calling this tool once."
        return {"name": self.name, "description": what, "input_schema": dict(self.schema)}

    def answer_in(self, value: Any) -> Any:
        """Return the answer in an input."""
        return value[WRAPPED] if self.wrapped and isinstance(value, Mapping) and set(value) == {WRAPPED} else value


def answer_tool(question: Question) -> AnswerTool | None:
    """Return the tool that an answer is asked as, where the question wants one of a given shape."""
    wanted = question.parameters.get("response_format")
    if not isinstance(wanted, Mapping) or wanted.get("type") != "json_schema":
        return None
    name, schema = wanted["json_schema"]["name"], wanted["json_schema"]["schema"]
    if schema.get("type", "object") == "object" and not COMBINERS & schema.keys():
        return AnswerTool(name=name, schema={"type": "object", **schema}, wrapped=False)
    # References are counted from the top, so that what they name has to stay there.
    top = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    inner = {"type": "object", "properties": {WRAPPED: dict(schema)}, "required": [WRAPPED], **top}
    return AnswerTool(name=name, schema=inner, wrapped=True)
