import { TideoverError, answerFrom, instant, promptIn, statedIn } from "@tideover/client";
import type { Answer, DatedSnapshot, EntitlementName, Prompt, TideoverAPI } from "@tideover/client";

export interface EntitlementCacheOptions {
  /** How long an answer is used without asking again, in milliseconds: 30,000 unless given. */
  maxAge?: number;
  /** How long it is used while the server cannot be reached: 10 minutes unless given. */
  maxStale?: number;
  /** How many customers are kept: 10,000 unless given. */
  maxCustomers?: number;
  clock?: () => number;
}

interface Entry extends DatedSnapshot {
  etag: string | undefined;
  readAt: number;
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

  /**
   * Whether a customer may use something now; `offline` if that cannot be found out. Throws
   * `bad-customer` for an id that no customer can have.
   */
  async answer(customer: string, name: EntitlementName): Promise<Answer> {
    const held = this.stated(customer, name, this.maxAge);
    if (held) return held;
    try {
      await this.ask(customer);
    } catch (error) {
      if (error instanceof TideoverError && error.code === "bad-customer") throw error;
      return this.stated(customer, name, this.maxStale) ?? { status: "unknown", because: "offline" };
    }
    // The server has just answered: this counts for this request, even if it changes this instant.
    return this.stated(customer, name, Infinity, true) ?? { status: "unknown", because: "unnamed" };
  }

  /** The message for a customer with a failed payment; undefined if that cannot be found out. */
  async prompt(customer: string): Promise<Prompt | undefined> {
    const held = this.prompted(customer, this.maxAge);
    if (held) return held;
    try {
      await this.ask(customer);
    } catch {
      return this.prompted(customer, this.maxStale);
    }
    return this.entries.get(customer)?.snapshot.prompt;
  }

  /** Forgets what is kept of a customer, for example when a webhook reports a change. */
  forget(customer: string): void {
    this.entries.delete(customer);
  }

  private stated(customer: string, name: string, maxAge: number, isNew = false): Answer | undefined {
    const entry = this.entry(customer, maxAge);
    if (!entry) return undefined;
    const entitlement = isNew ? entry.snapshot.entitlements[name] : statedIn(entry, name, this.serverTime(entry));
    return entitlement && answerFrom(entitlement, "server");
  }

  private prompted(customer: string, maxAge: number): Prompt | undefined {
    const entry = this.entry(customer, maxAge);
    return entry && promptIn(entry, this.serverTime(entry));
  }

  private entry(customer: string, maxAge: number): Entry | undefined {
    const entry = this.entries.get(customer);
    if (!entry) return undefined;
    const age = this.clock() - entry.readAt;
    return age < 0 || age >= maxAge ? undefined : entry;
  }

  private serverTime({ asOf, readAt }: Entry): number {
    return asOf + this.clock() - readAt;
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
      ? { ...answer, readAt: begun, asOf: instant(answer.snapshot.asOf) ?? begun }
      : held && { ...held, readAt: begun, asOf: held.asOf + Math.max(0, begun - held.readAt) };
    if (!entry) return;
    this.entries.delete(customer);
    this.entries.set(customer, entry);
    const oldest = this.entries.keys().next();
    if (this.entries.size > this.maxCustomers && !oldest.done) this.entries.delete(oldest.value);
  }
}
