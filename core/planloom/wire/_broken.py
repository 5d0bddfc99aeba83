"""What to say of a question that brought no answer in HTTP: never sent, or its connection broke.

What was never sent costs nothing: no name, no connection, no encryption, a proxy that leads nowhere. The libraries'
own words repeat the address, the state of TLS and the request; what a person needs of them is the reason.
"""

from __future__ import annotations

import os
import ssl
from urllib.parse import urlsplit

import aiohttp
import httpx

from planloom.clients import FatalError, ModelError, TransientError

from ._origin import Origin

__all__ = ["fault_of", "no_certificates", "no_http"]

LONGEST_REASON = 120
NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
    httpx.ConnectError,
    httpx.UnsupportedProtocol,
)
PROXY_WANTS_A_NAME = 407


def fault_of(error: Exception, origin: Origin) -> ModelError:
    """Return the fault that a broken or missing connection is."""
    cause = error.__cause__ if isinstance(error.__cause__, aiohttp.ClientError) else error
    if not isinstance(cause, NEVER_SENT):
        return TransientError(
            f"the connection to {origin.host} broke before the answer was whole: {_reason(cause, origin)};"
            " the provider may bill the call",
            error_class="transport",
            maybe_billed=True,
        )
    kind = FatalError if _refused_by_proxy(cause) == PROXY_WANTS_A_NAME else TransientError
    return kind(
        f"cannot connect to {_towards(cause, origin)}: {_reason(cause, origin)}; {_next_step(cause, origin)}",
        error_class="transport",
    )


def no_http(error: aiohttp.ClientResponseError, origin: Origin) -> ModelError:
    """Return the fault of an answer that breaks the rules of HTTP; the library draws it over several lines."""
    wrong = origin.scrub(error.message.partition("\n")[0]).rstrip(":")[:LONGEST_REASON]
    return TransientError(
        f"what {origin.host} sent is no answer in HTTP ({wrong}); check the url of endpoint"
        f" `{origin.name}`, and that what listens there is a model server",
        error_class="malformed",
        maybe_billed=True,
    )


def no_certificates(error: OSError, origin: Origin) -> ModelError:
    """Return the fault of roots that cannot be read, without which nothing can be asked over TLS."""
    names = [name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)]
    where = " and ".join(names) or "the certificates of this installation"
    return FatalError(
        f"{origin.host} cannot be asked over TLS: the certificates to trust cannot be read"
        f" ({error.strerror or error}); correct {where}",
        error_class="transport",
    )


def _refused_by_proxy(cause: Exception) -> int | None:
    return cause.status if isinstance(cause, aiohttp.ClientHttpProxyError) else None


def _is_of_proxy(cause: Exception, origin: Origin) -> bool:
    if isinstance(cause, aiohttp.ConnectionTimeoutError):
        return bool(origin.proxy)  # it is connected to first, and says when the server is not there
    return isinstance(cause, aiohttp.ClientHttpProxyError | aiohttp.ClientProxyConnectionError)


def _towards(cause: Exception, origin: Origin) -> str:
    if _is_of_proxy(cause, origin):
        place = urlsplit(origin.proxy).netloc.rpartition("@")[2]  # not the name and password before it
        return f"{origin.host} through the proxy {place}"
    return origin.host


def _reason(cause: Exception, origin: Origin) -> str:
    if isinstance(cause, aiohttp.ConnectionTimeoutError):
        return f"no connection within {origin.timeouts.connect:g} s"
    if isinstance(cause, aiohttp.ClientHttpProxyError):
        return f"it answered {cause.status} ({origin.scrub(cause.message)[:LONGEST_REASON]})"
    if isinstance(cause, aiohttp.ClientPayloadError):
        return "it hung up in the middle of it"
    if isinstance(cause, aiohttp.ServerDisconnectedError):
        return "it hung up without a word"
    said = _of_system(cause.os_error) if isinstance(cause, aiohttp.ClientConnectorError) else str(cause)
    said = said.removeprefix("[Errno None] ") or type(cause).__name__
    return " ".join(origin.scrub(said).split())[:LONGEST_REASON]


def _of_system(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"no encryption could be agreed on: {(error.reason or 'unknown').replace('_', ' ').lower()}"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return error.strerror or ("it hung up before the connection was made" if isinstance(error, ConnectionError) else "")


def _next_step(cause: Exception, origin: Origin) -> str:
    endpoint = f"endpoint `{origin.name}`"
    if _refused_by_proxy(cause) == PROXY_WANTS_A_NAME:
        return f"put the name and password that it wants into proxy of {endpoint}"
    if _is_of_proxy(cause, origin):
        return f'check that it runs and lets this through, or set proxy of {endpoint}, to "off" for none'
    if isinstance(cause, aiohttp.ClientConnectorCertificateError):
        return "name the root that signed it in SSL_CERT_FILE, if it is to be trusted"
    if origin.url.startswith("https:") and not isinstance(cause, aiohttp.ClientConnectorDNSError):
        return f"check that it runs and speaks TLS, and that the url of {endpoint} is right"
    return f"check that it runs and that the url of {endpoint} is right"
