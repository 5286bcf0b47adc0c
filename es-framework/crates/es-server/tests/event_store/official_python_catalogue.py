"""The calls of the official client about subjects, event types, schemas and queries."""

import asyncio
import inspect
import uuid

from eventsourcingdb import IsEventQlQueryTrue, IsSubjectPopulated, IsSubjectPristine, ServerError

from official_python_client import IS_NEWER, candidate, collect, fresh, read, refused, run, values


def fresh_type():
    return f"io.eventsourcingdb.test.{uuid.uuid4().hex}"


def subjects(client, base):
    """Newer clients want to be told whether to go below the subject; older ones always do."""
    if "options" not in inspect.signature(client.read_subjects).parameters:
        return collect(client.read_subjects(base))
    from eventsourcingdb import ReadSubjectsOptions

    return collect(client.read_subjects(base, ReadSubjectsOptions(recursive=True)))


def described(known):
    """Newer clients say that a type has events, older ones that it is a phantom."""
    if hasattr(known, "is_phantom"):
        return known.event_type, not known.is_phantom, known.schema
    return known.type, known.has_events, known.schema


async def refused_saying(text, code, work):
    """Version 2 has a code where version 1 has a text."""
    try:
        await work
    except ServerError as error:
        if IS_NEWER:
            assert error.code.split("/")[-1] == code, repr(error)
        else:
            assert text in str(error), repr(error)
        return
    raise AssertionError(f"{text!r} was due, and nothing was refused")


VALUED = {"type": "object", "properties": {"value": {"type": "number"}}, "required": ["value"]}


async def lists_subjects_and_those_between_them(client):
    subject = fresh()
    await client.write_events([candidate(f"{subject}/b"), candidate(f"{subject}/a/1")])
    below = [subject, f"{subject}/a", f"{subject}/a/1", f"{subject}/b"]
    assert await subjects(client, subject) == below
    listed = await subjects(client, "/")
    assert listed[:2] == ["/", "/test"] and set(below) < set(listed)
    assert listed == sorted(listed)
    assert await subjects(client, fresh()) == []
    await refused(subjects(client, ""), 400, "subject-missing")


async def lists_event_types_and_describes_them(client):
    written, registered = sorted([fresh_type(), fresh_type()])
    await client.write_events([candidate(fresh(), type=written)])
    await client.register_event_schema(registered, VALUED)
    listed = [described(known) for known in await collect(client.read_event_types())]
    names = [name for name, _, _ in listed]
    assert names == sorted(set(names))
    for expected in [(written, True, None), (registered, False, VALUED)]:
        assert expected in listed
        assert described(await client.read_event_type(expected[0])) == expected
    await client.write_events([candidate(fresh(), type=registered)])
    assert described(await client.read_event_type(registered)) == (registered, True, VALUED)
    unknown = fresh_type()
    not_found = f"event type '{unknown}' not found"
    await refused_saying(not_found, "event-type-unknown", client.read_event_type(unknown))
    short = "invalid event type: 'short'"
    await refused_saying(short, "event-type-malformed", client.read_event_type("short"))


async def registers_a_schema_that_events_follow(client):
    register = client.register_event_schema
    subject, type, taken = fresh(), fresh_type(), fresh_type()
    await register(type, VALUED)
    exists = "schema conflict: schema already exists"
    await refused_saying(exists, "event-schema-already-registered", register(type, VALUED))
    wrong = candidate(subject, "no number", type)
    await refused(client.write_events([candidate(subject), wrong]), 409, "event-schema-violated")
    assert await read(client, subject) == []
    await client.write_events([candidate(subject, 1, type)])
    assert values(await read(client, subject)) == [1]
    [other] = await client.write_events([candidate(subject, "no number", taken)])
    conflict = f"schema conflict: event with ID {other.event_id}: "
    await refused_saying(conflict, "event-schema-violated", register(taken, VALUED))
    no_object = {"type": "gurkenwasser", "properties": {}}
    malformed = "event-schema-malformed"
    await refused_saying('value must be "object"', malformed, register(fresh_type(), no_object))
    no_properties = register(fresh_type(), {"type": "object"})
    await refused_saying("missing properties", malformed, no_properties)


async def runs_queries(client):
    subject = fresh()
    await client.write_events([candidate(subject, n) for n in [23, 42]])
    query = lambda rest: collect(
        client.run_eventql_query(f"FROM e IN events WHERE e.subject == '{subject}' {rest}")
    )
    events = await query("PROJECT INTO e")
    assert [event["data"]["value"] for event in events] == [23, 42]
    assert events[0]["subject"] == subject
    assert await query("ORDER BY e.data.value DESC TOP 1 PROJECT INTO e.data.value") == [42]
    summary = "{ average: AVG(e.data.value), count: COUNT() }"
    assert await query(f"PROJECT INTO {summary}") == [{"average": 32.5, "count": 2}]
    assert await query("AND e.data.value > 50 PROJECT INTO e") == []
    await refused(collect(client.run_eventql_query("FROM e IN")), 400, "query-malformed")


async def writes_only_where_a_query_is_true(client):
    subject = fresh()
    events = f"FROM e IN events WHERE e.subject == '{subject}'"
    has = lambda count: IsEventQlQueryTrue(f"{events} PROJECT INTO COUNT() == {count}")
    write = lambda value, *conditions: client.write_events(
        [candidate(subject, value)], list(conditions)
    )
    await refused(write(9, has(1)), 409, "precondition-violated")
    await write(1, has(0))
    await refused(write(9, has(0)), 409, "precondition-violated")
    await write(2, has(1), IsSubjectPopulated(subject))
    await refused(write(9, has(2), IsSubjectPristine(subject)), 409, "precondition-violated")
    await refused(write(9, IsEventQlQueryTrue("FROM e IN")), 400, "query-malformed")
    assert values(await read(client, subject)) == [1, 2]


STEPS = [
    lists_subjects_and_those_between_them,
    lists_event_types_and_describes_them,
    registers_a_schema_that_events_follow,
    runs_queries,
    writes_only_where_a_query_is_true,
]

asyncio.run(run(STEPS))
