// A helper for receivers of public events in TypeScript: verifies deliveries with `verifyWebhook`, and skips repetitions with
// `ReceivedEvents`. It needs nothing but `crypto`: Node from version 20 on, Deno, Bun or a worker.

/** An event that another system published (CloudEvents 1.0). */
export interface PublicEvent<T = unknown> {
  id: string;
  source: string;
  type: string;
  subject?: string;
  time?: string;
  data: T;
  [attribute: string]: unknown;
}

/** The delivery is not signed with a secret of the receiver, or is more than five minutes older or newer than now. */
export class InvalidSignatureError extends Error {
  readonly name = "InvalidSignatureError";
}

/**
 * Returns the CloudEvents of a delivery that is signed as Standard Webhooks says, or throws an `InvalidSignatureError`.
 * `body` has the bytes as they came, and `headers` are those of `fetch` or of Node. `secrets` are those with which a sender
 * may sign: two of them during a rotation.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  secrets: string[],
): Promise<PublicEvent[]> {
  const header = (name: string) => String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? "");
  const id = header("webhook-id");
  const timestamp = header("webhook-timestamp");
  const isRecent = /^[0-9]{1,12}$/.test(timestamp) && Math.abs(Date.now() / 1_000 - Number(timestamp)) <= 300;
  if (!id || !isRecent) {
    throw new InvalidSignatureError("The id or the time of the delivery is missing or too far from now");
  }
  const signed = await new Blob([`${id}.${timestamp}.`, body as BlobPart]).arrayBuffer();
  // A sender signs with a few secrets. Each signature costs a hash of the body.
  const signatures = header("webhook-signature").split(" ").slice(0, 16);
  for (const secret of secrets) {
    const bytes = bytesOf(secret.replace(/^whsec_/, ""));
    if (!bytes?.length) throw new Error("The secret of a webhook is empty or no base64");
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
    for (const signature of signatures) {
      const expected = signature.startsWith("v1,") && bytesOf(signature.slice(3));
      // The comparison takes the same time for all signatures.
      if (expected && (await crypto.subtle.verify("HMAC", key, expected, signed))) {
        const events = JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
        return Array.isArray(events) ? events : [events];
      }
    }
  }
  throw new InvalidSignatureError("No signature of the delivery fits a secret");
}

function bytesOf(base64: string) {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/**
 * Remembers the last events that took effect: skip an event that it has, and add it after its effect.
 *
 * This memory ends with the process, and other processes have their own. Durable is a table of your database whose primary
 * key is the source and id of the event: insert the row in the transaction of the effect.
 */
export class ReceivedEvents {
  readonly #limit: number;
  readonly #keys = new Set<string>();

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  has(event: PublicEvent): boolean {
    return this.#keys.has(keyOf(event));
  }

  /** Remembers an event, and forgets the oldest one beyond the limit. */
  add(event: PublicEvent): void {
    this.#keys.add(keyOf(event));
    const [oldest] = this.#keys;
    if (this.#keys.size > this.#limit && oldest) this.#keys.delete(oldest);
  }
}

const keyOf = (event: PublicEvent) => JSON.stringify([event.source, event.id]);
