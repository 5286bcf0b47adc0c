"""The walk-through of the library with the generated client and the helper. It gets the URL of the library.

The test kills and starts the library when this program says so. The last line is the list of purchased copies.
"""

import asyncio
import datetime
import json
import sys
import time
import uuid

import httpx

from helper import ConnectionLimits, ProblemError, ServiceTransport, live, rows_of
from library_client import Client
from library_client.api.books import (
    borrow_book_command,
    browse_catalog,
    browse_stock,
    find_copy,
    purchase_book_command,
    return_book_command,
)
from library_client.api.readers import register_reader_command
from library_client.models import (
    BorrowBookCommand,
    CopyStatus,
    PurchaseBookCommand,
    RegisterReaderCommand,
    ReturnBookCommand,
)


class UnreliableTransport(httpx.AsyncHTTPTransport):
    """Counts broken connections. The next requests meet the disruptions: a lost response or another status."""

    def __init__(self) -> None:
        super().__init__()
        self.disruptions: list[str | int] = []
        self.keys: list[str | None] = []
        self.broken_connections = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers.get("Idempotency-Key"))
        disruption = self.disruptions.pop(0) if self.disruptions else None
        if isinstance(disruption, int):
            return httpx.Response(disruption, headers={"Retry-After": "0"})
        try:
            response = await super().handle_async_request(request)
            if disruption == "lost":
                await response.aread()
                raise httpx.ReadError("the response was lost")
            return response
        except httpx.TransportError:
            self.broken_connections += 1
            raise


async def rejection_of(command) -> ProblemError:
    try:
        await command
    except ProblemError as problem:
        return problem
    raise AssertionError("the command was not rejected")


async def walk_through(url: str) -> list[str]:
    network = UnreliableTransport()
    service = ServiceTransport(ConnectionLimits(attempts=1000, total_time=60), network)
    client = Client(base_url=url, httpx_args={"transport": service})
    purchased: list[str] = []
    ada, grace = uuid.uuid4(), uuid.uuid4()

    async def purchase() -> uuid.UUID:
        id = uuid.uuid4()
        book = PurchaseBookCommand(
            id=id, isbn="978-0-345-53943-1", title="The Hobbit", author="J. R. R. Tolkien", num_pages=310
        )
        response = await purchase_book_command.asyncio_detailed(client=client, body=book)
        assert response.status_code == 201
        purchased.append(str(id))
        return id

    async def register(id: uuid.UUID, name: str) -> None:
        await register_reader_command.asyncio_detailed(client=client, body=RegisterReaderCommand(id=id, name=name))

    async def count_of_copies() -> int:
        return (await browse_stock.asyncio(client=client, limit=1, total=True)).total

    id = await purchase()
    await register(ada, "Ada")
    await register(grace, "Grace")
    assert await count_of_copies() == 1, "a query sees the purchase before it"

    network.disruptions = [503, 429, "lost"]
    network.keys = []
    loan = await borrow_book_command.asyncio(client=client, body=BorrowBookCommand(id=id, reader=ada))
    assert network.broken_connections == 1
    assert len(network.keys) == 4, "the command was sent until its response came"
    assert len(set(network.keys)) == 1 and network.keys[0], "the command was sent with one key"
    now = datetime.datetime.now(datetime.timezone.utc)
    assert loan.due_at > now, "the command that was sent again has the reply of the first"
    copy = await find_copy.asyncio(id, client=client)
    assert (copy.status, copy.reader) == (CopyStatus.LENT, ada)

    second = borrow_book_command.asyncio(client=client, body=BorrowBookCommand(id=id, reader=grace))
    conflict = await rejection_of(second)
    assert (conflict.status, conflict.kind) == (409, "copy-lent")
    invalid = await rejection_of(register(ada, ""))
    assert (invalid.kind, invalid.errors[0]["pointer"]) == ("invalid-values", "/name")
    receipt = await return_book_command.asyncio(client=client, body=ReturnBookCommand(id=id))
    assert receipt.late_fee_cents == 0

    stock = live(browse_stock.asyncio, client=client, limit=1, total=True)
    assert (await anext(stock)).total == 1, "a live query begins with the current result"

    # On a busy machine, the service can be back before this program notices that it was away.
    latest_end = time.monotonic() + 3

    async def purchase_until_broken() -> None:
        while network.broken_connections == 1 and time.monotonic() < latest_end:
            await purchase()

    print("kill the service", flush=True)
    await asyncio.gather(*(purchase_until_broken() for _ in range(3)))
    await purchase()
    assert await count_of_copies() == len(purchased), "each copy was purchased once"
    async for page in stock:
        if page.total == len(purchased):
            break
    await stock.aclose()

    limit = min(100, len(purchased) // 3 + 1)
    rows = [str(row.id) async for row in rows_of(browse_stock.asyncio, client=client, limit=limit)]
    assert sorted(rows) == sorted(purchased), "the pages have all copies"
    catalog = await browse_catalog.asyncio(client=client, title="hobbit")
    assert catalog.items[0].total == len(purchased)
    await service.aclose()
    return purchased


print(json.dumps(asyncio.run(walk_through(sys.argv[1]))))
