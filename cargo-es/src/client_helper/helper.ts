// A helper for clients in TypeScript, beside the client that openapi-typescript and openapi-fetch generate.
// It needs nothing but `fetch`: Node from version 18 on, Deno, Bun or a browser.
//
//   const service = new ServiceConnection();
//   const api = createClient<paths, "application/json">({ baseUrl, fetch: service.fetch });

/** The reason for which the service rejected a request (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors?: { pointer: string; message: string }[];
}

/** The error that a call throws if the service rejected it. */
export class ProblemError<P extends Problem = Problem> extends Error {
  readonly problem: P;

  constructor(problem: P) {
    super(`${problem.status} ${problem.detail}`);
    this.name = "ProblemError";
    this.problem = problem;
  }

  /** The end of the problem's type, such as `copy-lent`. */
  get kind(): string {
    return this.problem.type.split(":").at(-1) ?? "";
  }
}

/** Returns whether an error is a problem of this kind. The type parameter is its schema, if it has one of its own. */
export function isProblem<P extends Problem = Problem>(error: unknown, kind: string): error is ProblemError<P> {
  return error instanceof ProblemError && error.kind === kind;
}

/** Returns the body of a response of the generated client. Rejections were thrown before. */
export async function bodyOf<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

/** Yields the rows of all pages. `load` requests the page at a cursor with the generated client. */
export async function* rowsOf<Row>(
  load: (cursor?: string) => Promise<{ data?: { items: Row[]; nextCursor?: string | null } }>,
): AsyncGenerator<Row> {
  let cursor: string | undefined;
  do {
    const page = await bodyOf(load(cursor));
    yield* page.items;
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
}

/** The bounds of a connection. Times are in milliseconds. */
export interface ConnectionLimits {
  /** The number of times that a request is sent, and that a stream breaks in a row. */
  attempts: number;
  /** The time after which a request is not sent again. */
  totalTime: number;
  /** The time that the service has for one response. */
  attemptTime: number;
  /** The time without a sign of life after which a stream counts as broken. The service sends one each 15 s. */
  idleTime: number;
}

/** The options of a request that opens a live query. Pass them on to the generated client. */
export type LiveOptions = {
  headers: Record<string, string>;
  signal: AbortSignal | null;
  parseAs?: "stream";
};

/** Sends the requests of one user, so that queries see what the user's commands wrote. */
export class ServiceConnection {
  /** The id of the last event that a command of this connection wrote. */
  position?: string;
  readonly #limits: ConnectionLimits;
  readonly #send: typeof fetch;

  constructor(limits: Partial<ConnectionLimits> = {}, send: typeof fetch = (input, init) => fetch(input, init)) {
    this.#limits = { attempts: 10, totalTime: 60_000, attemptTime: 20_000, idleTime: 45_000, ...limits };
    this.#send = send;
  }

  /** Sends a request, again if necessary. This is the `fetch` for the generated client. */
  readonly fetch = async (request: Request): Promise<Response> => {
    // Operator routes take no idempotency key, and an unhealthy service is a response and no reason to wait.
    const isOperatorRoute = new URL(request.url).pathname.includes("/actuator/");
    const [name, value] = request.method === "POST" ? ["Idempotency-Key", newKey()] : ["Event-Position", this.position];
    if (!isOperatorRoute && value && !request.headers.has(name)) request.headers.set(name, value);
    const response = isOperatorRoute ? await this.#attempt(request) : await this.#attemptRepeatedly(request);
    this.#remember(response.headers.get("Event-Position"));
    if (response.status >= 400 && mediaType(response) !== "application/json") throw await problemOf(response);
    return response;
  };

  /** Yields the result of a query, and again whenever it changes. `open` calls the generated client. */
  async *live<T>(
    open: (options: LiveOptions) => Promise<{ data?: T; response: Response }>,
    signal?: AbortSignal,
  ): AsyncGenerator<T> {
    let id = "";
    let retry = 0;
    for (let failures = 0; failures < this.#limits.attempts; failures += 1) {
      await pause(retry, signal);
      const headers = { Accept: "text/event-stream", ...(id && { "Last-Event-ID": id }) };
      // This throws if the service is away for longer than the limits allow.
      const { response } = await open({ headers, signal: signal ?? null, parseAs: "stream" });
      try {
        for await (const event of serverSentEvents(response, this.#limits.idleTime)) {
          const data = event.get("data");
          if (event.get("event") === "problem") throw new ProblemError(JSON.parse(data ?? "{}"));
          // The first event of each connection has `retry`. Without a result it is no progress.
          if (data || !event.has("retry")) failures = 0;
          id = event.get("id") ?? id;
          retry = Number(event.get("retry") ?? retry);
          if (data) yield JSON.parse(data) as T;
        }
      } catch (error) {
        const isTemporary = !(error instanceof ProblemError) || error.problem.status === 503;
        if (!isTemporary || signal?.aborted) throw error;
      }
    }
    throw new Error(`The live query broke ${this.#limits.attempts} times in a row`);
  }

  async #attemptRepeatedly(request: Request): Promise<Response> {
    const deadline = Date.now() + this.#limits.totalTime;
    for (let attempt = 1; ; attempt += 1) {
      let wait = 100 * 2 ** Math.min(attempt, 6) * Math.random();
      const isLast = () => attempt >= this.#limits.attempts || Date.now() + wait > deadline;
      try {
        const response = await this.#attempt(request);
        const isTemporary = response.headers.has("Retry-After") || [429, 502, 503, 504].includes(response.status);
        wait = Math.max(wait, 1_000 * (Number(response.headers.get("Retry-After")) || 0));
        if (!isTemporary || isLast()) return response;
      } catch (error) {
        if (request.signal.aborted || isLast()) throw error;
      }
      await pause(wait, request.signal);
    }
  }

  /** Sends a request once, and reads the body of the response unless it is a stream. */
  async #attempt(request: Request): Promise<Response> {
    const timeout = new AbortController();
    const reason = new Error("The service did not respond in time");
    const timer = setTimeout(() => timeout.abort(reason), this.#limits.attemptTime);
    try {
      const signal = AbortSignal.any([request.signal, timeout.signal]);
      const response = await this.#send(request.clone(), { signal });
      if (mediaType(response) === "text/event-stream") return response;
      return new Response([204, 304].includes(response.status) ? null : await response.arrayBuffer(), response);
    } finally {
      clearTimeout(timer);
    }
  }

  #remember(position: string | null) {
    if (position && BigInt(position) > BigInt(this.position ?? "-1")) this.position = position;
  }
}

/** Yields the fields of each server-sent event. A comment has no `data`. */
async function* serverSentEvents(response: Response, idleTime: number): AsyncGenerator<Map<string, string>> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const timer = setTimeout(() => void reader.cancel(), idleTime);
      const { value, done } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      const blocks = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      yield* blocks.map((block) => new Map(block.split("\n").map(fieldOf)));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const fieldOf = (line: string) => line.split(/: ?(.*)/s, 2) as [string, string];

async function problemOf(response: Response): Promise<ProblemError> {
  if (mediaType(response) === "application/problem+json") return new ProblemError(await response.json());
  // The response comes from something between the client and the service.
  const title = response.statusText;
  return new ProblemError({ type: "about:blank", title, status: response.status, detail: await response.text() });
}

const mediaType = (response: Response) => response.headers.get("Content-Type")?.split(";", 1)[0];

// Browsers have `randomUUID` on pages from HTTPS only, and Node from version 19 on. A key has to be unique, not secret.
const newKey = () => globalThis.crypto?.randomUUID?.() ?? `${Date.now()}${Math.random()}${Math.random()}`;

async function pause(milliseconds: number, signal?: AbortSignal) {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  signal?.throwIfAborted();
}
