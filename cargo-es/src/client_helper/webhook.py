"""A helper for receivers of public events in Python 3.11.

It verifies deliveries with `verify_webhook`, and skips repetitions with `ReceivedEvents`.
"""

import base64
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any


class InvalidSignatureError(Exception):
    """The delivery is not signed with a secret of the receiver, or is more than five minutes older or newer than now."""


def verify_webhook(body: bytes, headers: Mapping[str, str], secrets: Iterable[str]) -> list[dict[str, Any]]:
    """Returns the CloudEvents of a delivery that is signed as Standard Webhooks says, or raises `InvalidSignatureError`.

    `body` has the bytes as they came. `secrets` are those with which a sender may sign: two of them during a rotation.
    """
    values = {name.lower(): value for name, value in headers.items()}
    id, timestamp = values.get("webhook-id", ""), values.get("webhook-timestamp", "")
    is_recent = re.fullmatch("[0-9]{1,12}", timestamp) and abs(time.time() - int(timestamp)) <= 300
    if not id or not is_recent:
        raise InvalidSignatureError("The id or the time of the delivery is missing or too far from now")
    signed = f"{id}.{timestamp}.".encode() + body
    digests = [hmac.digest(_webhook_key(secret), signed, "sha256") for secret in secrets]
    expected = [b"v1," + base64.b64encode(digest) for digest in digests]
    signatures = values.get("webhook-signature", "").encode().split(b" ")
    if not any(hmac.compare_digest(one, other) for one in expected for other in signatures):
        raise InvalidSignatureError("No signature of the delivery fits a secret")
    events = json.loads(body)
    return events if isinstance(events, list) else [events]


def _webhook_key(secret: str) -> bytes:
    key = base64.b64decode(secret.removeprefix("whsec_") + "==")
    if not key:
        raise ValueError("The secret of a webhook is empty")
    return key


class ReceivedEvents:
    """Remembers the last events that took effect: skip an event that is `in` it, and `add` it after its effect.

    This memory ends with the process, and other processes have their own. Durable is a table of your database whose
    primary key is the source and id of the event: insert the row in the transaction of the effect.
    """

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._keys: dict[tuple[str, str], None] = {}

    def __contains__(self, event: Mapping[str, Any]) -> bool:
        return (event["source"], event["id"]) in self._keys

    def add(self, event: Mapping[str, Any]) -> None:
        """Remembers an event, and forgets the oldest one beyond the limit."""
        self._keys[event["source"], event["id"]] = None
        if len(self._keys) > self._limit:
            del self._keys[next(iter(self._keys))]
