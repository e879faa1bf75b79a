"""What a call of the platform fails with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import httpx

from .crawl_worker import _read_error_body, _read_retry_after


@dataclass(frozen=True)
class FaultDetail:
    """A problem with one field of a request; the field is empty when it is none of one field."""

    field: str
    message: str


class PlatformError(Exception):
    """A call that did not succeed. Its message can be shown to the caller."""

    operation: str
    outcome: Literal["not_done", "unknown"]
    """`not_done`: the call changed nothing. `unknown`: it may have done what it was for."""
    status: int | None
    """The status of the response, if there was one, whoever sent it."""
    code: str | None
    """The platform's code of the error, such as `VALIDATION_ERROR`."""
    details: list[FaultDetail]
    request_id: str | None
    """Names the request in the logs of the platform."""
    retry_after_s: float | None
    """How long the platform asks to wait before the call is repeated."""
    response: httpx.Response | None

    def __init__(
        self,
        message: str,
        *,
        operation: str,
        outcome: Literal["not_done", "unknown"],
        response: httpx.Response | None = None,
        code: str | None = None,
        details: list[FaultDetail] | None = None,
    ) -> None:
        super().__init__(message)
        self.operation = operation
        self.outcome = outcome
        self.response = response
        self.status = None if response is None else response.status_code
        self.code = code
        self.details = details or []
        self.request_id = None if response is None else response.headers.get("x-request-id")
        self.retry_after_s = None if response is None else _read_retry_after(response.headers.get("retry-after"))


class RefusedError(PlatformError):
    """The platform refused the request (4xx): another one like it will be refused, too."""


class BusyError(PlatformError):
    """The platform asks to wait (429, 503)."""


class FailedError(PlatformError):
    """The platform, or a proxy before it, failed (5xx)."""


class UnreachableError(PlatformError):
    """The platform can't be reached; the request was not sent."""


class DisconnectedError(PlatformError):
    """The connection broke before the response was complete."""


class TimedOutError(PlatformError):
    """There was no response in time."""


class InvalidResponseError(PlatformError):
    """The response can't be understood."""


# The codes of server errors which guarantee that nothing was done.
_CERTAIN_CODES = ("SMTP_ERROR", "NOTHING_DONE")
_UNKNOWN = "; whether it was done is unknown"


def to_response_error(operation: str, is_read: bool, response: httpx.Response) -> PlatformError:
    """Creates the error for a response that is no success of the operation."""
    status = response.status_code
    if status < 400:
        return InvalidResponseError(
            f"The answer to {operation} can't be understood (status {status})",
            operation=operation,
            outcome="not_done" if is_read else "unknown",
            response=response,
        )
    try:
        body = response.json()
    except ValueError:
        body = None
    message, code, details = _read_error_body(body)
    is_certain = is_read or status < 500 or code in _CERTAIN_CODES
    kind = BusyError if status in (429, 503) else RefusedError if status < 500 else FailedError
    text = message or f"The platform, or a proxy before it, answered {status}"
    return kind(
        text if is_certain else text + _UNKNOWN,
        operation=operation,
        outcome="not_done" if is_certain else "unknown",
        response=response,
        code=code,
        details=[FaultDetail(field, fault) for field, fault in details],
    )


def to_connection_error(operation: str, is_read: bool, error: httpx.HTTPError) -> PlatformError:
    """Creates the error for a call without a complete response."""
    kind: type[PlatformError]
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)):
        kind, text = UnreachableError, "The platform can't be reached"
    elif isinstance(error, httpx.TimeoutException):
        kind, text = TimedOutError, "The platform gave no answer in time"
    elif isinstance(error, httpx.DecodingError):
        kind, text = InvalidResponseError, f"The answer to {operation} can't be understood"
    else:
        kind, text = DisconnectedError, "The connection broke before the platform answered"
    is_certain = is_read or kind is UnreachableError
    return kind(
        text if is_certain else text + _UNKNOWN,
        operation=operation,
        outcome="not_done" if is_certain else "unknown",
    )
