// Keeps a mirror of Tideover's answers from its event feed. See docs/events.md.
//
// TIDEOVER_KEY=tideover_secret_... node mirror.mjs https://tideover.example.com cards production
import { pathToFileURL } from "node:url";

// How long access continues after `accessUntil`, until the event with the next state arrives.
const LEEWAY = 5 * 60 * 1000;

export class Mirror {
  constructor(environment, readCustomer) {
    this.environment = environment;
    this.readCustomer = readCustomer;
    this.answers = new Map(); // keep both in one transaction of your database
    this.cursor = null;
  }

  // Applies an event. A repeated or late one changes nothing.
  async apply(event) {
    if (event.environment !== this.environment) return;
    let version = event.customerVersion, answer = event.data.answer;
    if (version <= (this.answers.get(event.customer)?.version ?? -1)) return;
    if (answer === undefined) { // stored by a version that wrote no answers
      const snapshot = await this.readCustomer(event.customer);
      [version, answer] = [snapshot.customerVersion, snapshot.entitlements];
    }
    this.answers.set(event.customer, { version, answer });
  }

  // Applies all events that are in the feed now.
  async drain(readPage) {
    for (let more = true; more; ) {
      const page = await readPage(this.cursor);
      for (const event of page.events) await this.apply(event);
      [this.cursor, more] = [page.next, page.more];
    }
  }

  access(customer, entitlement, now) {
    const held = this.answers.get(customer)?.answer[entitlement];
    if (!held?.access) return false;
    return held.accessUntil === null || now < Date.parse(held.accessUntil) + LEEWAY;
  }
}

async function main(server, app, environment, ...flags) {
  const headers = { Authorization: `Bearer ${process.env.TIDEOVER_KEY}` };
  const get = async (path, query) => {
    const url = `${server}/v1/apps/${app}/${path}?${new URLSearchParams(query)}`;
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(30_000) });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response.json();
  };
  const mirror = new Mirror(environment, (customer) =>
    get(`customers/${encodeURIComponent(customer)}`, { environment }));
  const page = (after) => get("events", after ? { after, limit: 1000 } : { limit: 1000 });
  for (;;) {
    await mirror.drain(page);
    if (flags.includes("--once")) return console.log(JSON.stringify([...mirror.answers]));
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

const [, program, ...words] = process.argv;
if (import.meta.url === pathToFileURL(program ?? "").href) await main(...words);
