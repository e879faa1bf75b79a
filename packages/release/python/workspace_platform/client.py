"""The client of the platform: of all its services, for programs that block and for those that await."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

import httpx

from ._calls import AsyncCalls, Calls, Token, create_settings
from .crawl import AsyncCrawlApi, CrawlApi
from .identity import AsyncIdentityApi, IdentityApi
from .mail import AsyncMailApi, MailApi

# As many calls at a time as the program makes.
_LIMITS = httpx.Limits(max_connections=None)


class Platform:
    """A client of the platform. Close it, or use it with `with`."""

    identity: IdentityApi
    mail: MailApi
    crawl: CrawlApi

    def __init__(
        self,
        base_url: str,
        token: Token = None,
        *,
        timeout_s: float = 30,
        max_retries: int = 2,
        user_agent: str | None = None,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Creates the client.

        Args:
            base_url: The URL of the platform.
            token: The token, or a function that returns it before each call. Calls such as `login` work without.
            timeout_s: How long each attempt waits for the platform.
            max_retries: How often a call is repeated after 429, 503 and a lost connection: one that only reads, or one
                with an idempotency key. It waits as `Retry-After` says; for more than a minute, it is not repeated.
            user_agent: Names the program, such as `acme-reports/1.2`. Administrators see it beside its token.
            headers: Headers of each request.
            http_client: Sends the requests, such as one with a proxy. It is not closed with the client.
        """
        settings = create_settings(base_url, timeout_s, max_retries, user_agent, headers)
        self._own = None if http_client else httpx.Client(limits=_LIMITS)
        calls = Calls(settings, token, http_client or self._own or httpx.Client())
        self.identity = IdentityApi(calls)
        self.mail = MailApi(calls)
        self.crawl = CrawlApi(calls)

    def close(self) -> None:
        if self._own:
            self._own.close()

    def __enter__(self) -> Platform:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncPlatform:
    """The client for `asyncio`. Close it, or use it with `async with`. Its settings are those of `Platform`."""

    identity: AsyncIdentityApi
    mail: AsyncMailApi
    crawl: AsyncCrawlApi

    def __init__(
        self,
        base_url: str,
        token: Token = None,
        *,
        timeout_s: float = 30,
        max_retries: int = 2,
        user_agent: str | None = None,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        settings = create_settings(base_url, timeout_s, max_retries, user_agent, headers)
        self._own = None if http_client else httpx.AsyncClient(limits=_LIMITS)
        calls = AsyncCalls(settings, token, http_client or self._own or httpx.AsyncClient())
        self.identity = AsyncIdentityApi(calls)
        self.mail = AsyncMailApi(calls)
        self.crawl = AsyncCrawlApi(calls)

    async def close(self) -> None:
        if self._own:
            await self._own.aclose()

    async def __aenter__(self) -> AsyncPlatform:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
