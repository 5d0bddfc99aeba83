"""What servers say of their refusals, in the words of servers and gateways as of 2026-11: OpenAI, Azure, Anthropic,
Gemini, xAI, Mistral, DeepSeek, Groq, Moonshot, Qwen, GLM, MiniMax, Volcengine, SiliconFlow, Bedrock, Cohere,
OpenRouter, Together, Fireworks, Hugging Face, LiteLLM, Cloudflare, vLLM, SGLang, TGI, llama.cpp, LM Studio, Ollama.

Words are looked up in what a server says itself. Some repeat the question that they refuse, which may hold any of these
words: what stands under the keys that they do so with is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from planloom.data_classes import frozen

__all__ = [
    "AUTH",
    "A_DAY",
    "BUSY",
    "FILTERED",
    "INVALID",
    "MADE_NOTHING",
    "NO_SUCH_ADDRESS",
    "OTHER_PARAMETERS",
    "QUOTA_CODE",
    "QUOTA_WORDS",
    "RATE_CODE",
    "RATE_WORDS",
    "TIMED_OUT",
    "TOO_LONG",
    "UNKNOWN_MODEL",
    "Words",
    "said_in",
    "title_in",
    "words_of",
]


@frozen
class Words:
    """A pattern that is compiled when it is first looked for: most runs meet no refusal, and wait for none of it."""

    pattern: str

    def search(self, words: str) -> re.Match[str] | None:
        """Return the first place that fits."""
        return re.search(self.pattern, words)


QUOTA_CODE = Words(
    r"insufficient_quota|exceeded_current_quota|billing_(hard_limit|error|not_active)|insufficient_(balance|credits|funds)"
    r"|credit balance is too low|reached your specified (api )?usage limits?|usage limit reached"
    r"|(used|spent) all (of )?(your |the )?(available )?credits|(spending|usage) limit|(key|credit) limit exceeded"
    r"|account .{0,40}(is suspended|overdue)|overdue (balance|payment)|accountoverdue|arrearage|good standing"
    r"|balance is (insufficient|not enough)|budget_exceeded|budget has been exceeded|余额不足|欠费"
)
QUOTA_WORDS = Words(
    r"\bquota\b|insufficient (balance|credit|funds)|\bbilling\b|out of credits|credit balance|usage limit"
    r"|(monthly|daily|weekly) ([a-z]+ ){0,2}limit"
)
RATE_WORDS = Words(r"per.?(min|sec)|rate.?limit|\b[tr]p[ms]\b|too many requests")
A_DAY = Words(r"[- /]per[- ](day|week|month)\b|/ ?(day|month)\b|perday|\b[rt]pd\b")
"""A limit that no minute resets, though it is called a rate."""
RATE_CODE = Words(r"throttlingexception|too many requests|rate_limit_exceeded|capacity_exceeded")
TOO_LONG = Words(
    r"context.?(length|size|window|limit)|maximum (context|model|prompt)\b|prompt is too long|input is too long"
    r"|too large for model|reduce the length|input token count|exceeds? (the )?max(imum)? length|exceeded model token"
    r"|inputs?`? (tokens|must have less)|longer than the (model|maximum)|too many (input )?tokens\b(?! per)"
    r"|prompt token count|string_above_max_length|range of input length|current length is|prompt 超长"
)
FILTERED = Words(
    r"content.?(filter|policy|management|moderation)|responsibleai|content exists risk|data.?inspection"
    r"|inappropriate content|flagged|moderation|safety (system|settings?|check)|safety_check|usage (policy|guidelines)"
    r"|sensitive (content|information)|sensitivecontent|guardrail|prohibited.?content"
    r"|(blocked|refused) by .{0,20}policy|敏感内容|不安全"
)
UNKNOWN_MODEL = Words(
    r"model_?not_?(found|exist|available|supported)|invalid_model|model_decommissioned|not a valid model|no such model"
    r'|not_found_error", "message": "model\b|"message": "model: [^"]{1,100}", "type": "not_found_error'
    r"|(unknown|invalid) model\b|model not (found|exist)|unable to access model|no endpoints found|no models loaded"
    r"|models?\b.{0,120}?(does not exist|not found|doesn't exist|is not available|has been (deprecated|decommissioned))"
    r"|not found the model|deploymentnotfound|model identifier is invalid|on-demand throughput isn.t supported"
    r"|llm provider not provided|not supported by any provider|not a chat model|only supported in v1/responses"
    r"|模型不存在"
)
OTHER_PARAMETERS = Words(r"no endpoints found that (can handle|support)")
BUSY = Words(r"overload|capacity|\bbusy\b|unavailable|try again later|loading model|\bis (currently |still )?loading")
AUTH = Words(
    r"authentication_error|permission_error|invalid.?api.?key|incorrect api key"
    r"|api.?key.{0,3}(not valid|is invalid|invalid)|invalid authorization|user location is not supported"
    r"|(missing|no) .{0,20}(api.?key|authorization header)|appidnoauth|无效的令牌"
)
INVALID = Words(r"invalid_request|invalid request|badrequest|bad_request")
TIMED_OUT = Words(r"timeout_error|timed out|deadline exceeded")
NO_SUCH_ADDRESS = Words(r"unexpected endpoint or method|404 not_found|404 page not found")
MADE_NOTHING = Words(r"json_validate_failed|tool_use_failed|failed to generate json")
"""The model answered, and what it said could not be made into what was asked for."""

REPEATED = frozenset({"input", "inputs", "prompt", "messages", "request", "body", "failed_generation", "flagged_input"})
MESSAGES = ("message", "msg", "error_msg", "status_msg", "detail", "description", "title")
DEEPEST = 8
MOST_CHARACTERS = 4_000
_TITLE = re.compile(r"<title>([^<]{1,200})", re.IGNORECASE)


def words_of(told: Any) -> str:
    """Return all that an error says, in lower case, in the form of JSON; without the question that some repeat."""
    return "".join(_written(told, 0))[:MOST_CHARACTERS].lower()


def _written(told: Any, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(told, Mapping):
        for key, value in told.items():
            if key not in REPEATED:
                yield f'"{key}": '
                yield from _written(value, depth + 1)
                yield ", "
    elif isinstance(told, list):
        for each in told[:20]:
            yield from _written(each, depth + 1)
            yield ", "
    elif isinstance(told, str):
        yield f'"{told[:MOST_CHARACTERS]}"'
    else:
        yield "null" if told is None else str(told)


def said_in(error: Mapping[str, Any]) -> str:
    """Return what an error says to people, empty where it is in none of the known places."""
    return next((text for key in MESSAGES if isinstance(text := error.get(key), str) and text.strip()), "")


def title_in(page: str) -> str:
    """Return the title of a page, which is what it says of itself."""
    found = _TITLE.search(page)
    return found[1] if found else ""
