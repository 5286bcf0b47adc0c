// Validates an AsyncAPI document with the official parser, and prints what it has understood.
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

const { document, diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
const complaints = diagnostics.filter(({ severity }) => severity < 2);
for (const { path, message } of complaints) {
  console.error(`/${path.join("/")}: ${message}`);
}
if (!document || complaints.length > 0) {
  process.exit(1);
}
for (const operation of document.operations().all()) {
  for (const message of operation.messages().all()) {
    console.log(`${operation.action()} ${message.name()}`);
  }
}
