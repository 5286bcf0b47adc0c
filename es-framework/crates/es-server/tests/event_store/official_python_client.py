"""The calls of the official client about events, each checked for what it promises."""

import asyncio
import sys
import uuid

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from eventsourcingdb import (
    Bound,
    BoundType,
    Client,
    EventCandidate,
    IfEventIsMissingDuringObserve,
    IfEventIsMissingDuringRead,
    IsSubjectOnEventId,
    IsSubjectPopulated,
    IsSubjectPristine,
    ObserveEventsOptions,
    ObserveFromLatestEvent,
    Order,
    ReadEventsOptions,
    ReadFromLatestEvent,
    ServerError,
)
from eventsourcingdb.errors import CustomError

import eventsourcingdb

URL, TOKEN, KEY_FILE = sys.argv[1:4]
IS_NEWER = hasattr(eventsourcingdb, "ReadSubjectsOptions")
TYPE = "io.eventsourcingdb.test"
OTHER_TYPE = "io.eventsourcingdb.other"
TRACE_PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def fresh():
    return f"/test/{uuid.uuid4()}"


def candidate(subject, value=0, type=TYPE, **more):
    data = {"value": value, "text": "<&> \"quoted\" \\", "nested": {"b": [1, 1.5, None], "a": True}}
    return EventCandidate(
        source="https://www.eventsourcingdb.io", subject=subject, type=type, data=data, **more
    )


async def collect(stream):
    return [event async for event in stream]


async def read(client, subject, recursive=False, **options):
    options = ReadEventsOptions(recursive=recursive, **options)
    return await collect(client.read_events(subject, options))


async def take(count, stream):
    """The first events of a stream that does not end; then it is closed, as a client that goes."""
    events = []
    try:
        async for event in stream:
            events.append(event)
            if len(events) == count:
                return events
    finally:
        await stream.aclose()
    raise AssertionError("the observation ended")


def values(events):
    return [event.data["value"] for event in events]


async def refused(work, status, code=None):
    """Newer clients speak version 2, whose errors have status 200 and a code, but for a wrong token.
    Older ones have the status in the text."""
    try:
        await work
    except ServerError as error:
        if not IS_NEWER:
            assert str(status) in str(error), repr(error)
        elif code is None:
            assert error.status == status, repr(error)
        else:
            assert (error.status, error.code.split("/")[-1]) == (200, code), repr(error)
        return
    raise AssertionError(f"{status} was due, and nothing was refused")


async def refused_by_either(work):
    """What newer clients refuse themselves and older ones leave to the server."""
    try:
        await work
    except CustomError:
        return
    raise AssertionError("nothing was refused")


async def pings(client):
    await client.ping()


async def verifies_its_token(client):
    await client.verify_api_token()
    async with Client(base_url=URL, api_token="wrong") as stranger:
        await stranger.ping()
        await refused(stranger.verify_api_token(), 401)
        await refused(stranger.write_events([candidate(fresh())]), 401)
        await refused(read(stranger, "/", recursive=True), 401)


async def writes_what_it_reads(client):
    subject = fresh()
    written = await client.write_events([candidate(subject, 1), candidate(subject, 2)])
    events = await read(client, subject)
    assert events == written and values(events) == [1, 2]
    assert int(events[1].event_id) == int(events[0].event_id) + 1
    assert events[0].data == candidate(subject, 1).data
    assert (events[0].type, events[0].subject) == (TYPE, subject)


async def verifies_hashes_and_signatures(client):
    with open(KEY_FILE, "rb") as file:
        key = load_pem_private_key(file.read(), password=None).public_key()
    await client.write_events([candidate(fresh(), 1), candidate(fresh(), 2)])
    before = "0" * 64
    for event in await read(client, "/", recursive=True):
        event.verify_hash()
        event.verify_signature(key)
        assert event.predecessor_hash == before
        before = event.hash


async def carries_a_trace(client):
    subject = fresh()
    traced = candidate(subject, trace_parent=TRACE_PARENT, trace_state="vendor=value")
    await client.write_events([traced, candidate(subject)])
    with_trace, without = await read(client, subject)
    assert with_trace.trace_parent == TRACE_PARENT
    assert with_trace.trace_state == "vendor=value"
    assert without.trace_parent is None and without.trace_state is None


async def writes_only_where_the_preconditions_hold(client):
    subject = fresh()
    write = lambda *conditions: client.write_events([candidate(subject, 9)], list(conditions))
    await refused(write(IsSubjectPopulated(subject)), 409, "precondition-violated")
    await refused(write(IsSubjectOnEventId(subject, "0")), 409, "precondition-violated")
    [first] = await client.write_events([candidate(subject, 1)], [IsSubjectPristine(subject)])
    await refused(write(IsSubjectPristine(subject)), 409, "precondition-violated")
    holds = [IsSubjectPopulated(subject), IsSubjectOnEventId(subject, first.event_id)]
    await client.write_events([candidate(subject, 2)], holds)
    await refused(write(*holds), 409, "precondition-violated")
    assert values(await read(client, subject)) == [1, 2]


async def writes_all_events_or_none(client):
    subject = fresh()
    await refused(client.write_events([candidate(subject), candidate("no subject")]), 400, "subject-malformed")
    short = candidate(subject, type="short")
    await refused(client.write_events([candidate(subject), short]), 400, "event-type-malformed")
    await refused(client.write_events([]), 400, "events-missing")
    assert await read(client, subject) == []


async def reads_recursively_and_in_both_orders(client):
    subject = fresh()
    subjects = [subject, f"{subject}/a", f"{subject}/a/b", f"{subject}2"]
    await client.write_events([candidate(s, n) for n, s in enumerate(subjects)])
    assert values(await read(client, subject)) == [0]
    assert values(await read(client, subject, recursive=True)) == [0, 1, 2]
    backwards = await read(client, subject, recursive=True, order=Order.ANTICHRONOLOGICAL)
    assert values(backwards) == [2, 1, 0]
    forwards = await read(client, subject, recursive=True, order=Order.CHRONOLOGICAL)
    assert values(forwards) == [0, 1, 2]
    assert await read(client, fresh()) == []


async def reads_within_bounds(client):
    subject = fresh()
    written = await client.write_events([candidate(subject, n) for n in range(6)])
    for lower, lowest in [(BoundType.INCLUSIVE, 1), (BoundType.EXCLUSIVE, 2)]:
        for upper, highest in [(BoundType.INCLUSIVE, 4), (BoundType.EXCLUSIVE, 3)]:
            bounds = {
                "lower_bound": Bound(written[1].event_id, lower),
                "upper_bound": Bound(written[4].event_id, upper),
            }
            expected = list(range(lowest, highest + 1))
            assert values(await read(client, subject, **bounds)) == expected
            backwards = await read(client, subject, order=Order.ANTICHRONOLOGICAL, **bounds)
            assert values(backwards) == expected[::-1]


async def reads_from_the_latest_event_of_a_type(client):
    subject = fresh()
    types = [TYPE, OTHER_TYPE, OTHER_TYPE, TYPE]
    written = await client.write_events([candidate(subject, n, t) for n, t in enumerate(types)])

    def latest(type, if_missing):
        return {"from_latest_event": ReadFromLatestEvent(subject, type, if_missing)}

    nothing = IfEventIsMissingDuringRead.READ_NOTHING
    everything = IfEventIsMissingDuringRead.READ_EVERYTHING
    missing = "io.eventsourcingdb.missing"
    assert values(await read(client, subject, **latest(OTHER_TYPE, nothing))) == [2, 3]
    assert values(await read(client, subject, **latest(missing, nothing))) == []
    assert values(await read(client, subject, **latest(missing, everything))) == [0, 1, 2, 3]
    behind = Bound(written[0].event_id, BoundType.INCLUSIVE)
    late = read(client, subject, upper_bound=behind, **latest(TYPE, nothing))
    await refused(late, 409, "range-unsatisfiable")
    lower = {"lower_bound": behind}
    await refused_by_either(read(client, subject, **lower, **latest(TYPE, nothing)))


async def is_told_what_is_wrong_with_a_read(client):
    for bound in ["hello", "-1", ""]:
        lower = Bound(bound, BoundType.INCLUSIVE)
        code = "event-id-malformed" if bound else "event-id-missing"
        await refused(read(client, "/", lower_bound=lower), 400, code)
        await refused(read(client, "/", upper_bound=lower), 400, code)
    for subject in ["", "test", "/te st"]:
        code = "subject-malformed" if subject else "subject-missing"
        await refused(read(client, subject), 400, code)
        observation = client.observe_events(subject, ObserveEventsOptions(recursive=False))
        await refused(take(1, observation), 400, code)


async def observes_what_is_stored_and_what_comes(client):
    subject = fresh()
    await client.write_events([candidate(subject, 0), candidate(f"{subject}/a", 1)])
    stream = client.observe_events(subject, ObserveEventsOptions(recursive=True))
    observing = asyncio.ensure_future(take(4, stream))
    # Long enough for signs of life to be among what it reads.
    await asyncio.sleep(2.5)
    await client.write_events([candidate(subject, 2), candidate(fresh(), 9)])
    await client.write_events([candidate(f"{subject}/a/b", 3)])
    observed = await observing
    assert values(observed) == [0, 1, 2, 3]
    for event in observed:
        event.verify_hash()


async def resumes_an_observation_after_the_last_event(client):
    subject = fresh()
    await client.write_events([candidate(subject, n) for n in range(3)])
    options = ObserveEventsOptions(recursive=False)
    seen = await take(2, client.observe_events(subject, options))
    await client.write_events([candidate(subject, 3)])
    after = Bound(seen[-1].event_id, BoundType.EXCLUSIVE)
    options = ObserveEventsOptions(recursive=False, lower_bound=after)
    seen += await take(2, client.observe_events(subject, options))
    assert values(seen) == [0, 1, 2, 3]


async def observes_from_the_latest_event_of_a_type(client):
    subject = fresh()
    types = [TYPE, OTHER_TYPE, OTHER_TYPE, TYPE]
    await client.write_events([candidate(subject, n, t) for n, t in enumerate(types)])

    def latest(type, if_missing):
        latest = ObserveFromLatestEvent(subject, type, if_missing)
        options = ObserveEventsOptions(recursive=False, from_latest_event=latest)
        return client.observe_events(subject, options)

    wait = IfEventIsMissingDuringObserve.WAIT_FOR_EVENT
    everything = IfEventIsMissingDuringObserve.READ_EVERYTHING
    awaited = "io.eventsourcingdb.awaited"
    assert values(await take(2, latest(OTHER_TYPE, wait))) == [2, 3]
    assert values(await take(4, latest(awaited, everything))) == [0, 1, 2, 3]
    waiting = asyncio.ensure_future(take(2, latest(awaited, wait)))
    await asyncio.sleep(0.3)
    await client.write_events([candidate(subject, 4)])
    await client.write_events([candidate(subject, 5, awaited), candidate(subject, 6)])
    assert values(await waiting) == [5, 6]


async def checks_preconditions_over_all_subjects_below_one(client):
    if not IS_NEWER:
        return
    recursive = eventsourcingdb.PreconditionOptions(recursive=True)
    subject = fresh()
    child = f"{subject}/a/b"
    pristine = IsSubjectPristine(subject, recursive)
    populated = IsSubjectPopulated(subject, recursive)
    write = lambda *conditions: client.write_events([candidate(child)], list(conditions))
    await refused(write(populated), 409, "precondition-violated")
    [first] = await write(pristine)
    await refused(write(pristine), 409, "precondition-violated")
    [second] = await write(populated, IsSubjectOnEventId(subject, first.event_id, recursive))
    stale = IsSubjectOnEventId(subject, first.event_id, recursive)
    await refused(write(stale), 409, "precondition-violated")
    await write(IsSubjectOnEventId(subject, second.event_id, recursive))


STEPS = [
    pings,
    verifies_its_token,
    writes_what_it_reads,
    verifies_hashes_and_signatures,
    carries_a_trace,
    writes_only_where_the_preconditions_hold,
    writes_all_events_or_none,
    checks_preconditions_over_all_subjects_below_one,
    reads_recursively_and_in_both_orders,
    reads_within_bounds,
    reads_from_the_latest_event_of_a_type,
    is_told_what_is_wrong_with_a_read,
    observes_what_is_stored_and_what_comes,
    resumes_an_observation_after_the_last_event,
    observes_from_the_latest_event_of_a_type,
]


async def run(steps):
    async with Client(base_url=URL, api_token=TOKEN) as client:
        for step in steps:
            print(step.__name__, flush=True)
            # A server that hangs fails instead of blocking the run.
            await asyncio.wait_for(step(client), timeout=30)


if __name__ == "__main__":
    asyncio.run(run(STEPS))
