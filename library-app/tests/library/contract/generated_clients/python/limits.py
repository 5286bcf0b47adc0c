"""The limits of the helper, with responses that no service sends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx

from helper import ConnectionLimits, ProblemError, ServiceTransport, live


class InventedService(httpx.AsyncBaseTransport):
    """Answers each request with the same function, and counts them."""

    def __init__(self, respond: Callable[[], Awaitable[httpx.Response]]) -> None:
        self.respond = respond
        self.attempts = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.attempts += 1
        return await self.respond()


class EventStream(httpx.AsyncByteStream):
    """Server-sent events, after which the stream ends or falls silent."""

    def __init__(self, text: str, ends: bool) -> None:
        self.text = text
        self.ends = ends

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.text.encode()
        if not self.ends:
            await asyncio.Event().wait()


async def outcome_of(respond, limits: ConnectionLimits, is_live: bool = False) -> tuple[int, Exception]:
    """Sends one request, or follows a live query, and returns the number of attempts and the error."""
    service = InventedService(respond)
    async with httpx.AsyncClient(transport=ServiceTransport(limits, service)) as client:
        try:
            if is_live:
                async for _ in live(client.get, url="http://service.test/books"):
                    pass
            await client.get("http://service.test/books")
        except Exception as error:
            return service.attempts, error
    raise AssertionError("the request succeeded")


def stream(text: str, ends: bool = True):
    async def respond() -> httpx.Response:
        headers = {"Content-Type": "text/event-stream"}
        return httpx.Response(200, headers=headers, stream=EventStream(text, ends))

    return respond


async def refuse() -> httpx.Response:
    raise httpx.ConnectError("no connection")


async def be_busy() -> httpx.Response:
    return httpx.Response(503, headers={"Retry-After": "60"}, text="Busy")


async def stay_silent() -> httpx.Response:
    await asyncio.Event().wait()
    raise AssertionError("nothing sets the event")


async def reject() -> httpx.Response:
    problem = {"type": "t:no", "status": 409}
    return httpx.Response(409, headers={"Content-Type": "application/problem+json"}, json=problem)


async def check_limits() -> None:
    limits = ConnectionLimits(attempts=3)
    attempts, error = await outcome_of(refuse, limits)
    assert attempts == 3 and isinstance(error, httpx.ConnectError), "attempts are limited"

    attempts, error = await outcome_of(be_busy, ConnectionLimits(total_time=1))
    assert isinstance(error, ProblemError) and error.status == 503
    assert attempts == 1, "no attempt begins after the total time"

    attempts, error = await outcome_of(stay_silent, ConnectionLimits(attempts=2, attempt_time=0.01))
    assert attempts == 2 and isinstance(error, TimeoutError), "each attempt has a timeout"

    attempts, error = await outcome_of(reject, limits)
    assert isinstance(error, ProblemError) and error.kind == "no"
    assert attempts == 1, "a rejected request is not sent again"

    attempts, error = await outcome_of(stream("retry: 0\n: no change\n\n"), limits, is_live=True)
    assert attempts == 3 and "3 times" in str(error), "broken streams in a row are limited"

    silent = ConnectionLimits(attempts=3, idle_time=0.01)
    attempts, error = await outcome_of(stream("retry: 0\n\n", ends=False), silent, is_live=True)
    assert attempts == 3 and "3 times" in str(error), "a silent stream counts as broken"

    text = 'retry: 0\ndata: {}\n\nevent: problem\ndata: {"type": "t:gone", "status": 410}\n\n'
    attempts, error = await outcome_of(stream(text), limits, is_live=True)
    assert isinstance(error, ProblemError) and error.status == 410
    assert attempts == 1, "a problem ends a live query"


asyncio.run(check_limits())
