"""The common part of both clients: headers, attempts, and the errors of answers."""

from __future__ import annotations

import ssl
from typing import Any

import httpx
import tenacity

from graphbrain import __version__
from graphbrain.base.errors import BadInput, GraphbrainError, ServiceRefused, ServiceUnavailable
from graphbrain.service.client import shapes
from graphbrain.service.client.calls import Call

__all__ = ["failed", "headers_of", "options", "retrying", "retrying_async", "seconds_of", "take"]

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
CONNECTIONS = 100
ATTEMPTS = 3
"""So often at least a request that repeats is made before its limit is over, if none of its answers comes."""


class _Later(Exception):
    """The service may be asked again, after so many seconds."""

    def __init__(self, error: GraphbrainError, seconds: float) -> None:
        super().__init__(str(error))
        self.error, self.seconds = error, seconds


def options(url: str, token: str, certificate: str | None) -> dict[str, Any]:
    """Return the options of httpx. Environment variables on proxies are for the crawl, not for this."""
    headers = {"User-Agent": f"graphbrain-client/{__version__}", "Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    trusted: ssl.SSLContext | bool = True
    if certificate is not None:
        try:
            trusted = ssl.create_default_context(cafile=certificate)
        except OSError as error:
            raise BadInput(f"{certificate} has no certificates to trust ({error}).") from None
    limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=30.0)
    return {"base_url": url + "/", "headers": headers, "verify": trusted, "trust_env": False, "limits": limits}


def headers_of(call: Call) -> dict[str, str]:
    """A request's own headers: all its attempts have the same key."""
    return {} if call.key is None else {"Idempotency-Key": call.key}


def seconds_of(call: Call, limit: float) -> float:
    """Return the seconds that one attempt waits for its answer, of `limit` seconds for all attempts together."""
    return call.seconds + (limit / ATTEMPTS if call.repeats else limit)


def take(response: httpx.Response, text: str = "") -> Any:
    """Return the JSON of an answer, or its text where it is of the type `text`. Raise the error that it names."""
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    if text and response.is_success and kind == text and "X-Request-ID" in response.headers:
        return response.text
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if response.is_success and answer is not None:
        return answer
    error = shapes.error_of(answer, response.status_code)
    if error.try_again:
        raise _Later(error, _seconds(response.headers.get("Retry-After")))
    raise error


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdecimal() else 0.0


def failed(error: httpx.HTTPError, path: str) -> GraphbrainError:
    """Return the error for a service that cannot be reached, is not trusted, or has not answered."""
    where = error.request.url.copy_with(path="/", query=None) if error._request else "its address"
    text = str(error) or type(error).__name__
    if _untrusted(error):
        return ServiceRefused(
            f"The certificate of the service at {where} is not trusted ({text}): where it is one of your own, name its "
            "file as certificate=."
        )
    return ServiceUnavailable(
        f"The service at {where} did not answer {path} ({text}); is it running ('graphbrain serve')?"
    )


_SOON = tenacity.wait_random_exponential(multiplier=FIRST_PAUSE, max=LONGEST_PAUSE)


def _pause(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return max(_SOON(state), error.seconds if isinstance(error, _Later) else 0.0)


def _raised(call: Call) -> Any:
    """Raise the error of the last attempt, in the words of this package."""

    def end(state: tenacity.RetryCallState) -> Any:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _Later):
            raise error.error from None
        if isinstance(error, httpx.HTTPError):
            raise failed(error, call.path) from None
        raise error or AssertionError()

    return end


def _in_vain(state: tenacity.RetryCallState) -> bool:
    """Return whether the same request would fail again, as it does if the certificate is not trusted."""
    return state.outcome is not None and _untrusted(state.outcome.exception())


def _untrusted(error: BaseException | None) -> bool:
    """Return whether the connection was refused because of the service's certificate."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _arguments(limit: float, call: Call) -> dict[str, Any]:
    over = tenacity.stop_after_delay(limit)
    return {
        "retry": tenacity.retry_if_exception_type((_Later, httpx.TransportError)),
        "wait": _pause,
        "stop": lambda state: over(state) or _in_vain(state),
        "retry_error_callback": _raised(call),
    }


def retrying(limit: float, call: Call) -> tenacity.Retrying:
    """Attempts at a request, for so many seconds."""
    return tenacity.Retrying(**_arguments(limit, call))


def retrying_async(limit: float, call: Call) -> tenacity.AsyncRetrying:
    """The same, for an event loop."""
    return tenacity.AsyncRetrying(**_arguments(limit, call))
