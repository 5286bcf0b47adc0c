// The walk-through of the library with the generated client and the helper. It gets the URL of the library.
// The test kills and starts the library when this program says so. The last line is the list of purchased copies.

import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";
import { bodyOf, isProblem, rowsOf, ServiceConnection } from "./helper.js";

declare const process: { argv: string[] };

type InvalidValuesProblem = components["schemas"]["InvalidValuesProblem"];

const baseUrl = process.argv[2]!;
/** What happens to the next requests: the response is lost, or this status comes instead. */
const disruptions: ("lost" | number)[] = [];
let keys: (string | null)[] = [];
let brokenConnections = 0;

async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  keys.push((input as Request).headers.get("Idempotency-Key"));
  const disruption = disruptions.shift();
  if (typeof disruption === "number") {
    return new Response(null, { status: disruption, headers: { "Retry-After": "0" } });
  }
  try {
    const response = await fetch(input, init);
    if (disruption !== "lost") return response;
    await response.arrayBuffer();
    throw new TypeError("the response was lost");
  } catch (error) {
    brokenConnections += 1;
    throw error;
  }
}

const service = new ServiceConnection({ attempts: 1_000, totalTime: 60_000 }, send);
const api = createClient<paths, "application/json">({ baseUrl, fetch: service.fetch });
const purchased: string[] = [];
const [ada, grace] = [newId(), newId()];

function newId(): string {
  const digits = () => Math.floor(Math.random() * 0x10000).toString(16).padStart(4, "0");
  return `${digits()}${digits()}-${digits()}-4${digits().slice(1)}-8${digits().slice(1)}-${digits()}${digits()}${digits()}`;
}

function check(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`It does not hold that ${sentence}`);
}

async function purchase(): Promise<string> {
  const id = newId();
  const body = { id, isbn: "978-0-345-53943-1", title: "The Hobbit", author: "J. R. R. Tolkien", numPages: 310 };
  const { response } = await api.POST("/books/purchase", { body });
  check(response.status === 201, "a purchase creates a copy");
  purchased.push(id);
  return id;
}

async function countOfCopies(): Promise<number> {
  const page = await bodyOf(api.GET("/books", { params: { query: { limit: 1, total: true } } }));
  return page.total ?? -1;
}

const id = await purchase();
await api.POST("/readers/register", { body: { id: ada, name: "Ada" } });
await api.POST("/readers/register", { body: { id: grace, name: "Grace" } });
check((await countOfCopies()) === 1, "a query sees the purchase before it");

disruptions.push(503, 429, "lost");
keys = [];
const loan = await bodyOf(api.POST("/books/borrow", { body: { id, reader: ada } }));
check(brokenConnections === 1 && keys.length === 4, "the command was sent until its response came");
check(new Set(keys).size === 1 && keys[0] !== null, "the command was sent with one key");
check(Date.parse(loan.dueAt) > Date.now(), "the command that was sent again has the reply of the first");
const copy = await bodyOf(api.GET("/books/{id}", { params: { path: { id } } }));
check(copy.status === "lent" && copy.reader === ada, "a query sees the loan");

const conflict = await api.POST("/books/borrow", { body: { id, reader: grace } }).catch((error: unknown) => error);
check(isProblem(conflict, "copy-lent") && conflict.problem.status === 409, "a lent copy cannot be borrowed");
const invalid = await api.POST("/readers/register", { body: { id: ada, name: "" } }).catch((error: unknown) => error);
const isInvalid = isProblem<InvalidValuesProblem>(invalid, "invalid-values");
check(isInvalid && invalid.problem.errors[0]?.pointer === "/name", "a problem names the invalid value");
const receipt = await bodyOf(api.POST("/books/return", { body: { id } }));
check(receipt.lateFeeCents === 0, "the copy comes back in time");

const stock = service.live((options) =>
  api.GET("/books", { params: { query: { limit: 1, total: true } }, ...options }),
);
check((await stock.next()).value?.total === 1, "a live query begins with the current result");

const end = new AbortController();
const loans = service.live((options) => api.GET("/loans/overdue", options), end.signal);
await loans.next();
const interrupted = loans.next().catch((error: Error) => error.name);
end.abort();
check((await interrupted) === "AbortError", "a signal ends a live query");

console.log("kill the service");
// On a busy machine, the service can be back before this program notices that it was away.
const latestEnd = Date.now() + 3_000;
const purchaseUntilBroken = async () => {
  while (brokenConnections === 1 && Date.now() < latestEnd) await purchase();
};
await Promise.all([purchaseUntilBroken(), purchaseUntilBroken(), purchaseUntilBroken()]);
await purchase();
check((await countOfCopies()) === purchased.length, "each copy was purchased once");
for await (const page of stock) {
  if (page.total === purchased.length) break;
}

const limit = Math.min(100, Math.ceil(purchased.length / 3));
const rows: string[] = [];
for await (const row of rowsOf((cursor) => api.GET("/books", { params: { query: { limit, cursor } } }))) {
  rows.push(row.id);
}
check([...rows].sort().join() === [...purchased].sort().join(), "the pages have all copies");
const catalog = await bodyOf(api.GET("/books/catalog", { params: { query: { title: "hobbit" } } }));
check(catalog.items[0]?.total === purchased.length, "the catalog counts the copies of a title");
console.log(JSON.stringify(purchased));
