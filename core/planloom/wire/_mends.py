"""What servers refuse of what is sent by default, and the setting that mends it."""

from __future__ import annotations

from planloom.clients import JsonModeRefused, ModelError

from ._words import Words

__all__ = ["mended"]

_Kind = tuple[type[ModelError], str, str]

_REFUSED = r"(unrecognized|unknown|unexpected|unsupported|not supported|extra inputs|not permitted)"

_JSON_MODE = "write another json_mode under endpoint `{origin.name}`; `planloom doctor` finds out which it heeds"

_MENDED: tuple[tuple[Words, str], ...] = (
    (
        Words(
            rf"(unrecognized|unknown|unexpected)[^\"]{{0,60}}max_completion_tokens|max_completion_tokens\W{{1,4}}{_REFUSED}"
        ),
        "take max_completion_tokens out of rename of endpoint `{origin.name}`, and of the parameters",
    ),
    (
        Words(r"max_(completion_)?tokens\b.{0,60}(too large|maximum allowed|at most|\d+ ?[<>])|range of max_tokens"),
        "lower max_tokens under its role to what the server says",
    ),
    (
        Words(r"max_completion_tokens"),
        'write rename = {{ max_tokens = "max_completion_tokens" }} under endpoint `{origin.name}`',
    ),
    (Words(r"stream_options|include_usage"), "write stream_usage = false under endpoint `{origin.name}`"),
    (
        Words(
            r"only supports? stream|stream(ing)? mode|streaming is (strongly|required)|non-?streaming|must be streamed"
        ),
        "write stream = true under endpoint `{origin.name}`",
    ),
    (
        Words(r"to stream this model|(stream|streaming)\b.{0,30}(not|un)[ -]?supported|not support stream"),
        "write stream = false under endpoint `{origin.name}`",
    ),
    (
        Words(
            r"(temperature|top_p)\b.{0,80}(support|deprecated|unexpected|both|permitted|allowed)|both.{0,20}temperature"
            r"|(unrecognized|unknown|unexpected|extra).{0,60}(temperature|top_p)\b"
        ),
        'write drop = ["temperature", "top_p"] under its role',
    ),
    (
        Words(r"response_format|json_schema|json_object|tool_choice|guided|grammar|'json'"),
        _JSON_MODE,
    ),
    (
        Words(
            r"system (role|message|instruction)s?\b.{0,40}(not|un)[ -]?supported|developer instruction is not enabled"
            r"|does not support 'system'|roles must alternate"
        ),
        "the model takes no system message: set another model for this role, or put what it says into the prompt",
    ),
    (Words(r"sent to https port|requires https"), "write https:// in the url of endpoint `{origin.name}`"),
)


def mended(bad_request: _Kind, words: str) -> _Kind:
    """Return the fault of a request that the server does not take, with the setting that changes it."""
    kind, error_class, standard = bad_request
    step = next((step for pattern, step in _MENDED if pattern.search(words)), standard)
    return JsonModeRefused if step is _JSON_MODE else kind, error_class, step
