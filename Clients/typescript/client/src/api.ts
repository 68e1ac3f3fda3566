import { TideoverError } from "./errors.js";
import { HTTP } from "./http.js";
import type { RetryOptions } from "./http.js";
import { isObject } from "./pass.js";
import type {
  CustomerTimeline, DeviceEvidence, Events, Explanation, PassKeys, PromptReport, Reconciled, ShownPrompt,
  Snapshot, TrialOffer,
} from "./types.js";

export type Environment = Snapshot["environment"];

export interface APIOptions extends RetryOptions {
  /** The server, such as `https://billing.example.com`. */
  url: string;
  /** The app's id in the server's configuration. */
  app: string;
  /** A public key on a device, a secret key in a back end. */
  key: string;
  /** `production` unless given. */
  environment?: Environment;
  /** The store of the device: trial offers are then of its products. */
  store?: TrialOffer["store"];
  /**
   * The customer's languages, as `Accept-Language` writes them: `de-AT, en;q=0.5`. Texts are in the
   * first one that the server knows. Browsers send their own unless this is given; React Native on
   * Android does not.
   */
  language?: string;
}

/** A snapshot and the tag to ask with the next time. */
export interface TaggedSnapshot {
  snapshot: Snapshot;
  etag: string | undefined;
}

/** Reads at an instant, RFC 3339, or with what was known by then. */
export interface Moment {
  at?: string;
  asKnownAt?: string;
}

/** The most purchases of Google Play that one request takes. */
const mostPieces = 16;

/** The routes of a Tideover server for one app. It keeps nothing between calls. */
export class TideoverAPI {
  readonly app: string;
  readonly environment: Environment;
  readonly store: TrialOffer["store"] | undefined;
  private readonly http: HTTP;
  private readonly base: string;
  private readonly standard: Record<string, string>;

  constructor(options: APIOptions) {
    this.app = options.app;
    this.environment = options.environment ?? "production";
    this.store = options.store;
    this.http = new HTTP(options);
    this.base = `${options.url.replace(/\/+$/, "")}/v1/apps/${encodeURIComponent(options.app)}`;
    this.standard = { Accept: "application/json", Authorization: `Bearer ${options.key}` };
    if (options.language) this.standard["Accept-Language"] = options.language;
  }

  /** What a customer may use now; undefined if it is still what has the tag `etag`. */
  async snapshot(customer: string, etag?: string): Promise<TaggedSnapshot | undefined> {
    const headers: Record<string, string> = etag ? { "If-None-Match": etag } : {};
    const answer = await this.http.send("GET", this.customer(customer, "", { store: this.store }), this.headers(headers));
    if (answer.status === 304) return undefined;
    return { snapshot: stated(answer.status, answer.body), etag: answer.etag };
  }

  /** Presents what a device has in hand. More purchases than one request takes are sent in several;
   * the last answer counts, with the items of all of them. */
  async reconcile(customer: string, evidence: DeviceEvidence): Promise<Reconciled> {
    const { purchases = [], device, ...rest } = evidence;
    const url = this.customer(customer, "/reconcile", { store: this.store });
    const headers = this.headers({ "Content-Type": "application/json" });
    let answer: Reconciled | undefined;
    let items: Reconciled["items"] = [];
    for (let first = 0; first === 0 || first < purchases.length; first += mostPieces) {
      const part = purchases.slice(first, first + mostPieces);
      const body: DeviceEvidence = first === 0 ? { ...rest } : {};
      if (part.length > 0) body.purchases = part;
      // The device concluded from all of them: the server compares once it has them too.
      if (device && first + mostPieces >= purchases.length) body.device = device;
      const { status, body: text } = await this.http.send("POST", url, headers, JSON.stringify(body));
      answer = stated<Reconciled>(status, text);
      items = items.concat((answer.items ?? []).map(
        (item) => item.kind === "purchase" ? { ...item, index: item.index + first } : item));
    }
    return { ...answer!, items };
  }

  /** Reports that a prompt was shown, so that the next one waits as the server's policy says. Report
   * it again with the same `id` and the `response` of the customer. `environment` is the answer's,
   * which a sandbox that answers for production names. */
  async reportPrompt(
    customer: string, report: PromptReport, environment: Environment = this.environment,
  ): Promise<ShownPrompt> {
    const headers = this.headers({ "Content-Type": "application/json" });
    const { status, body } = await this.http.send(
      "POST", this.customer(customer, "/prompts", { environment }), headers, JSON.stringify(report));
    return parsed(status, body);
  }

  /** What a customer lived through. Needs a secret key. */
  async timeline(customer: string, moment: Moment = {}): Promise<CustomerTimeline> {
    return this.get(this.customer(customer, "/timeline", { ...moment }));
  }

  /** Why a customer may use what. Needs a secret key. */
  async explain(customer: string, moment: Moment = {}): Promise<Explanation> {
    return this.get(this.customer(customer, "/explain", { ...moment }));
  }

  /** A page of the change feed, from the event after `after`. Needs a secret key. */
  events(after?: string, limit?: number): Promise<Events> {
    return this.get(`${this.base}/events${query({ after, limit: limit?.toString() })}`);
  }

  /** All events after `after`, then nothing: keep the last id and go on from it later. */
  async *eventsAfter(after?: string): AsyncIterableIterator<Events["events"][number]> {
    for (let place = after; ;) {
      const page = await this.events(place);
      for (const event of page.events) yield event;
      if (!page.more || page.next === null) return;
      place = page.next;
    }
  }

  /** The public keys that passes are checked with. */
  passKeys(): Promise<PassKeys> {
    return this.get(`${this.base}/pass-keys`);
  }

  private async get<Value extends object>(url: string): Promise<Value> {
    const { status, body } = await this.http.send("GET", url, this.headers({}));
    return parsed(status, body);
  }

  /** The URL of a customer. `fetch` and proxies resolve a segment of dots, also if it is encoded, so
   * that the request would concern something else. JavaScript can pass no id, which would be encoded
   * as the text `undefined`: one customer for all users who are not signed in. */
  private customer(id: string, path = "", values: Record<string, string | undefined> = {}): string {
    if (id == null || id === "" || id === "." || id === "..") throw TideoverError.badCustomer();
    const parameters = query({ environment: this.environment, ...values });
    return `${this.base}/customers/${encodeURIComponent(id)}${path}${parameters}`;
  }

  private headers(more: Record<string, string>): Record<string, string> {
    return { ...this.standard, ...more };
  }
}

function query(values: Record<string, string | undefined>): string {
  const pairs = Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const text = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return text && `?${text}`;
}

function parsed<Value extends object>(status: number, body: string): Value {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    value = undefined;
  }
  if (typeof value !== "object" || value === null) throw TideoverError.malformed(status);
  return value as Value;
}

/** An answer that states entitlements. One without a prompt has none to show. */
function stated<Value extends Snapshot | Reconciled>(status: number, body: string): Value {
  const value = parsed<Value>(status, body);
  const { entitlements, prompt } = value as Partial<Snapshot>;
  if (!isObject(entitlements) || !Object.values(entitlements).every(isObject)) {
    throw TideoverError.malformed(status);
  }
  return { ...value, prompt: prompt ?? { kind: "none" } };
}
