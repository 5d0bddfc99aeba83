"""Where the questions go: an endpoint's settings, read and judged once, when the client is opened.

The key is what must not leak. It is read from the environment and goes nowhere but into one header. A plain ``http://``
address is refused with a key unless it is this machine. Proxies follow from the same care: through an ``https`` tunnel
a proxy sees only the name of the server, so ``HTTPS_PROXY`` and ``NO_PROXY`` are honoured there, as people behind a
proxy expect of every tool; an ``http`` request would show the proxy everything, so the environment never sends one
there, only the endpoint's own ``proxy`` setting does.
"""

from __future__ import annotations

import ipaddress
import math
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit
from urllib.request import getproxies_environment

import attrs

from planloom._errors import ConfigurationError, did_you_mean
from planloom.clients import TIMEOUTS_S, Endpoint
from planloom.data_classes import frozen

__all__ = ["Interface", "Origin", "Timeouts", "read_origin", "switch_in"]

KEY_MARK = "[key]"
SECRET_QUERY = frozenset({"key", "api_key", "api-key", "apikey", "token", "access_token", "subscription-key", "sig"})


@frozen(kw_only=True)
class Interface:
    """Where one kind of server listens, and how it wants the key.

    :ivar path: what questions are posted to, below the configured address.
    :ivar below: what the address must end with before that, and is added where it does not.
    :ivar key_header: the header that holds the key, in the form ``key_form``.
    :ivar headers: what else every request says.
    :ivar url: the address where none is configured, empty where one must be.
    """

    path: str
    below: str = ""
    key_header: str = "authorization"
    key_form: str = "Bearer {key}"
    headers: Mapping[str, str] = attrs.field(factory=dict)
    url: str = ""


@frozen(kw_only=True)
class Timeouts:
    """Seconds that each phase of a call may take.

    :ivar first_byte: from the start of the request, connecting included, to the first byte of the answer.
    """

    connect: float = TIMEOUTS_S["connect"]
    first_byte: float = TIMEOUTS_S["first_byte"]
    between_bytes: float = TIMEOUTS_S["between_bytes"]
    total: float = TIMEOUTS_S["total"]


@frozen(kw_only=True)
class Origin:
    """One endpoint, ready to be asked.

    :ivar url: the whole address questions are posted to.
    :ivar key: empty for none.
    :ivar headers: what every request says besides the key.
    :ivar proxy: address of the proxy, empty for none.
    """

    name: str
    url: str
    key_env: str
    key: str = attrs.field(repr=False)
    proxy: str = attrs.field(repr=False, default="")
    timeouts: Timeouts = Timeouts()
    key_header: str = "authorization"
    key_form: str = "Bearer {key}"
    headers: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.url).netloc

    def scrub(self, text: str) -> str:
        """Return a text without the key, which some servers repeat in their errors."""
        return text.replace(self.key, KEY_MARK) if self.key else text


def read_origin(endpoint: Endpoint, interface: Interface, environ: Mapping[str, str] = os.environ) -> Origin:
    """Return an endpoint's address, key, proxy and timeouts.

    :raises ConfigurationError: one of them is missing or cannot be used.
    """
    where = f"endpoint `{endpoint.name}`"
    address = _address(where, endpoint.url or interface.url, interface)
    key = _key(where, endpoint.key_env, environ)
    proxy = _proxy(where, address, endpoint.settings)
    _refuse_open_key(where, address, key, proxy, endpoint)
    return Origin(
        name=endpoint.name,
        url=address.geturl(),
        key_env=endpoint.key_env,
        key=key,
        proxy=proxy,
        timeouts=_timeouts(where, endpoint.timeouts),
        key_header=interface.key_header,
        key_form=interface.key_form,
        headers=interface.headers,
    )


def switch_in(endpoint: Endpoint, name: str, *, default: bool) -> bool:
    """Return a setting of an endpoint that is on or off.

    :raises ConfigurationError: it is neither.
    """
    value = endpoint.settings.get(name, default)
    if not isinstance(value, bool):
        raise ConfigurationError(f"{name} of endpoint `{endpoint.name}` must be true or false, got {value!r}")
    return value


def _address(where: str, url: str, interface: Interface) -> SplitResult:
    if not _can_be_asked(url.strip()):
        raise ConfigurationError(f'{where} needs an http or https url, got `{url}`; set url = "https://host/v1"')
    parts = urlsplit(url.strip())
    if "@" in parts.netloc:
        raise ConfigurationError(
            f"the url of {where} holds a name or password before `@`, which would show in messages;"
            " name a variable that holds the key in key_env"
        )
    if secrets := SECRET_QUERY & {name.lower() for name in parse_qs(parts.query, keep_blank_values=True)}:
        raise ConfigurationError(
            f"the url of {where} holds `{min(secrets)}=` behind `?`, which would show in messages;"
            " name a variable that holds the key in key_env"
        )
    base = parts.path.rstrip("/").removesuffix(interface.path).removesuffix(interface.below)
    return parts._replace(path=base + interface.below + interface.path, fragment="")


def _can_be_asked(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        host.encode("idna")  # refuses what no name can be: an empty part, or one of 64 characters
        return parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        return False


def _key(where: str, variable: str, environ: Mapping[str, str]) -> str:
    if not variable:
        return ""
    key = environ.get(variable, "").strip()
    if not key:
        raise ConfigurationError(
            f"{where} takes its key from the environment variable {variable}, which is not set;"
            f" set it: export {variable}=..."
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(
            f"the environment variable {variable} of {where} holds a character no key can have"
            " (a space, a line break or a non-ASCII letter); set it to the key alone"
        )
    return key


def _proxy(where: str, address: SplitResult, settings: Mapping[str, Any]) -> str:
    wanted = settings.get("proxy", "")
    if not isinstance(wanted, str):
        raise ConfigurationError(f'proxy of {where} must be an address or "off", got {wanted!r}')
    if wanted == "off":
        return ""
    proxy = wanted or (_environment_proxy(address) if address.scheme == "https" else "")
    if proxy and not _can_be_asked(proxy):
        # What stands before the `@` is a password.
        raise ConfigurationError(
            f"the proxy of {where} is not an http or https one, got `{proxy.rpartition('@')[2]}`;"
            ' set proxy to an http address, or to "off" to connect without one'
        )
    return proxy


def _environment_proxy(address: SplitResult) -> str:
    proxies = getproxies_environment()
    return "" if _is_excepted(address, proxies.get("no", "")) else proxies.get("https") or proxies.get("all") or ""


def _is_excepted(address: SplitResult, no_proxy: str) -> bool:
    """Return whether ``NO_PROXY`` names this host, with or without its port, or a domain above it."""
    for name in (entry.strip().lower().lstrip("*").lstrip(".") for entry in no_proxy.split(",") if entry.strip()):
        for host in ((address.hostname or "").lower(), address.netloc.lower()):
            if not name or host == name or host.endswith(f".{name}"):
                return True
    return False


def _refuse_open_key(where: str, address: SplitResult, key: str, proxy: str, endpoint: Endpoint) -> None:
    allowed = switch_in(endpoint, "allow_insecure", default=False)
    if not key or address.scheme == "https" or allowed:
        return
    hosts = [address.hostname or "", *([urlsplit(proxy).hostname or ""] if proxy else [])]
    for host in hosts:
        if not _is_this_machine(host):
            raise ConfigurationError(
                f"{where} would send the key of {endpoint.key_env} unencrypted to {host}; use an https url,"
                " or set allow_insecure = true if you trust the network between"
            )


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _timeouts(where: str, configured: Mapping[str, float]) -> Timeouts:
    names = attrs.fields_dict(Timeouts)
    for name, value in configured.items():
        if name not in names:
            raise ConfigurationError(f"{where} has no timeout `{name}`; {did_you_mean(name, names)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise ConfigurationError(f"timeout `{name}` of {where} must be above 0 seconds, got {value!r}")
    return Timeouts(**configured)
