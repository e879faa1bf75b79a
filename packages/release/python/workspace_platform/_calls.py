"""Sends requests, repeats them, and reads the responses."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, Union
from urllib.parse import quote

import httpx

from .crawl_worker import _back_off_s
from .errors import (
    BusyError,
    DisconnectedError,
    InvalidResponseError,
    PlatformError,
    UnreachableError,
    to_connection_error,
    to_response_error,
)

_USER_AGENT = "workspace-platform"
_MAX_WAIT_S = 60
_PAGE_SIZE = 100
_KEY_HEADER = "idempotency-key"
# The first request with this key, whose connection broke, is still under way.
_KEY_IN_USE = "IDEMPOTENCY_KEY_IN_USE"
_JSON_TYPE = re.compile(r"application/(?:[\w.-]+\+)?json")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t -~\x80-\xff]*")

# A token, or a function that returns it before each call, such as one that refreshes it.
Token = Union[str, Callable[[], Union[str, None]], Callable[[], Awaitable[Union[str, None]]], None]


class CallOptions(TypedDict, total=False):
    """What one call does otherwise than the client."""

    token: str
    request_id: str
    """Sent as `x-request-id`, with which the logs of the services name the call."""
    timeout_s: float


@dataclass(frozen=True)
class Request:
    """A call of an operation."""

    operation: str
    method: str
    template: str
    path: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: Any = None
    other_types: tuple[str, ...] = ()
    is_paged: bool = False

    @property
    def is_read(self) -> bool:
        return self.method == "GET"


@dataclass(frozen=True)
class Settings:
    """What all calls of a client share."""

    base_url: str
    timeout_s: float
    max_retries: int
    headers: dict[str, str]


def create_settings(
    base_url: str,
    timeout_s: float,
    max_retries: int,
    user_agent: str | None,
    headers: Mapping[str, str] | None,
) -> Settings:
    """Raises ValueError for settings that can't be used."""
    if not re.match(r"https?://[^/]", base_url):
        raise ValueError(f"base_url must be an http or https URL, not {base_url!r}")
    if not 0 <= max_retries <= 100:
        raise ValueError(f"max_retries must be from 0 to 100, not {max_retries}")
    agent = _USER_AGENT if user_agent is None else f"{user_agent} {_USER_AGENT}"
    own = {"user-agent": agent, **{name.lower(): value for name, value in (headers or {}).items()}}
    _assert_headers(own)
    return Settings(base_url.rstrip("/"), _assert_timeout(timeout_s), max_retries, own)


def _assert_timeout(timeout_s: float) -> float:
    if not (math.isfinite(timeout_s) and timeout_s > 0):
        raise ValueError(f"timeout_s must be a number of seconds above 0, not {timeout_s}")
    return timeout_s


def _assert_headers(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if not isinstance(value, str):
            raise TypeError(f"The header {name} must be a text")
        if not (_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)):
            raise ValueError(f"The header {name} has a name or a value that can't be sent")


def _to_segment(name: str, value: Any) -> str:
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise TypeError(f"{name} must be a text, not {type(value).__name__}")
    if str(value) in ("", ".", ".."):
        raise ValueError(f"{name} can't be part of a path: it must not be empty, '.' or '..'")
    return quote(str(value), safe="")


def _to_query(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class _Prepared:
    url: str
    headers: dict[str, str]
    content: bytes | None
    timeout_s: float
    is_repeatable: bool


def _prepare(settings: Settings, request: Request, options: CallOptions, token: str | None) -> _Prepared:
    """Raises TypeError or ValueError for what can't be sent."""
    url = settings.base_url + re.sub(
        r"\{(\w+)\}", lambda match: _to_segment(match[1], request.path.get(match[1])), request.template
    )
    query = {name: _to_query(value) for name, value in request.query.items() if value is not None}
    if query:
        url += "?" + str(httpx.QueryParams(query))
    headers = {**settings.headers, **{name: value for name, value in request.headers.items() if value is not None}}
    headers["accept"] = ", ".join(("application/json", *request.other_types))
    if "request_id" in options:
        headers["x-request-id"] = options["request_id"]
    content = None
    if request.body is not None:
        headers["content-type"] = "application/json"
        content = json.dumps(request.body, ensure_ascii=False, allow_nan=False).encode(errors="backslashreplace")
    if _KEY_HEADER in request.headers:
        headers.setdefault(_KEY_HEADER, uuid.uuid4().hex)
    _assert_headers(headers)
    if token is not None:
        # Checked apart, so that no message has it.
        if not re.fullmatch("[!-~]+", token):
            raise ValueError("The token must be a text of ASCII without spaces")
        headers["authorization"] = f"Bearer {token}"
    timeout_s = _assert_timeout(options.get("timeout_s", settings.timeout_s))
    return _Prepared(url, headers, content, timeout_s, request.is_read or _KEY_HEADER in headers)


def _read(request: Request, response: httpx.Response) -> Any:
    """Reads the body of a success. Raises PlatformError for everything else."""
    if not response.is_success:
        raise to_response_error(request.operation, request.is_read, response)
    if not response.content:
        return None
    media_type = response.headers.get("content-type", "application/json").split(";")[0].strip().lower()
    if media_type in request.other_types and not _JSON_TYPE.fullmatch(media_type):
        return response.text
    try:
        if _JSON_TYPE.fullmatch(media_type):
            return response.json()
    except ValueError:
        pass
    raise InvalidResponseError(
        f"The answer to {request.operation} can't be understood",
        operation=request.operation,
        outcome="not_done" if request.is_read else "unknown",
        response=response,
    )


def _to_pause_s(error: PlatformError, prepared: _Prepared, failures: int, max_retries: int) -> float | None:
    """Returns how long to wait before the call is repeated; None when it isn't."""
    if not prepared.is_repeatable or failures > max_retries:
        return None
    if not isinstance(error, (BusyError, UnreachableError, DisconnectedError)) and error.code != _KEY_IN_USE:
        return None
    asked_s = error.retry_after_s
    return None if asked_s is not None and asked_s > _MAX_WAIT_S else _back_off_s(failures, asked_s)


def _find_items(page: Any) -> list[Any]:
    """Finds the items of a page: `data`, or the only list that it has."""
    if isinstance(page.get("data"), list):
        return list(page["data"])
    return next((list(value) for value in page.values() if isinstance(value, list)), [])


def _to_next(request: Request, page: Any) -> Request | None:
    """Returns the request for the next page, if there is one."""
    cursor = page.get("nextCursor") or (page.get("metadata") or {}).get("nextCursor")
    if cursor is None or page.get("hasMore") is False:
        return None
    name = "after" if "hasMore" in page else "cursor"
    return Request(**{**vars(request), "query": {**request.query, name: cursor}})


def _to_first(request: Request) -> Request:
    if not request.is_paged or request.query.get("limit") is not None:
        return request
    return Request(**{**vars(request), "query": {**request.query, "limit": _PAGE_SIZE}})


class Calls:
    """Makes calls that block."""

    def __init__(self, settings: Settings, token: Token, http: httpx.Client) -> None:
        self._settings = settings
        self._token = token
        self._http = http

    def call(self, request: Request, options: CallOptions | None) -> Any:
        given = options or {}
        token: Any = given.get("token") or (self._token() if callable(self._token) else self._token)
        if inspect.isawaitable(token):
            raise TypeError("An asynchronous token is for AsyncPlatform")
        prepared = _prepare(self._settings, request, given, token)
        failures = 0
        while True:
            try:
                return _read(request, self._send(request, prepared))
            except PlatformError as error:
                failures += 1
                pause_s = _to_pause_s(error, prepared, failures, self._settings.max_retries)
                if pause_s is None:
                    raise
            time.sleep(pause_s)

    def _send(self, request: Request, prepared: _Prepared) -> httpx.Response:
        try:
            return self._http.request(
                request.method,
                prepared.url,
                headers=prepared.headers,
                content=prepared.content,
                timeout=httpx.Timeout(prepared.timeout_s, pool=None),
                # A token is for the platform's own address alone.
                follow_redirects=False,
            )
        except httpx.HTTPError as error:
            raise to_connection_error(request.operation, request.is_read, error) from error

    def iterate(self, request: Request, options: CallOptions | None) -> Iterator[Any]:
        following: Request | None = _to_first(request)
        while following:
            page = self.call(following, options)
            yield from _find_items(page)
            following = _to_next(following, page)


class AsyncCalls:
    """Makes calls that are awaited."""

    def __init__(self, settings: Settings, token: Token, http: httpx.AsyncClient) -> None:
        self._settings = settings
        self._token = token
        self._http = http

    async def call(self, request: Request, options: CallOptions | None) -> Any:
        given = options or {}
        token: Any = given.get("token") or (self._token() if callable(self._token) else self._token)
        if inspect.isawaitable(token):
            token = await token
        prepared = _prepare(self._settings, request, given, token)
        failures = 0
        while True:
            try:
                return _read(request, await self._send(request, prepared))
            except PlatformError as error:
                failures += 1
                pause_s = _to_pause_s(error, prepared, failures, self._settings.max_retries)
                if pause_s is None:
                    raise
            await asyncio.sleep(pause_s)

    async def _send(self, request: Request, prepared: _Prepared) -> httpx.Response:
        try:
            return await self._http.request(
                request.method,
                prepared.url,
                headers=prepared.headers,
                content=prepared.content,
                timeout=httpx.Timeout(prepared.timeout_s, pool=None),
                follow_redirects=False,
            )
        except httpx.HTTPError as error:
            raise to_connection_error(request.operation, request.is_read, error) from error

    async def iterate(self, request: Request, options: CallOptions | None) -> AsyncIterator[Any]:
        following: Request | None = _to_first(request)
        while following:
            page = await self.call(following, options)
            for item in _find_items(page):
                yield item
            following = _to_next(following, page)
