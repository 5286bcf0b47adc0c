// The receiver's side of the helper: the vector of the specification, and the published library as a judge.

import { Webhook } from "standardwebhooks";
import { InvalidSignatureError, type PublicEvent, ReceivedEvents, verifyWebhook } from "./webhook.js";
import { receive } from "./receive.js";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const nextSecret = `whsec_${btoa("the secret after a rotation")}`;
const stranger = `whsec_${btoa("a secret of somebody else")}`;
const event = { specversion: "1.0", id: "7", source: "https://library.test", type: "t", data: { title: "Ædnan" } };
const body = JSON.stringify(event);
const right = () => delivery().headers["webhook-signature"]!;

function check(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`It does not hold that ${sentence}`);
}

interface Changes {
  age?: number;
  secrets?: string[];
  body?: string;
  headers?: Record<string, string | undefined>;
}

/** A signed delivery, with some of its headers changed or left out. */
function delivery(changes: Changes = {}) {
  const sent = Math.floor(Date.now() / 1_000) - (changes.age ?? 0);
  const text = changes.body ?? body;
  const signed = (changes.secrets ?? [secret]).map((one) => new Webhook(one).sign("msg_1", new Date(sent * 1_000), text));
  const headers: Record<string, string | undefined> = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(sent),
    "webhook-signature": signed.join(" "),
    ...changes.headers,
  };
  return { body: text, headers };
}

async function isAccepted(verify: () => unknown, refusal: new (message?: string) => Error = Error): Promise<boolean> {
  try {
    await verify();
    return true;
  } catch (error) {
    if (error instanceof refusal) return false;
    throw error;
  }
}

/** The signature that the specification's libraries test with, at its time. */
const vector = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const today = Date.now;
Date.now = () => 1_614_265_330_900;
const ofVector: unknown[] = await verifyWebhook('{"test": 2432232314}', vector, [secret]);
check(JSON.stringify(ofVector) === '[{"test":2432232314}]', "the vector is accepted");
Date.now = today;
const old: unknown = await verifyWebhook('{"test": 2432232314}', vector, [secret]).catch((error: unknown) => error);
check(old instanceof InvalidSignatureError, "the vector is too old today");

const [own, both] = [[secret], [secret, nextSecret]];
const cases: [boolean, string[], ReturnType<typeof delivery>][] = [
  [true, own, delivery()],
  [true, both, delivery({ secrets: [nextSecret] })],
  [true, own, delivery({ secrets: [stranger, secret] })],
  [true, own, delivery({ secrets: [secret, stranger] })],
  [true, own, delivery({ headers: { "webhook-signature": `v1a,AAAA ${right()}` } })],
  [true, own, delivery({ headers: { "webhook-signature": `v1,%%% ${right()}` } })],
  [true, [secret.replace("whsec_", "")], delivery()],
  [true, own, delivery({ age: 290 })],
  [true, own, delivery({ age: -290 })],
  [true, own, delivery({ body: JSON.stringify([event, event]) })],
  [false, own, delivery({ age: 310 })],
  [false, own, delivery({ age: -310 })],
  [false, own, delivery({ secrets: [stranger] })],
  [false, [], delivery()],
  [false, own, delivery({ secrets: [nextSecret] })],
  [false, own, { ...delivery(), body: `${body} ` }],
  [false, own, delivery({ headers: { "webhook-id": "msg_2" } })],
  [false, own, delivery({ headers: { "webhook-timestamp": String(Math.floor(Date.now() / 1_000) - 1) } })],
  [false, own, delivery({ headers: { "webhook-timestamp": "yesterday" } })],
  [false, own, delivery({ headers: { "webhook-timestamp": "9".repeat(5_000) } })],
  [false, own, delivery({ headers: { "webhook-signature": "v1," } })],
  [false, own, delivery({ headers: { "webhook-signature": "v1,no base64" } })],
  [false, own, delivery({ headers: { "webhook-signature": right().replace("v1,", "v2,") } })],
  [false, own, delivery({ headers: { "webhook-signature": right().replace("v1,", "") } })],
  ...["id", "timestamp", "signature"].flatMap((name) =>
    [undefined, ""].map((value): [boolean, string[], ReturnType<typeof delivery>] => [
      false,
      own,
      delivery({ headers: { [`webhook-${name}`]: value } }),
    ]),
  ),
];
for (const [isRight, secrets, { body, headers }] of cases) {
  const judges = secrets.map((one) => isAccepted(() => new Webhook(one).verify(body, headers as Record<string, string>)));
  const theirs = (await Promise.all(judges)).includes(true);
  const bytes = new TextEncoder().encode(body);
  const present = Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== undefined);
  for (const ours of [
    await isAccepted(() => verifyWebhook(body, headers, secrets), InvalidSignatureError),
    await isAccepted(() => verifyWebhook(bytes, new Headers(present), secrets), InvalidSignatureError),
  ]) {
    check(ours === theirs && ours === isRight, `${isRight} is right for ${JSON.stringify(headers)}`);
  }
}
const empty = delivery();
check(!(await isAccepted(() => verifyWebhook(empty.body, empty.headers, [""]))), "an empty secret accepts nothing");

const received = new ReceivedEvents(2);
const events = ["1", "2", "3"].map((id) => ({ ...event, id }));
const batch = delivery({ body: JSON.stringify(events) });
for (const one of await verifyWebhook(batch.body, batch.headers, [secret])) {
  check(!received.has(one), "a new event is new");
  received.add(one);
  check(received.has(one), "an added event is known");
}
check(!received.has(events[0]!), "the memory is bounded");
check(received.has(events[1]!) && received.has(events[2]!), "the last events are known");
check(!received.has({ ...events[1]!, source: "https://other.test" }), "an id belongs to its source");

/** The function that the page about public events shows. */
const handled: PublicEvent[] = [];
const sent = delivery();
const answers: number[] = [];
for (const body of [sent.body, sent.body, `${sent.body} `]) {
  const headers = sent.headers as Record<string, string>;
  const request = new Request("http://receiver.test", { method: "POST", body, headers });
  answers.push((await receive(request, [secret], async (event) => void handled.push(event))).status);
}
check(String(answers) === "204,204,401", "the function of the page answers as it should");
check(JSON.stringify(handled) === JSON.stringify([event]), "the function of the page handles an event once");
