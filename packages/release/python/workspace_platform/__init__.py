"""The client of the workspace knowledge platform, and the kit for connectors that pull.

    from workspace_platform import Platform

    with Platform(base_url="http://localhost:8080", token="...") as platform:
        for schedule in platform.crawl.iter_schedules():
            print(schedule["name"])
"""

from ._calls import CallOptions, Token
from .client import AsyncPlatform, Platform
from .errors import (
    BusyError,
    DisconnectedError,
    FailedError,
    FaultDetail,
    InvalidResponseError,
    PlatformError,
    RefusedError,
    TimedOutError,
    UnreachableError,
)

__all__ = [
    "AsyncPlatform",
    "BusyError",
    "CallOptions",
    "DisconnectedError",
    "FailedError",
    "FaultDetail",
    "InvalidResponseError",
    "Platform",
    "PlatformError",
    "RefusedError",
    "TimedOutError",
    "Token",
    "UnreachableError",
]
