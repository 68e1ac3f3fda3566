import { answerFrom, answerFromPass } from "./answer.js";
import type { Answer, EntitlementName } from "./answer.js";
import { TideoverAPI } from "./api.js";
import type { APIOptions, Environment } from "./api.js";
import { TideoverError } from "./errors.js";
import { instant } from "./instant.js";
import { believe, boundaries, now, renewAt } from "./pass.js";
import type { DeviceTime, Pass, PassRefusal } from "./pass.js";
import { platformUptime } from "./platform.js";
import type { Clock, KeyValueStore } from "./platform.js";
import { verifiedClaims, webCryptoVerifier } from "./signature.js";
import type { SignatureRefusal, Verifier } from "./signature.js";
import { emptyRecord, readRecord } from "./record.js";
import type { SessionRecord } from "./record.js";
import { isCurrent, nextTick, promptIn, statedIn } from "./snapshot.js";
import type { DatedSnapshot } from "./snapshot.js";
import type {
  DeviceEvidence, Entitlement, PassKey, Prompt, PromptReport, Reconciled, ShownPrompt, Snapshot,
} from "./types.js";

export interface SessionOptions extends APIOptions {
  /** The id that your back end knows the customer by. */
  customer: string;
  /** Keeps the pass between starts. Without it, nothing is known offline after a restart. */
  storage?: KeyValueStore;
  clock?: Clock;
  /**
   * Milliseconds by a clock that nothing sets: `performance.now` unless `clock` is given. While the
   * other one is set back, time goes on by it.
   */
  uptime?: Clock;
  /** Checks Ed25519 where the platform's WebCrypto does not, as in Hermes. */
  verifier?: Verifier;
  /** Public keys to build into the app; otherwise the server's are fetched and kept. */
  passKeys?: readonly PassKey[];
  /** `pass.issuer` of the server's configuration: `tideover` unless given. */
  issuer?: string;
  /** A snapshot from server rendering, to begin with: for a day after its `asOf`. */
  initial?: Snapshot;
}

/** Whether the session can answer offline: yes, or why not. */
export type PassStatus = "none" | "believed" | PassRefusal | SignatureRefusal;

interface Current extends DatedSnapshot {
  etag: string | undefined;
  /** The device's time at the server's last answer, which `asOf` has on the server's clock. */
  readAt: number;
  /** The same by the device's clock alone, which can lag behind the pass. */
  clockAt: number;
  /** The same by the clock that nothing sets. */
  uptimeAt: number;
}

/** How far a device's clock can be behind the server's without being called so. */
const clockTolerance = 300_000;

/**
 * What one customer may use on this device: the server's answer, or offline the pass's.
 *
 * All answers are computed from what is held; nothing waits for the network but the methods that
 * return promises.
 */
export class CustomerSession {
  readonly api: TideoverAPI;
  readonly customer: string;
  private readonly clock: Clock;
  private readonly uptime: Clock;
  private readonly storageKey: string;
  private verifier: Promise<Verifier | undefined>;
  private record: SessionRecord = emptyRecord;
  private held: Pass | undefined;
  private current: Current | undefined;
  private status: PassStatus = "none";
  private failure: unknown;
  private storageFailure: unknown;
  private loading: Promise<void> | undefined;
  private isRead = false;
  private refreshing: Promise<Snapshot | undefined> | undefined;
  /** Requests are numbered as they begin: an answer that was overtaken is dropped. */
  private begun = 0;
  /** The newest request that had begun when an answer was accepted. */
  private accepted = 0;
  private isForgotten = false;
  /** The prompt on the screen, as text, and its report. */
  private shown: { prompt: string; report: PromptReport } | undefined;
  /** The newest time that the device has seen, and `uptime` then. */
  private anchor: { newest: number; uptime: number } | undefined;
  private readonly listeners = new Set<() => void>();
  private readonly answers = new Map<string, Answer>();

  constructor(private readonly options: SessionOptions) {
    this.api = new TideoverAPI(options);
    this.customer = options.customer;
    this.clock = options.clock ?? Date.now;
    this.uptime = options.uptime ?? (options.clock ? () => 0 : platformUptime());
    this.verifier = options.verifier ? Promise.resolve(options.verifier) : webCryptoVerifier();
    this.storageKey = `tideover/${this.api.app}/${this.api.environment}/${options.customer}`;
    if (options.initial) {
      const current = this.received(options.initial, undefined);
      // It can have been kept for days, in a page or by RevenueCat's SDK: it ages from its own time.
      this.current = { ...current, readAt: Math.min(current.readAt, current.asOf) };
    }
  }

  // MARK: Answers

  /** Whether the customer may use something now. The same object until it changes. */
  answer(name: EntitlementName): Answer {
    const fresh = this.derive(name);
    const held = this.answers.get(name);
    if (held && JSON.stringify(held) === JSON.stringify(fresh)) return held;
    this.answers.set(name, fresh);
    return fresh;
  }

  /** The server's last answer, with the prompt and the trial; undefined before it and offline. */
  get snapshot(): Snapshot | undefined {
    const { current } = this;
    return current && isCurrent(current, this.serverTime(current)) ? current.snapshot : undefined;
  }

  /**
   * What the server last stated of an entitlement, until that changes by itself. The days of a trial
   * are counted on; its words are as the server sent them.
   */
  stated(name: EntitlementName): Entitlement | undefined {
    const { current } = this;
    return current && statedIn(current, name, this.serverTime(current));
  }

  /** The message for a customer with a failed payment, until its time is over. */
  get prompt(): Prompt | undefined {
    const { current } = this;
    return current && promptIn(current, this.serverTime(current));
  }

  /** Whether the session can answer offline, and if not, why not. */
  get passStatus(): PassStatus {
    return this.status;
  }

  /**
   * Whether the clock is minutes behind a time that this device has seen; that one counts offline.
   */
  get isClockBehind(): boolean {
    return now(this.time) > this.clock() + clockTolerance;
  }

  /** Why the last refresh or its storing failed; undefined if neither did. */
  get lastError(): unknown {
    return this.failure ?? this.storageFailure;
  }

  /** Whether the last refresh failed, so that the server is to be asked again. */
  get isUnanswered(): boolean {
    return this.failure !== undefined;
  }

  /** Milliseconds until an answer can change by itself; undefined if none will. */
  get untilNextChange(): number | undefined {
    const later: number[] = [];
    if (this.current) {
      const server = this.serverTime(this.current);
      const { entitlements, prompt } = this.current.snapshot;
      const changes = Object.values(entitlements).flatMap(
        ({ nextChange, trial }) => [instant(nextChange), nextTick(trial, server)]);
      changes.push(instant(prompt.arguments?.until));
      later.push(...changes.filter((at): at is number => at !== undefined && at > server).map((at) => at - server));
    }
    if (this.held) {
      const device = Math.max(now(this.time), this.held.issued);
      later.push(...boundaries(this.held, device).map((at) => at - device));
    }
    return later.length > 0 ? Math.min(...later) : undefined;
  }

  /** Calls `listener` when an answer may have changed, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Computes all answers again, because time has passed. */
  touch(): void {
    for (const listener of [...this.listeners]) listener();
  }

  // MARK: The server

  /**
   * Reads what the device kept. `refresh` and `reconcile` do so first. It never rejects: `lastError`
   * has the reason, and the storage is read again the next time.
   */
  load(): Promise<void> {
    this.loading ??= this.readStorage().catch((error: unknown) => {
      this.loading = undefined;
      this.storageFailure ??= error;
    });
    return this.loading;
  }

  /** Asks the server. Undefined if it cannot be reached: what is held goes on answering. */
  refresh(): Promise<Snapshot | undefined> {
    if (this.isForgotten) return Promise.resolve(undefined);
    this.refreshing ??= this.ask();
    return this.refreshing;
  }

  /**
   * Presents what the device has in hand, such as the purchase objects of react-native-iap, and
   * returns what became of each. Rejects if the server cannot be reached. After `forget` it rejects
   * with `signed-out`: the purchases can be the next customer's.
   */
  async reconcile(evidence: DeviceEvidence | ReadonlyArray<object>): Promise<Reconciled> {
    await this.load();
    if (this.isForgotten) throw TideoverError.signedOut();
    const number = (this.begun += 1);
    const answer = await this.api.reconcile(this.customer, evidenceOf(evidence));
    await this.accept(answer, undefined, number);
    return answer;
  }

  /** Reports that a prompt was shown, or with the same `id` what the customer did with it. */
  reportPrompt(report: PromptReport): Promise<ShownPrompt> {
    return this.api.reportPrompt(this.customer, report, this.current?.snapshot.environment);
  }

  /**
   * Reports the prompt that is on the screen, once, and again with what the customer did with it, so
   * that the next one waits as the server's policy says and experiments count it. `RecoveryBanner`
   * does both; a banner of your own calls it when it appears. It never rejects.
   */
  async reportShownPrompt(response?: "opened" | "dismissed"): Promise<void> {
    const { prompt } = this;
    if (!prompt || prompt.kind === "none") return;
    const text = JSON.stringify(prompt);
    const known = this.shown?.prompt === text ? this.shown : undefined;
    if (known && response === undefined) return;
    const first = { id: `${prompt.kind}-${this.clock()}`, kind: prompt.kind };
    const shown = { prompt: text, report: { ...(known?.report ?? first), ...(response && { response }) } };
    this.shown = shown;
    try {
      await this.reportPrompt(shown.report);
    } catch {
      // The banner's next appearance is reported instead.
      if (!known && this.shown === shown) this.shown = undefined;
    }
  }

  /** Ends the session and removes what the device keeps of it: for when the customer signs out. */
  async forget(): Promise<void> {
    this.isForgotten = true;
    this.record = emptyRecord;
    this.held = undefined;
    this.current = undefined;
    this.status = "none";
    // The screen changes also if the storage fails.
    this.touch();
    await this.options.storage?.removeItem(this.storageKey);
  }

  // MARK: Deriving

  private derive(name: string): Answer {
    const { current } = this;
    if (current && !current.snapshot.entitlements[name]) return { status: "unknown", because: "unnamed" };
    const stated = this.stated(name as EntitlementName);
    if (stated) return answerFrom(stated, "server");
    if (this.held) return answerFromPass(this.held, name, this.time);
    const isFirst = this.failure === undefined && (!current || this.accepted === 0);
    return { status: "unknown", because: isFirst || this.refreshing ? "loading" : "offline" };
  }

  private get time(): DeviceTime {
    return { clock: this.clock(), newest: this.newest };
  }

  /** The newest time that the device has seen, and what has passed in this process since. */
  private get newest(): number | undefined {
    const { newest } = this.record;
    if (newest === undefined) return undefined;
    const uptime = this.uptime();
    if (this.anchor?.newest !== newest) this.anchor = { newest, uptime };
    return newest + Math.max(0, Math.floor(uptime - this.anchor.uptime));
  }

  /** An estimate of the server's time: its last one, and what has passed since. */
  private serverTime(current: Current): number {
    return current.asOf + Math.max(0, now(this.time) - current.readAt);
  }

  // MARK: Accepting

  private async ask(): Promise<Snapshot | undefined> {
    let isAnswered = false;
    try {
      await this.load();
      const needsPass = !this.held || this.clock() >= (renewAt(this.held) ?? Infinity);
      const number = (this.begun += 1);
      const etag = needsPass ? undefined : this.current?.etag;
      const answer = await this.api.snapshot(this.customer, etag);
      if (answer) await this.accept(answer.snapshot, answer.etag, number);
      else await this.unchanged();
      isAnswered = true;
    } catch (error) {
      this.failure = error;
      await this.keep({ ...this.record, newest: now(this.time) });
    }
    this.refreshing = undefined;
    this.touch();
    return isAnswered ? this.snapshot : undefined;
  }

  private async accept(snapshot: Snapshot, etag: string | undefined, number: number): Promise<void> {
    const held = this.current?.snapshot.customerVersion ?? -1;
    // A lower version of a request that began later is of a restored server.
    if (this.isForgotten || (number <= this.accepted && snapshot.customerVersion < held)) return;
    this.accepted = this.begun;
    this.current = this.received(snapshot, etag);
    // The same prompt that appears again after a pause is another one.
    if (snapshot.prompt.kind === "none") this.shown = undefined;
    if (snapshot.pass) await this.acceptPass(snapshot.pass, snapshot);
    this.dropOlderPass();
    await this.confirm();
    this.touch();
  }

  private received(snapshot: Snapshot, etag: string | undefined): Current {
    const readAt = this.clock();
    const asOf = instant(snapshot.asOf) ?? readAt;
    return { snapshot, etag, readAt, clockAt: readAt, uptimeAt: this.uptime(), asOf };
  }

  private async unchanged(): Promise<void> {
    if (this.current) {
      const readAt = this.clock();
      const uptimeAt = this.uptime();
      const { clockAt, uptimeAt: uptimeBefore } = this.current;
      const passed = Math.max(0, readAt - clockAt, Math.floor(uptimeAt - uptimeBefore));
      this.current = { ...this.current, asOf: this.current.asOf + passed, readAt, clockAt: readAt, uptimeAt };
    }
    await this.confirm();
  }

  /** The server has answered: the device's clock counts again, if it is not behind the pass. */
  private async confirm(): Promise<void> {
    this.failure = undefined;
    this.storageFailure = undefined;
    const newest = Math.max(this.clock(), this.held?.issued ?? 0);
    this.record = { ...this.record, newest };
    // From here on time passes by the same clock for the answer as for the pass. Behind a pass, that
    // clock goes on from an earlier answer.
    if (this.current) this.current = { ...this.current, readAt: now(this.time) };
    await this.keep(this.record);
  }

  private async acceptPass(compact: string, { environment, customer }: Snapshot): Promise<void> {
    // The server answers now, so that only what is signed bounds the time.
    const time = { clock: this.clock(), newest: this.held?.issued };
    let found = await this.check(compact, environment, customer, time);
    if (found === "unknownKey" && !this.options.passKeys && (await this.fetchKeys())) {
      found = await this.check(compact, environment, customer, time);
    }
    if (this.isForgotten || found === "older") return;
    this.status = typeof found === "string" ? found : "believed";
    if (typeof found === "string") return;
    this.held = found;
    this.record = { ...this.record, pass: compact };
  }

  /** Whether the server's keys could be had. Without them the answer itself still counts. */
  private async fetchKeys(): Promise<boolean> {
    try {
      const { keys } = await this.api.passKeys();
      this.record = { ...this.record, keys };
      return true;
    } catch {
      return false;
    }
  }

  private async check(
    compact: string, environment: Environment, customer: string, time: DeviceTime,
  ): Promise<Pass | PassRefusal | SignatureRefusal> {
    const keys = this.options.passKeys ?? this.record.keys;
    const verified = await verifiedClaims(compact, keys, await this.verifier);
    if (typeof verified === "string") return verified;
    const { issuer = "tideover" } = this.options;
    const expected = { issuer, audience: this.api.app, environment, customer };
    return believe(verified.claims, expected, this.held, time);
  }

  /** A pass older than the server's answer must not answer later. */
  private dropOlderPass(): void {
    if (!this.held || !this.current || this.accepted === 0) return;
    if (this.held.version >= this.current.snapshot.customerVersion) return;
    this.held = undefined;
    if (this.status === "believed") this.status = "none";
    const { keys, newest } = this.record;
    this.record = { keys, newest };
  }

  // MARK: Storage

  private async readStorage(): Promise<void> {
    const text = await this.options.storage?.getItem(this.storageKey);
    this.isRead = true;
    // After a failed read the server can have answered: its pass and its time are newer.
    if (this.isForgotten || this.held) return;
    const { keys, newest } = this.record;
    const stored = readRecord(text);
    this.record = {
      ...stored,
      keys: keys.length > 0 ? keys : stored.keys,
      newest: this.accepted > 0 ? newest : latest(newest, stored.newest),
    };
    const { pass } = stored;
    if (pass === undefined) return;
    // Only what was asked for: storage can hold the pass of another customer.
    const found = await this.check(pass, this.api.environment, this.customer, this.time);
    if (this.isForgotten || this.held) return;
    this.status = typeof found === "string" ? found : "believed";
    if (typeof found !== "string") this.held = found;
    this.dropOlderPass();
    this.touch();
  }

  private async keep(record: SessionRecord): Promise<void> {
    if (this.isForgotten) return;
    this.record = record;
    await this.load();
    // What could not be read is replaced only by a newer pass.
    if (this.isForgotten || !(this.isRead || this.held)) return;
    try {
      await this.options.storage?.setItem(this.storageKey, JSON.stringify(this.record));
    } catch (error) {
      // A full disk takes nothing from the customer now; `lastError` reports it.
      this.storageFailure ??= error;
    }
  }
}

function latest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? one ?? other : Math.max(one, other);
}

function evidenceOf(evidence: DeviceEvidence | ReadonlyArray<object>): DeviceEvidence {
  if (!isList(evidence)) return evidence;
  return evidence.length > 0 ? { purchases: [...evidence] } : { nothing: true };
}

function isList(evidence: object): evidence is ReadonlyArray<object> {
  return Array.isArray(evidence);
}
