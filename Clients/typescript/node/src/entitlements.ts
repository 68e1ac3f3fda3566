import { answerFrom, instant } from "@tideover/client";
import type { Answer, EntitlementName, Snapshot, TideoverAPI } from "@tideover/client";

export interface EntitlementCacheOptions {
  /** How long an answer is used without asking again, in milliseconds: 30,000 unless given. */
  maxAge?: number;
  /** How long it is used while the server cannot be reached: 10 minutes unless given. */
  maxStale?: number;
  /** How many customers are kept: 10,000 unless given. */
  maxCustomers?: number;
  clock?: () => number;
}

interface Entry {
  snapshot: Snapshot;
  etag: string | undefined;
  readAt: number;
  /** The server's time of its last answer. */
  serverAt: number;
}

/** What customers may use, for a back end: never kept past the instant at which it changes. */
export class EntitlementCache {
  private readonly entries = new Map<string, Entry>();
  private readonly asked = new Map<string, Promise<void>>();
  private readonly maxAge: number;
  private readonly maxStale: number;
  private readonly maxCustomers: number;
  private readonly clock: () => number;

  constructor(readonly api: TideoverAPI, options: EntitlementCacheOptions = {}) {
    this.maxAge = options.maxAge ?? 30_000;
    this.maxStale = options.maxStale ?? 600_000;
    this.maxCustomers = options.maxCustomers ?? 10_000;
    this.clock = options.clock ?? Date.now;
  }

  /** Whether a customer may use something now; `offline` if that cannot be found out. */
  async answer(customer: string, name: EntitlementName): Promise<Answer> {
    const held = this.stated(customer, name, this.maxAge);
    if (held) return held;
    try {
      await this.ask(customer);
    } catch {
      return this.stated(customer, name, this.maxStale) ?? { status: "unknown", because: "offline" };
    }
    // The server has just answered: this counts for this request, even if it changes this instant.
    return this.stated(customer, name, Infinity, true) ?? { status: "unknown", because: "unnamed" };
  }

  /** Forgets what is kept of a customer, for example when a webhook reports a change. */
  forget(customer: string): void {
    this.entries.delete(customer);
  }

  private stated(customer: string, name: string, maxAge: number, isNew = false): Answer | undefined {
    const entry = this.entries.get(customer);
    if (!entry) return undefined;
    const age = this.clock() - entry.readAt;
    const entitlement = entry.snapshot.entitlements[name];
    if (!entitlement || age < 0 || age >= maxAge) return undefined;
    const change = instant(entitlement.nextChange);
    if (!isNew && change !== undefined && change <= entry.serverAt + age) return undefined;
    return answerFrom(entitlement, "server");
  }

  /** Asks for a customer once, however many wait for it. */
  private ask(customer: string): Promise<void> {
    const running = this.asked.get(customer);
    if (running) return running;
    const asking = this.read(customer).finally(() => this.asked.delete(customer));
    this.asked.set(customer, asking);
    return asking;
  }

  private async read(customer: string): Promise<void> {
    const held = this.entries.get(customer);
    const begun = this.clock();
    const answer = await this.api.snapshot(customer, held?.etag);
    const entry = answer
      ? { ...answer, readAt: begun, serverAt: instant(answer.snapshot.asOf) ?? begun }
      : held && { ...held, readAt: begun, serverAt: held.serverAt + Math.max(0, begun - held.readAt) };
    if (!entry) return;
    this.entries.delete(customer);
    this.entries.set(customer, entry);
    const oldest = this.entries.keys().next();
    if (this.entries.size > this.maxCustomers && !oldest.done) this.entries.delete(oldest.value);
  }
}
