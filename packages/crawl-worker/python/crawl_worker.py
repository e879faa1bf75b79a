"""A worker that claims crawls of the workspace knowledge platform, reports them and finishes them.

One file without dependencies, for Python 3.9 or newer: copy it next to your connector.

    from crawl_worker import serve

    def crawl(order, run):
        for number, page in enumerate(pages_after(order["checkpoint"])):
            store(page)
            run.count(items=1)
            run.checkpoint(page.id)
            if run.is_time_up() or run.is_cancelled():
                return "continue"

    serve(url="http://localhost:8080", token="...", connectors=["files_1"], crawl=crawl)
"""

from __future__ import annotations

import email.utils
import json
import math
import os
import random
import re
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from datetime import datetime
from types import FrameType
from typing import Any, Literal, Optional

__all__ = ["serve", "Crawl", "PermanentError", "Run", "RequestError"]

# A crawl gets the order and the run. It returns None when everything is crawled, or "continue".
Crawl = Callable[[dict[str, Any], "Run"], Optional[Literal["continue"]]]
_ToLocal = Callable[[str], float]

_WAIT_MS = 25_000
_CLAIM_TIMEOUT_S = _WAIT_MS / 1_000 + 10
_REQUEST_TIMEOUT_S = 10
_REPORT_INTERVAL_S = 1.0
# How long the end of a slice is retried, even when the lease has expired in the meantime.
_FINISH_RETRY_S = 60
_MAX_PAUSE_S = 30
_MAX_RETRY_AFTER_S = 60
# The fraction of the slice's time after which the crawl should return.
_SLICE_FRACTION = 0.8
# The Date header has whole seconds, and the response took a while to arrive.
_CLOCK_MARGIN_S = 1.5
_MAX_CHECKPOINT_BYTES = 65_536
_MAX_LINES = 1_000
_MAX_LINES_PER_REPORT = 100
_MAX_LINE_CHARACTERS = 1_024
_MAX_DESCRIPTION_CHARACTERS = 300
_MAX_REASON_CHARACTERS = 2_000
_MAX_COUNT = 2**53 - 1
# The platform stores neither NUL nor unpaired surrogates.
_UNSTORABLE = re.compile("[\\0\\ud800-\\udfff]")


class RequestError(Exception):
    """An error response of the platform."""

    def __init__(self, status: int, reason: str, retry_after_s: float | None = None) -> None:
        super().__init__(f"The platform answered {status}" + (f": {reason}" if reason else ""))
        self.status = status
        self.retry_after_s = retry_after_s  # How long to wait before the request is repeated, if the platform says so.


class PermanentError(Exception):
    """The crawl has failed, and would fail again the same way, as with a wrong password: the run ends without another attempt."""


class _LeaseLost(Exception):
    """Why the outcome of the crawl must not be reported."""


class _Stopped(BaseException):
    """Raised by the signal handler to end a wait."""


def _is_transient(error: Exception) -> bool:
    """Returns whether the same request may succeed later."""
    if isinstance(error, RequestError):
        return error.status in (408, 429) or error.status >= 500
    return not isinstance(error, _LeaseLost)


def _is_lost(error: Exception | None) -> bool:
    return isinstance(error, _LeaseLost) or (isinstance(error, RequestError) and error.status in (404, 409))


def _back_off_s(failures: int, retry_after_s: float | None) -> float:
    """Returns how long to wait before a retry: as Retry-After says, up to a minute, and otherwise a back-off with jitter."""
    back_off = min(_MAX_PAUSE_S, 0.5 * 2.0 ** min(failures - 1, 10)) * (0.5 + random.random() / 2)
    return back_off if retry_after_s is None else min(_MAX_RETRY_AFTER_S, max(retry_after_s, back_off))


def _pause_s(failures: int, error: Exception) -> float:
    return _back_off_s(failures, error.retry_after_s if isinstance(error, RequestError) else None)


def _is_storable(value: Any) -> bool:
    """Returns whether the platform stores all texts of the value: none has NUL or an unpaired surrogate."""
    if isinstance(value, str):
        return _to_storable(value) == value
    if isinstance(value, dict):
        return all(_is_storable(key) and _is_storable(item) for key, item in value.items())
    return all(map(_is_storable, value)) if isinstance(value, list) else True


def _to_storable(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def _assert_counts(counts: dict[str, Any]) -> None:
    """Raises ValueError for what the platform would refuse, and the end of the run with it."""
    for name, value in counts.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_COUNT:
            raise ValueError(f"{name} must be a whole number of 0 or more, not {value!r}")


def _to_json(value: Any) -> str:
    """Raises ValueError for NaN and infinity, which JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _to_epoch_s(instant: str) -> float:
    return datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp()


class _Client:
    """Sends requests of the protocol."""

    def __init__(self, url: str, token: str) -> None:
        self._base = url.rstrip("/") + "/api/v1/crawlingManager/work/"
        self._token = token

    def post(self, path: str, body: dict[str, Any], timeout_s: float) -> tuple[Any, _ToLocal]:
        """Returns the body, and a function that converts the platform's instants to `time.monotonic()`."""
        request = urllib.request.Request(
            self._base + path,
            # As compact as a checkpoint is measured. An unpaired surrogate becomes its escape.
            data=_to_json(body).encode(errors="backslashreplace"),
            headers={"authorization": f"Bearer {self._token}", "content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as response:
                received_at = time.monotonic()
                text = response.read()
                date = response.headers.get("date")
        except urllib.error.HTTPError as error:
            raise _to_request_error(error) from None
        server_time = email.utils.parsedate_to_datetime(date).timestamp() if date else time.time()
        return (
            json.loads(text) if text else None,
            lambda instant: received_at + _to_epoch_s(instant) - server_time - _CLOCK_MARGIN_S,
        )


def _read_error_body(body: Any) -> tuple[str | None, str | None, list[tuple[str, str]]]:
    """Reads the message, the code, and the details as fields with their faults.

    The forms are `{"success": false, "message", "error"?: {"code", "details"?}}` and `{"error": {"code", "message",
    "details"?}}`. A response of another form, such as a proxy's, has no message.
    """
    if not isinstance(body, dict):
        return None, None, []
    inner = body.get("error")
    if isinstance(inner, str):  # OAuth's form.
        return str(body.get("error_description") or inner), inner, []
    error: dict[str, Any] = inner if isinstance(inner, dict) else {}
    message = error.get("message") or body.get("message")
    code = error.get("code")
    details = error.get("details")
    faults: list[tuple[str, str]] = []
    if isinstance(details, str):
        for text in re.split(r"; (?=[\w.]+: )", details):
            match = re.fullmatch(r"([\w.]+): (.+)", text, re.DOTALL)
            faults.append((match[1], match[2]) if match else ("", text))
    elif isinstance(details, list):
        items = [item for item in details if isinstance(item, dict) and isinstance(item.get("message"), str)]
        faults = [(str(item.get("field") or ""), item["message"]) for item in items]
    return (message if isinstance(message, str) else None), (code if isinstance(code, str) else None), faults


def _read_reason(body: Any, status_text: str) -> str:
    message, _code, details = _read_error_body(body)
    faults = "; ".join(f"{name} {fault}".strip() for name, fault in details)
    reason = message or status_text
    return f"{reason} ({faults})" if faults else reason


def _to_request_error(error: urllib.error.HTTPError) -> RequestError:
    try:
        body = json.loads(error.read())
    except (ValueError, OSError):
        body = None
    return RequestError(error.code, _read_reason(body, error.reason), _read_retry_after(error.headers.get("retry-after")))


def _read_retry_after(header: str | None) -> float | None:
    """Reads seconds or a date."""
    if header is None:
        return None
    if re.fullmatch("[0-9]{1,9}", header):
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


class Run:
    """The run as the connector sees it: it reports here, and learns when to stop. Reports are sent within a second."""

    def __init__(
        self,
        client: _Client,
        claimed: dict[str, Any],
        to_local: _ToLocal,
        stopping: threading.Event,
        on_error: Callable[[str], object],
    ) -> None:
        self._client = client
        self._id = claimed["order"]["runId"]
        self._lease = claimed["lease"]
        self._stopping = stopping
        self._on_error = on_error
        now = time.monotonic()
        self._time_up_at = now + (to_local(claimed["deadline"]) - now) * _SLICE_FRACTION
        self._lease_end = to_local(claimed["leaseUntil"])
        self._lease_s = self._lease_end - now
        self._lock = threading.Lock()
        self._counters = {"items": 0, "deleted": 0, "failed": 0, "bytes": 0}
        self._progress = 0.0
        self._checkpoint: Any = None
        self._lines: list[str] = []
        self._line_count = 0
        self._source: dict[str, Any] | None = None
        self._is_changed = False
        self._report_at = 0.0  # When the next report may be sent.
        self._ended: Exception | None = None  # Why the claim is over.
        self._crawled = threading.Event()

    def is_cancelled(self) -> bool:
        """Returns whether the crawl has to stop. It may then return or raise; the kit reports the right outcome."""
        return self._ended is not None or self._stopping.is_set()

    def is_time_up(self) -> bool:
        """Returns whether most of the slice's time is used up, so that the crawl should return "continue"."""
        return time.monotonic() >= self._time_up_at

    def progress(self, percent: float) -> None:
        """Reports how much of the whole run is done, from 0 to 100. NaN changes nothing."""
        if math.isnan(percent):
            return
        with self._lock:
            self._progress = min(100, max(0, percent))
            self._is_changed = True

    def count(self, items: int = 0, deleted: int = 0, failed: int = 0, bytes: int = 0) -> None:
        """Adds to the counters of the slice. Raises ValueError for a number that is not whole, or below 0."""
        more = {"items": items, "deleted": deleted, "failed": failed, "bytes": bytes}
        _assert_counts(more)
        with self._lock:
            self._counters = {name: value + more[name] for name, value in self._counters.items()}
            self._is_changed = True

    def checkpoint(self, value: Any) -> None:
        """Sets where the next slice, or another worker after a crash of this one, continues.

        Everything before it must be stored already. The value is any JSON value but None, of at most 64 KiB.
        Raises ValueError for a larger one, and for a text that the platform does not store: NUL and unpaired surrogates.
        """
        text = _to_json(value)
        if not _is_storable(json.loads(text)):
            raise ValueError("A checkpoint must not have a text with NUL or half of a character")
        if len(text.encode()) > _MAX_CHECKPOINT_BYTES:
            raise ValueError(f"A checkpoint must not be larger than {_MAX_CHECKPOINT_BYTES} bytes of JSON")
        with self._lock:
            # Copied, since the connector may change its object later.
            self._checkpoint = json.loads(text)
            self._is_changed = True

    def log(self, line: object) -> None:
        """Adds a line to the page of the run, which administrators see: it must not contain secrets.

        NUL and unpaired surrogates, which the platform does not store, are replaced.
        """
        with self._lock:
            self._line_count += 1
            if self._line_count <= _MAX_LINES:
                self._lines.append(_to_storable(str(line)[:_MAX_LINE_CHARACTERS]))
                self._is_changed = True

    def describe(
        self,
        description: str,
        documents: int | None = None,
        oldest_at: str | None = None,
        newest_at: str | None = None,
    ) -> None:
        """Says what is crawled, which the members who search it see: it must not contain secrets.

        It is kept from run to run: the folder, site, repository or account in at most 300 characters, how many documents it
        has, and when the oldest and the newest of them were changed, in ISO 8601.
        Raises ValueError for a number of documents that is not whole, or below 0.
        """
        if documents is not None:
            _assert_counts({"documents": documents})
        more = {"documents": documents, "oldestAt": oldest_at, "newestAt": newest_at}
        # The platform refuses what cannot be read, and a crawl must not fail for that.
        text = "".join(c if c.isprintable() else " " for c in description[:_MAX_DESCRIPTION_CHARACTERS]).strip()
        if not text:
            return
        with self._lock:
            self._source = {
                "description": text,
                **{name: value for name, value in more.items() if value is not None},
            }
            self._is_changed = True

    def _unsent(self) -> dict[str, Any]:
        unsent: dict[str, Any] = {"counters": self._counters}
        if self._checkpoint is not None:
            unsent["checkpoint"] = self._checkpoint
        if self._source is not None:
            unsent["source"] = self._source
        return unsent

    def _report(self) -> None:
        with self._lock:
            sent = {**self._unsent(), "progress": self._progress, "log": self._lines[:_MAX_LINES_PER_REPORT]}
            checkpoint = self._checkpoint
            source = self._source
            self._is_changed = False
        try:
            body, to_local = self._client.post(
                f"{self._id}/heartbeat",
                {"lease": self._lease, **sent},
                min(_REQUEST_TIMEOUT_S, self._lease_s / 2),
            )
            if body["cancelled"]:
                raise _LeaseLost("The run was cancelled")
            with self._lock:
                self._lease_end = to_local(body["leaseUntil"])
                # Only what was acknowledged is dropped, so a lost response loses nothing.
                if self._checkpoint is checkpoint:
                    self._checkpoint = None
                if self._source is source:
                    self._source = None
                self._lines = self._lines[len(sent["log"]) :]
                self._is_changed = self._is_changed or bool(self._lines)
        except Exception as error:
            self._is_changed = True
            if not _is_transient(error):
                self._ended = error
            elif time.monotonic() > self._lease_end:
                self._ended = _LeaseLost("The platform was unreachable until the lease expired")
            else:
                self._on_error(f"Failed to report the run {self._id}; will retry: {error}")
            # The lease is not lost for a pause that a busy platform asks for.
            retry_after_s = error.retry_after_s if isinstance(error, RequestError) else None
            self._report_at = time.monotonic() + min(self._lease_s / 4, retry_after_s or 0)

    def _keep_reporting(self) -> None:
        due_at = time.monotonic() + self._lease_s / 3
        while self._ended is None and not self._crawled.wait(min(_REPORT_INTERVAL_S, self._lease_s / 4)):
            now = time.monotonic()
            if now >= self._report_at and (self._is_changed or now >= due_at):
                self._report()
                due_at = time.monotonic() + self._lease_s / 3

    def _perform(self, crawl: Crawl, order: dict[str, Any]) -> None:
        """Crawls the slice: renews its lease while the connector works, and finishes it."""
        reporting = threading.Thread(target=self._keep_reporting, daemon=True)
        reporting.start()
        value = failure = None
        retry = True
        try:
            value = crawl(order, self)
        except Exception as error:
            failure = str(error) or type(error).__name__
            retry = not isinstance(error, PermanentError)
        self._crawled.set()
        reporting.join()
        while len(self._lines) > _MAX_LINES_PER_REPORT and self._ended is None:
            before = len(self._lines)
            self._report()
            if len(self._lines) == before:
                break
        if _is_lost(self._ended):
            self._on_error(f"Stopped the run {self._id}: {self._ended}")
        elif self._ended is not None:
            # A refused checkpoint is left out: with it, the report of the failure would be refused, too.
            self._checkpoint = None
            self._finish("failed", str(self._ended))
        elif self._stopping.is_set():
            # The crawl may have returned early because it had to stop, so it does not count as complete.
            self._finish("released")
        elif failure is not None:
            self._finish("failed", failure, retry)
        else:
            self._finish("continue" if value == "continue" else "completed")

    def _finish(self, state: str, reason: str | None = None, retry: bool = True) -> None:
        body = {"state": state, **self._unsent()}
        if self._ended is None:
            body |= {"progress": self._progress, "log": self._lines[:_MAX_LINES_PER_REPORT]}
        if reason is not None:
            body["reason"] = _to_storable(reason[:_MAX_REASON_CHARACTERS])
        if not retry:
            body["retry"] = False
        try:
            self._post_finish(body)
        except Exception as error:
            self._on_error(f"Failed to finish the run {self._id}: {error}")
            if _is_lost(error) or _is_transient(error):
                return
            # Without an end, the run would be crawled again and again, and refused each time.
            why = f"The end of the crawl was refused. {error}"
            try:
                self._post_finish({"state": "failed", "reason": _to_storable(why[:_MAX_REASON_CHARACTERS])})
            except Exception as again:
                self._on_error(f"Failed to fail the run {self._id}: {again}")

    def _post_finish(self, body: dict[str, Any]) -> None:
        until = time.monotonic() + _FINISH_RETRY_S
        failures = 0
        while True:
            try:
                self._client.post(f"{self._id}/finish", {"lease": self._lease, **body}, _REQUEST_TIMEOUT_S)
                return
            except Exception as error:
                if not _is_transient(error) or time.monotonic() > until:
                    raise
                failures += 1
                time.sleep(_pause_s(failures, error))


def serve(
    url: str,
    token: str,
    connectors: Iterable[str],
    crawl: Crawl,
    worker: str | None = None,
    on_error: Callable[[str], object] | None = None,
    instances: Iterable[str] | None = None,
) -> None:
    """Claims runs and crawls them, one at a time, until SIGTERM or SIGINT, and then releases the current run.

    Call it in the main thread. `crawl(order, run)` returns None when everything is crawled, or "continue" when
    `run.is_time_up()`. An exception fails the attempt: its message is shown, and the run is retried from the last
    checkpoint. With `instances`, only runs of these instances of the connectors are claimed.

    Raises RequestError when the platform rejects the token or the connectors.
    """
    on_error = on_error or (lambda message: print(message, file=sys.stderr, flush=True))
    client = _Client(url, token)
    stopping = threading.Event()
    waiting = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        # A second signal ends the process, as nothing handles it any more.
        for one in previous:
            signal.signal(one, signal.SIG_DFL)
        stopping.set()
        if waiting:
            raise _Stopped

    previous = {one: signal.signal(one, stop) for one in (signal.SIGTERM, signal.SIGINT)}
    claim: dict[str, Any] = {"connectors": list(connectors), **({"instances": list(instances)} if instances else {})}
    name = (worker or f"{socket.gethostname()} ({os.getpid()})")[:100]
    failures = 0
    try:
        while not stopping.is_set():
            claimed = None
            try:
                waiting = True
                claimed, to_local = client.post(
                    "claim",
                    {**claim, "worker": name, "waitMs": _WAIT_MS},
                    _CLAIM_TIMEOUT_S,
                )
                failures = 0
            except Exception as error:
                if not _is_transient(error):
                    raise
                failures += 1
                on_error(f"Failed to claim a run; will retry: {error}")
                time.sleep(_pause_s(failures, error))  # A signal ends it.
            finally:
                waiting = False
            if claimed:
                Run(client, claimed, to_local, stopping, on_error)._perform(crawl, claimed["order"])
    except _Stopped:
        pass
    finally:
        for one, handler in previous.items():
            signal.signal(one, handler)
