// Speaks with the test: a JSON object per line asks, a JSON object per line answers.
import { createInterface } from "node:readline";

/** Tells the test something, as one line. */
export function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Answers until the end of the input; `handlers` maps the member "do" to an async function. */
export async function serve(handlers) {
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    try {
      say(await handlers[request.do](request));
    } catch (error) {
      say({ error: `${error}` }); // every failure is an answer that the test can show
    }
  }
  process.exit(0);
}
