"""The receiver's side of the helper: the vector of the specification, and the published library as a judge."""

import base64
import json
import time
from datetime import datetime, timezone

from standardwebhooks import Webhook

import helper
from webhook import InvalidSignatureError, ReceivedEvents, verify_webhook
from receive import receive

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NEXT_SECRET = "whsec_" + base64.b64encode(b"the secret after a rotation").decode()
STRANGER = "whsec_" + base64.b64encode(b"a secret of somebody else").decode()
EVENT = {"specversion": "1.0", "id": "7", "source": "https://library.test", "type": "t", "data": {"title": "Ædnan"}}
BODY = json.dumps(EVENT, ensure_ascii=False).encode()


def signature(secret: str, sent: int, body: bytes = BODY, id: str = "msg_1") -> str:
    return Webhook(secret).sign(id, datetime.fromtimestamp(sent, timezone.utc), body.decode())


def delivery(age: int = 0, secrets: tuple[str, ...] = (SECRET,), body: bytes = BODY, **changed: str | None):
    """A signed delivery, with some of its headers changed or left out."""
    sent = int(time.time()) - age
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(sent),
        "webhook-signature": " ".join(signature(secret, sent, body) for secret in secrets),
    }
    headers |= {f"webhook-{name}": value for name, value in changed.items()}
    return body, {name: value for name, value in headers.items() if value is not None}


def is_accepted(verify, refusal: type[Exception] = Exception) -> bool:
    try:
        verify()
        return True
    except refusal:
        return False


def check_vector() -> None:
    """The signature that the specification's libraries test with, at its time."""
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    body = b'{"test": 2432232314}'
    today = helper.time.time
    helper.time.time = lambda: 1614265330.9
    assert verify_webhook(body, headers, [SECRET]) == [{"test": 2432232314}], "the vector is accepted"
    helper.time.time = today
    try:
        verify_webhook(body, headers, [SECRET])
    except InvalidSignatureError:
        return
    raise AssertionError("the vector is too old today")


def check_judge() -> None:
    own, both = [SECRET], [SECRET, NEXT_SECRET]
    right = delivery()[1]["webhook-signature"]
    cases = [
        (True, own, delivery()),
        (True, both, delivery(secrets=(NEXT_SECRET,))),
        (True, own, delivery(secrets=(STRANGER, SECRET))),
        (True, own, delivery(secrets=(SECRET, STRANGER))),
        (True, own, delivery(signature=f"v1a,AAAA {right}")),
        (True, [SECRET.removeprefix("whsec_")], delivery()),
        (True, own, delivery(age=290)),
        (True, own, delivery(age=-290)),
        (True, own, delivery(body=json.dumps([EVENT, EVENT]).encode())),
        (True, own, (BODY, {name.title(): value for name, value in delivery()[1].items()})),
        (False, own, delivery(age=310)),
        (False, own, delivery(age=-310)),
        (False, own, delivery(secrets=(STRANGER,))),
        (False, [], delivery()),
        (False, own, delivery(secrets=(NEXT_SECRET,))),
        (False, own, (BODY + b" ", delivery()[1])),
        (False, own, delivery(id="msg_2")),
        (False, own, delivery(timestamp=str(int(time.time()) - 1))),
        (False, own, delivery(timestamp="yesterday")),
        (False, own, delivery(timestamp="")),
        (False, own, delivery(timestamp="9" * 5_000)),
        (False, own, delivery(signature="")),
        (False, own, delivery(signature="v1,")),
        (False, own, delivery(signature="v1,no base64")),
        (False, own, delivery(signature=right.replace("v1,", "v2,"))),
        (False, own, delivery(signature=right.removeprefix("v1,"))),
        *((False, own, delivery(**{name: None})) for name in ("id", "timestamp", "signature")),
    ]
    for is_right, secrets, (body, headers) in cases:
        ours = is_accepted(lambda: verify_webhook(body, headers, secrets), InvalidSignatureError)
        theirs = any(is_accepted(lambda: Webhook(secret).verify(body, headers)) for secret in secrets)
        assert ours == theirs == is_right, (ours, theirs, is_right, headers)
    assert not is_accepted(lambda: verify_webhook(*delivery(), [""])), "an empty secret accepts nothing"


def check_repetitions() -> None:
    received = ReceivedEvents(limit=2)
    events = [EVENT | {"id": id} for id in "123"]
    for event in verify_webhook(*delivery(body=json.dumps(events).encode()), [SECRET]):
        assert event not in received
        received.add(event)
        assert event in received
    assert events[0] not in received, "the memory is bounded"
    assert events[1] in received and events[2] in received
    assert events[1] | {"source": "https://other.test"} not in received, "an id belongs to its source"


def check_page() -> None:
    """The function that the page about public events shows."""
    body, headers = delivery()
    handled: list[dict] = []
    answers = [receive(sent, headers, [SECRET], handled.append) for sent in (body, body, body + b" ")]
    assert answers == [204, 204, 401] and handled == [EVENT], (answers, handled)


check_vector()
check_judge()
check_repetitions()
check_page()
