// The limits of the helper, with responses that no service sends.

import { isProblem, ProblemError, ServiceConnection, type ConnectionLimits, type LiveOptions } from "./helper.js";

type Responder = (signal: AbortSignal) => Promise<Response>;

function check(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`It does not hold that ${sentence}`);
}

/** Sends one request, or follows a live query, and returns the number of attempts and the error. */
async function outcomeOf(respond: Responder, limits: Partial<ConnectionLimits>, isLive = false) {
  let attempts = 0;
  const service = new ServiceConnection({ attempts: 3, ...limits }, (_, init) => {
    attempts += 1;
    return respond(init!.signal!);
  });
  const request = (options?: LiveOptions) => service.fetch(new Request("http://service.test/books", options));
  const follow = async () => {
    for await (const _ of service.live(async (options) => ({ response: await request(options) })));
  };
  const error = await (isLive ? follow() : request()).then(String, (error: unknown) => error);
  return { attempts, error };
}

function stream(text: string, end = true): Response {
  const start = (controller: ReadableStreamDefaultController) => {
    controller.enqueue(new TextEncoder().encode(text));
    if (end) controller.close();
  };
  return new Response(new ReadableStream({ start }), { headers: { "Content-Type": "text/event-stream" } });
}

const broken = await outcomeOf(() => Promise.reject(new TypeError("no connection")), {});
check(broken.attempts === 3 && String(broken.error).includes("no connection"), "attempts are limited");

const busy = async () => new Response("Busy", { status: 503, headers: { "Retry-After": "60" } });
const late = await outcomeOf(busy, { totalTime: 1_000 });
const isUnavailable = isProblem(late.error, "blank") && late.error.problem.status === 503;
check(late.attempts === 1 && isUnavailable, "no attempt begins after the total time");

const never: Responder = (signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const silent = await outcomeOf(never, { attemptTime: 10, attempts: 2 });
check(silent.attempts === 2 && String(silent.error).includes("in time"), "each attempt has a timeout");

const problemJson = { status: 409, headers: { "Content-Type": "application/problem+json" } };
const reject = async () => new Response(JSON.stringify({ type: "t:no", status: 409 }), problemJson);
const rejected = await outcomeOf(reject, {});
check(rejected.attempts === 1 && isProblem(rejected.error, "no"), "a rejected request is not sent again");

const ended = await outcomeOf(async () => stream("retry: 0\n: no change\n\n"), {}, true);
check(ended.attempts === 3 && String(ended.error).includes("3 times"), "broken streams in a row are limited");

const idle = await outcomeOf(async () => stream("retry: 0\n\n", false), { idleTime: 10 }, true);
check(idle.attempts === 3 && String(idle.error).includes("3 times"), "a silent stream counts as broken");

const text = 'retry: 0\ndata: {}\n\nevent: problem\ndata: {"type": "t:gone", "status": 410}\n\n';
const gone = await outcomeOf(async () => stream(text), {}, true);
check(gone.attempts === 1 && gone.error instanceof ProblemError, "a problem ends a live query");
