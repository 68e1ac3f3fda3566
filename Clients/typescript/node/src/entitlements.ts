import { TideoverError, answerFrom, customerID, instant, promptIn, statedIn } from "@tideover/client";
import type { Answer, DatedSnapshot, EntitlementName, Prompt, TideoverAPI } from "@tideover/client";

export interface EntitlementCacheOptions {
  /** How long an answer is used without asking again, in milliseconds: 30,000 unless given. */
  maxAge?: number;
  /** How long it is used while the server cannot be reached: 10 minutes unless given. */
  maxStale?: number;
  /**
   * How long the server is waited for while an older answer can be used: 2,000 ms unless given. The
   * request goes on, and its answer is kept.
   */
  maxWait?: number;
  /** How many customers are kept: 10,000 unless given. */
  maxCustomers?: number;
  clock?: () => number;
}

interface Entry extends DatedSnapshot {
  etag: string | undefined;
  readAt: number;
}

/** How many requests may take longer than `maxWait` before older answers count without one. */
const mostQuestions = 32;

/** A request about a customer that is under way. */
interface Question {
  begun: number;
  entry: Promise<Entry>;
  /** The customers that were forgotten since: one of them can be the one that its id is an alias of. */
  forgotten: Set<string>;
}

/** What customers may use, for a back end: never kept past the instant at which it changes. */
export class EntitlementCache {
  private readonly entries = new Map<string, Entry>();
  private readonly asked = new Map<string, Question>();
  private readonly maxAge: number;
  private readonly maxStale: number;
  private readonly maxWait: number;
  private readonly maxCustomers: number;
  private readonly clock: () => number;

  constructor(readonly api: TideoverAPI, options: EntitlementCacheOptions = {}) {
    this.maxAge = options.maxAge ?? 30_000;
    this.maxStale = options.maxStale ?? 600_000;
    this.maxWait = options.maxWait ?? 2_000;
    this.maxCustomers = options.maxCustomers ?? 10_000;
    this.clock = options.clock ?? Date.now;
  }

  /**
   * Whether a customer may use something now; `offline` if the server cannot be reached. Throws the
   * error of a server that refuses the request, for example with `key-unknown`: that does not pass
   * by itself. Throws `bad-customer` for an id that no customer can have.
   */
  async answer(customer: string, name: EntitlementName): Promise<Answer> {
    const young = this.stated(customer, name, this.maxAge);
    if (young) return young;
    const older = () => this.stated(customer, name, this.maxStale);
    let entry: Entry | undefined;
    try {
      entry = await this.newest(customer, older);
    } catch (error) {
      const held = older();
      if (!held && isRefused(error)) throw error;
      return held ?? { status: "unknown", because: "offline" };
    }
    if (!entry) return older() ?? { status: "unknown", because: "offline" };
    // The server has just answered: this counts for this request, even if it changes this instant.
    const entitlement = entry.snapshot.entitlements[name];
    return entitlement ? answerFrom(entitlement, "server") : { status: "unknown", because: "unnamed" };
  }

  /** The message for a customer with a failed payment; undefined if that cannot be found out. */
  async prompt(customer: string): Promise<Prompt | undefined> {
    const young = this.prompted(customer, this.maxAge);
    if (young) return young;
    const older = () => this.prompted(customer, this.maxStale);
    try {
      const entry = await this.newest(customer, older);
      return entry ? entry.snapshot.prompt : older();
    } catch {
      return older();
    }
  }

  /**
   * Forgets what is kept of a customer and of the aliases of this id, for example when a webhook
   * reports a change. An answer that is under way is not kept: it can be older than the change.
   */
  forget(customer: string): void {
    const id = customerID(customer);
    this.asked.delete(id);
    for (const { forgotten } of this.asked.values()) forgotten.add(id);
    for (const [key, { snapshot }] of this.entries) {
      if (key === id || snapshot.customer === id) this.entries.delete(key);
    }
  }

  private stated(customer: string, name: string, maxAge: number): Answer | undefined {
    const entry = this.entry(customer, maxAge);
    const entitlement = entry && statedIn(entry, name, this.serverTime(entry));
    return entitlement && answerFrom(entitlement, "server");
  }

  private prompted(customer: string, maxAge: number): Prompt | undefined {
    const entry = this.entry(customer, maxAge);
    return entry && promptIn(entry, this.serverTime(entry));
  }

  private entry(customer: string, maxAge: number): Entry | undefined {
    const entry = this.entries.get(customerID(customer));
    if (!entry) return undefined;
    const age = this.clock() - entry.readAt;
    return age < 0 || age >= maxAge ? undefined : entry;
  }

  private serverTime({ asOf, readAt }: Entry): number {
    return asOf + this.clock() - readAt;
  }

  /** What the server answers; undefined if it takes too long and there is an `older` answer. */
  private async newest(customer: string, older: () => unknown): Promise<Entry | undefined> {
    const isAsked = this.asked.has(customerID(customer));
    if (!isAsked && this.hangs && older() !== undefined) return undefined;
    const { begun, entry } = this.ask(customer);
    if (older() === undefined) return entry;
    const left = Math.min(this.maxWait, begun + this.maxWait - this.clock());
    const found = await firstOf(entry, left);
    return found ?? (older() === undefined ? entry : undefined);
  }

  /** Whether too many requests take longer than `maxWait`. Those of a busy server do not. */
  private get hangs(): boolean {
    if (this.asked.size < mostQuestions) return false;
    const latest = this.clock() - this.maxWait;
    return [...this.asked.values()].filter(({ begun }) => begun <= latest).length >= mostQuestions;
  }

  /** Asks for a customer once, however many wait for it. */
  private ask(customer: string): Question {
    const id = customerID(customer);
    const running = this.asked.get(id);
    if (running) return running;
    const begun = this.clock();
    const forgotten = new Set<string>();
    const question: Question = { begun, entry: this.read(customer, begun), forgotten };
    const isLast = () => this.asked.get(id) === question && this.asked.delete(id);
    question.entry = question.entry.then(
      (entry) => {
        if (isLast() && !forgotten.has(entry.snapshot.customer)) this.keep(id, entry);
        return entry;
      },
      (error: unknown) => {
        isLast();
        throw error;
      });
    // It can fail after all who waited have got an older answer.
    question.entry.catch(() => {});
    this.asked.set(id, question);
    return question;
  }

  private async read(customer: string, begun: number): Promise<Entry> {
    const held = this.entries.get(customerID(customer));
    const answer = await this.api.snapshot(customer, held?.etag);
    if (answer) return { ...answer, readAt: begun, asOf: instant(answer.snapshot.asOf) ?? begun };
    if (!held) throw TideoverError.malformed(304);
    return { ...held, readAt: begun, asOf: held.asOf + Math.max(0, begun - held.readAt) };
  }

  private keep(id: string, entry: Entry): void {
    this.entries.delete(id);
    this.entries.set(id, entry);
    const oldest = this.entries.keys().next();
    if (this.entries.size > this.maxCustomers && !oldest.done) this.entries.delete(oldest.value);
  }
}

/**
 * Whether the server itself refuses the request, so that the same request never succeeds: the key,
 * the app or the customer's id is wrong. A proxy's page with such a status is an outage.
 */
function isRefused(error: unknown): boolean {
  if (!(error instanceof TideoverError)) return false;
  return error.code === "bad-customer" || (error.problem !== undefined && !error.isTransient);
}

/** The value of a promise; undefined if it takes longer. */
async function firstOf<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, milliseconds));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
