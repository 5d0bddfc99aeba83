"""How providers say one thing in many ways: each refusal is what it means, in both dialects, over real sockets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planloom.clients import FatalError, ModelError, PermanentError, QuotaError, TransientError
from planloom.testing.loopback import Served, completion, html, json_answer

from .ways import Way, ask, fault

WAYS = (Way("openai", stream=False), Way("anthropic", stream=True))
KINDS: dict[str, type[ModelError]] = {
    "quota": QuotaError,
    "rate_limited": TransientError,
    "overloaded": TransientError,
    "server": TransientError,
    "timeout": TransientError,
    "malformed": TransientError,
    "context_too_long": PermanentError,
    "filtered": PermanentError,
    "bad_request": PermanentError,
    "unknown_model": FatalError,
    "auth": FatalError,
}


def says(text: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": text, **more}}


def played(status: int, body: Any) -> Served:
    if isinstance(body, str):
        return Served(status=status, body=body.encode(), headers={"content-type": "text/plain"})
    return json_answer(body, status)


QUOTA = {
    "Groq, a day": (429, says("Rate limit reached on tokens per day (TPD): Limit 100000. Please try again in 7m12s.")),
    "Gemini, a day": (429, [says("Quota exceeded", details=[{"quotaId": "GenerateRequestsPerDayPerProject"}])]),
    "Mistral": (401, {"detail": "Inactive subscription or usage limit reached"}),
    "OpenRouter, a key": (403, says("Key limit exceeded (total limit). Manage it on the page of keys", code=403)),
    "OpenRouter, free": (429, says("Rate limit exceeded: free-models-per-day. Add 10 credits", code=429)),
    "xAI": (403, {"code": "x", "error": "Your team has used all available credits or reached its spending limit."}),
    "Fireworks": (412, says("Account is suspended, possibly due to reaching the monthly spending limit.")),
    "GLM": (429, says("余额不足或无可用资源包,请充值。", code="1113")),
    "Qwen": (400, says("Access denied, make sure your account is in good standing.", code="Arrearage")),
    "Volcengine": (403, says("Your account has an overdue balance.", code="AccountOverdueError")),
    "SiliconFlow": (403, {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None}),
    "LiteLLM": (400, says("Budget has been exceeded! Current cost: 10.5, Max budget: 10.0", code="400")),
    "Bedrock": (429, {"message": "Too many tokens per day, please wait before trying again."}),
    "Cohere": (429, {"message": "You are using a Trial key, which is limited to 1000 API calls / month."}),
    "MiniMax, under 200": (200, {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
    "a detail under 200": (200, {"detail": "quota exceeded"}),
    "plain text": (429, "You exceeded your current quota"),
}
RATE = {
    "Gemini, a minute": (429, [says("Quota exceeded", details=[{"quotaId": "GenerateRequestsPerMinute"}])]),
    "Vertex": (429, [says("Resource exhausted. Please try again later.", status="RESOURCE_EXHAUSTED")]),
    "Azure": (429, says("You have exceeded token rate limit of your pricing tier. Please retry after 20 seconds.")),
    "Bedrock": (400, {"__type": "ThrottlingException", "message": "Too many requests, please wait."}),
    "Groq, a tier": (498, says("Flex tier capacity exceeded", code="capacity_exceeded")),
    "MiniMax, under 200": (200, {"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}),
    "Cloudflare": (429, "error code: 1015"),
}
LONG = {
    "Qwen": (400, says("Range of input length should be [1, 30720]", code="InvalidParameter")),
    "GLM": (400, says("Prompt 超长", code="1261")),
    "AI21": (422, {"detail": "Prompt and max tokens exceed the model's maximum context"}),
    "Cerebras": (400, {"message": "Current length is 9000 while limit is 8192"}),
    "OpenRouter, of a provider": (400, says("Provider returned error", metadata={"raw": "prompt is too long"})),
    "LM Studio": (400, {"error": "the initial prompt is greater than the context length"}),
    "LiteLLM": (400, says("litellm.ContextWindowExceededError: litellm.BadRequestError", code="400")),
    "Ollama": (500, {"error": "input length exceeds the context length"}),
    "plain text": (400, "Prompt exceeds max length"),
    "a page": (413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
}
FILTERED = {
    "GLM": (400, says("系统检测到输入或生成内容可能包含不安全或敏感内容", code="1301")),
    "Volcengine": (400, says("The input text may contain sensitive information.", code="SensitiveContentDetected")),
    "xAI": (403, {"code": "x", "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_X"}),
    "Bedrock": (400, {"message": "Guardrail blocked the request"}),
    "Gemini": (400, [says("Request contains prohibited content: PROHIBITED_CONTENT")]),
    "Groq": (400, says("blocked by safety settings")),
    "OpenRouter": (403, says("Your input was flagged", metadata={"reasons": ["violence"]})),
    "OpenAI": (403, says("Request blocked by policy", code="cyber_policy")),
}
MODEL = {
    "Azure": (404, says("The API deployment for this resource does not exist.", code="DeploymentNotFound")),
    "Gemini": (404, [says("models/gemini-9 is not found for API version v1main, or is not supported")]),
    "GLM": (400, says("模型不存在，请检查模型代码。", code="1211")),
    "Moonshot": (404, says("Not found the model x or Permission denied", type="resource_not_found_error")),
    "Bedrock": (400, {"message": "The provided model identifier is invalid."}),
    "LiteLLM": (400, says("LLM Provider NOT provided. Pass in the LLM provider you are trying to call.")),
    "Hugging Face": (400, says("The requested model 'x' is not supported by any provider you have enabled.")),
    "Cloudflare": (400, {"errors": [{"message": "No such model @cf/x or task", "code": 5007}], "success": False}),
    "LM Studio": (404, says("No models loaded. Please load a model in the developer page.")),
    "OpenAI, no chat": (404, says("This is not a chat model and thus not supported in v1/chat/completions.")),
}
AUTH = {
    "Gemini": (400, [says("API key not valid. Please pass a valid API key.", status="INVALID_ARGUMENT")]),
    "Gemini, none": (400, [says("Missing or invalid Authorization header.")]),
    "Gemini, a place": (400, [says("User location is not supported for the API use.")]),
    "xAI": (400, {"code": "x", "error": "Incorrect API key provided: xx***."}),
    "New API, under 200": (200, {"success": False, "message": "无效的令牌"}),
    "Spark, under 200": (200, {"code": 11200, "message": "AppIdNoAuthError", "sid": "x"}),
}
OTHERS = {
    "Hugging Face loads": (503, {"error": "Model x is currently loading", "estimated_time": 20.0}, "overloaded"),
    "Ollama loads, under 200": (200, {"error": "model is loading"}, "overloaded"),
    "Cloudflare, under 200": (200, {"success": False, "errors": [{"message": "capacity exceeded"}]}, "overloaded"),
    "timed out, under 200": (200, says("Request timed out", type="timeout_error"), "timeout"),
    "LM Studio's wrong address, under 200": (200, {"error": "Unexpected endpoint or method. (POST /x)"}, "bad_request"),
    "OpenRouter, parameters": (
        404,
        says("No endpoints found that can handle the requested parameters."),
        "bad_request",
    ),
    "no answer that fits": (400, says("Failed to generate JSON.", code="json_validate_failed"), "malformed"),
    "no memory": (500, says("model requires more system memory (5.6 GiB) than is available"), "server"),
    "an error without a type": (500, {"type": "error", "error": {"message": "x"}}, "server"),
}
DIALECTS = [
    *((*case, "quota") for case in QUOTA.values()),
    *((*case, "rate_limited") for case in RATE.values()),
    *((*case, "context_too_long") for case in LONG.values()),
    *((*case, "filtered") for case in FILTERED.values()),
    *((*case, "unknown_model") for case in MODEL.values()),
    *((*case, "auth") for case in AUTH.values()),
    *OTHERS.values(),
]
TABLES: dict[str, dict[str, Any]] = {
    "quota": QUOTA,
    "rate": RATE,
    "too long": LONG,
    "filtered": FILTERED,
    "model": MODEL,
    "auth": AUTH,
    "": OTHERS,
}
NAMES = [f"{what} {name}".strip() for what, table in TABLES.items() for name in table]


@pytest.mark.parametrize(("status", "body", "error_class"), DIALECTS, ids=NAMES)
def test_what_a_provider_says_in_its_own_words_is_what_it_means(status: int, body: Any, error_class: str) -> None:
    for way in WAYS:
        caught = fault(way, played(status, body))
        assert (type(caught), caught.error_class) == (KINDS[error_class], error_class)
        assert "\n" not in str(caught)


def test_a_refusal_that_comes_as_an_event_is_read_like_any_other() -> None:
    told = says("maximum context length is 10", code=400)
    for way in WAYS:
        served = Served(status=400, body=f"event: error\ndata: {json.dumps(told)}\n\n".encode(), headers=STREAM)
        assert fault(way, served).error_class == "context_too_long"


STREAM = {"content-type": "text/event-stream"}
REPEATED = "insufficient_quota; the model `x` does not exist; flagged; maximum context length; invalid api key"


@pytest.mark.parametrize(
    "told",
    [
        {"detail": [{"type": "missing", "loc": ["body", "seed"], "msg": "field required", "input": {"x": REPEATED}}]},
        says("seed: field required", messages=[{"content": REPEATED}]),
        says("seed: field required", metadata={"flagged_input": REPEATED}),
        {"message": "seed: field required", "body": {"messages": [{"content": REPEATED}]}},
    ],
)
def test_a_question_that_a_server_repeats_says_nothing_of_why_it_was_refused(told: Any) -> None:
    for way in WAYS:
        caught = fault(way, json_answer(told, 422))
        assert (caught.error_class, caught.maybe_billed) == ("bad_request", False)
        assert "seed: field required" in str(caught)


def test_an_answer_that_the_server_could_not_make_fit_may_be_billed() -> None:
    caught = fault(WAYS[0], json_answer(says("x", code="json_validate_failed", failed_generation="{"), 400))
    assert caught.maybe_billed


@pytest.mark.parametrize("title", ["Attention Required! | Cloudflare", "Just a moment...", "Sign in"])
def test_a_page_that_refuses_is_no_refusal_of_the_key(title: str) -> None:
    caught = fault(WAYS[0], html(title, 403))
    assert (type(caught), caught.error_class) == (FatalError, "auth")
    assert "a page and not a model server refused this" in str(caught)


@pytest.mark.parametrize(
    ("told", "wait_s"),
    [
        ({"error": "Model x is currently loading", "estimated_time": 20.0}, 20.0),
        ({"error": {"message": "loading", "estimated_time": 20.0}}, 20.0),
        (says("Please try again in 7m12s."), 432.0),
        ([says("x", details=[{"retryDelay": "35s"}])], 35.0),
        (says("Please retry after 20 seconds."), 20.0),
    ],
)
def test_a_wait_that_is_asked_for_in_words_is_read(told: Any, wait_s: float | None) -> None:
    assert fault(WAYS[0], json_answer(told, 503)).retry_after_s == wait_s


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Unrecognized request argument supplied: max_completion_tokens", "take max_completion_tokens out of rename"),
        ("max_tokens: 16000 > 8192, which is the maximum allowed number", "lower max_tokens under its role"),
        ("max_tokens is too large: 16000. This model supports at most 4096", "lower max_tokens under its role"),
        ("invalid temperature: only 1 is allowed for this model", 'write drop = ["temperature", "top_p"]'),
        ("Unrecognized request argument supplied: top_p", 'write drop = ["temperature", "top_p"]'),
        ("Grammar error: Unimplemented keys: uniqueItems", "write another json_mode"),
        ("This response_format type is unavailable now", "write another json_mode"),
        ("This model only support stream mode, enable the stream parameter", "write stream = true"),
        ("parameter.enable_thinking must be false for non-streaming calls", "write stream = true"),
        ("Your organization must be verified to stream this model.", "write stream = false"),
        ("Unrecognized request argument supplied: stream_options", "write stream_usage = false"),
        ("System role not supported", "the model takes no system message"),
        ("Developer instruction is not enabled for models/gemma-3", "the model takes no system message"),
        ("'messages[0].role' does not support 'system' with this model.", "the model takes no system message"),
        ("Conversation roles must alternate user/assistant/user", "the model takes no system message"),
        ("The plain HTTP request was sent to HTTPS port", "write https:// in the url of endpoint `test`"),
    ],
)
def test_what_a_server_does_not_take_is_told_with_what_to_change(text: str, step: str) -> None:
    for way in WAYS:
        caught = fault(way, json_answer(says(text), 400))
        assert caught.error_class == "bad_request"
        assert step in str(caught)


def test_an_answer_with_a_state_that_is_well_is_an_answer() -> None:
    told = {**completion("yes").json, "base_resp": {"status_code": 0, "status_msg": ""}, "errors": [], "success": True}
    assert ask(WAYS[0], json_answer(told)).text == "yes"
