"""A helper for clients in Python, beside the client that openapi-python-client generates.

It needs what the generated client needs, Python 3.11 and httpx, and serves its asynchronous functions.

    client = Client(base_url=url, httpx_args={"transport": ServiceTransport()})
"""

import asyncio
import json
import random
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import httpx


class ProblemError(Exception):
    """The service rejected a request, for the reason that `problem` describes (RFC 9457)."""

    def __init__(self, problem: dict[str, Any]) -> None:
        self.problem = problem
        self.type: str = problem.get("type", "about:blank")
        self.kind: str = self.type.rsplit(":", 1)[-1]
        """The end of the type, such as `copy-lent`."""
        self.title: str = problem.get("title", "")
        self.status: int = problem.get("status", 0)
        self.detail: str = problem.get("detail", "")
        self.errors: list[dict[str, str]] = problem.get("errors", [])
        super().__init__(f"{self.status} {self.detail}")


@dataclass(frozen=True)
class ConnectionLimits:
    """The bounds of a transport. Times are in seconds."""

    attempts: int = 10
    """The number of times that a request is sent, and that a stream breaks in a row."""
    total_time: float = 60
    """The time after which a request is not sent again."""
    attempt_time: float = 20
    """The time that the service has for one response."""
    idle_time: float = 45
    """The time without a sign of life after which a stream counts as broken. The service sends one each 15 s."""


async def rows_of(query: Callable[..., Awaitable[Any]], **parameters: Any) -> AsyncGenerator[Any, None]:
    """Yields the rows of all pages. `query` is a generated function such as `browse_stock.asyncio`."""
    while True:
        page = await query(**parameters)
        for row in page.items:
            yield row
        if not page.next_cursor:
            return
        parameters["cursor"] = page.next_cursor


async def live(query: Callable[..., Awaitable[Any]], **parameters: Any) -> AsyncGenerator[Any, None]:
    """Yields the result of a query, and again whenever it changes. `query` is a generated function.

    The transport answers each call of the function with the next result of the stream that the first call opens.
    """
    stream: list[AsyncGenerator[str, None]] = []
    try:
        while True:
            token = _live_stream.set(stream)
            try:
                result = await query(**parameters)
            finally:
                _live_stream.reset(token)
            yield result
    finally:
        for results in stream:
            await results.aclose()


_live_stream: ContextVar[list[AsyncGenerator[str, None]] | None] = ContextVar("live_stream", default=None)
"""The live query that the current call belongs to: an empty list, or its open stream."""


@dataclass(eq=False)
class ServiceTransport(httpx.AsyncBaseTransport):
    """Sends the requests of one user, so that queries see what the user's commands wrote."""

    limits: ConnectionLimits = ConnectionLimits()
    transport: httpx.AsyncBaseTransport = field(default_factory=httpx.AsyncHTTPTransport)
    position: str | None = None
    """The id of the last event that a command of this transport wrote."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Returns the response to a request of the generated client. httpx calls this method."""
        stream = _live_stream.get()
        if stream is None:
            return await self.send(request)
        if not stream:
            stream.append(_results_of(self, request))
        return httpx.Response(200, content=await anext(stream[0]))

    async def send(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, again if necessary, and raises a `ProblemError` if the service rejects it."""
        # Operator routes take no idempotency key, and an unhealthy service is a response and no reason to wait.
        is_operator_route = "/actuator/" in request.url.path
        is_command = request.method == "POST"
        name, value = ("Idempotency-Key", str(uuid.uuid4())) if is_command else ("Event-Position", self.position)
        if value is not None and not is_operator_route:
            request.headers.setdefault(name, value)
        response = await (self._attempt(request) if is_operator_route else self._attempt_repeatedly(request))
        position = response.headers.get("Event-Position")
        if position is not None and int(position) > int(self.position or -1):
            self.position = position
        if response.status_code >= 400 and _media_type(response) != "application/json":
            raise _problem_of(response)
        return response

    async def aclose(self) -> None:
        """Closes the connections."""
        await self.transport.aclose()

    async def _attempt_repeatedly(self, request: httpx.Request) -> httpx.Response:
        deadline = time.monotonic() + self.limits.total_time
        attempt = 1
        while True:
            wait = 0.1 * 2 ** min(attempt, 6) * random.random()
            try:
                response = await self._attempt(request)
                retry_after = response.headers.get("Retry-After", "")
                wait = max(wait, float(retry_after if retry_after.isdecimal() else 0))
                is_temporary = retry_after or response.status_code in (429, 502, 503, 504)
                if not is_temporary or attempt >= self.limits.attempts or time.monotonic() + wait > deadline:
                    return response
            except (httpx.TransportError, TimeoutError):
                if attempt >= self.limits.attempts or time.monotonic() + wait > deadline:
                    raise
            await asyncio.sleep(wait)
            attempt += 1

    async def _attempt(self, request: httpx.Request) -> httpx.Response:
        """Sends a request once, and reads the body of the response unless it is a stream."""
        async with asyncio.timeout(self.limits.attempt_time):
            response = await self.transport.handle_async_request(request)
            if _media_type(response) != "text/event-stream":
                await response.aread()
            return response


async def _results_of(transport: ServiceTransport, request: httpx.Request) -> AsyncGenerator[str, None]:
    """Yields the JSON of the results of a live query, over as many connections as necessary."""
    request.headers["Accept"] = "text/event-stream"
    retry = failures = 0
    while failures < transport.limits.attempts:
        await asyncio.sleep(retry / 1000)
        # This raises if the service is away for longer than the limits allow.
        response = await transport.send(request)
        events = _server_sent_events(response)
        try:
            while True:
                async with asyncio.timeout(transport.limits.idle_time):
                    event = await anext(events)
                if event.get("event") == "problem":
                    raise ProblemError(json.loads(event["data"]))
                # The first event of each connection has `retry`. Without a result it is no progress.
                failures = 0 if "data" in event or "retry" not in event else failures
                retry = int(event.get("retry", retry))
                if "data" in event:
                    request.headers["Last-Event-ID"] = event.get("id", "")
                    yield event["data"]
        except (httpx.TransportError, TimeoutError, StopAsyncIteration, ProblemError) as error:
            if isinstance(error, ProblemError) and error.status != 503:
                raise
            failures += 1
        finally:
            await response.aclose()
    raise httpx.ReadError(f"The live query broke {failures} times in a row", request=request)


async def _server_sent_events(response: httpx.Response) -> AsyncGenerator[dict[str, str], None]:
    """Yields the fields of each server-sent event. A comment has no `data`."""
    event: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(":")
            event[name] = value.removeprefix(" ")
        else:
            yield event
            event = {}


def _problem_of(response: httpx.Response) -> ProblemError:
    if _media_type(response) == "application/problem+json":
        return ProblemError(response.json())
    # The response comes from something between the client and the service.
    status, title, detail = response.status_code, response.reason_phrase, response.text
    return ProblemError({"status": status, "title": title, "detail": detail})


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("Content-Type", "")).partition(";")[0]
