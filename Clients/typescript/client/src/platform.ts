// What the client needs of a platform. Hermes, Node 18, Deno, Bun, Workers and browsers have it;
// everything can be given as an option instead. Nothing else is used: no DOM, no Node API.

/** The part of a response that is read. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  redirect: "manual";
  /** An `AbortSignal`; its declarations differ between platforms. */
  signal?: any;
}

/** The global `fetch`, or one like it. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** Where a session keeps its pass: AsyncStorage, `localStorage` and a `Map` with promises fit. */
export interface KeyValueStore {
  getItem(key: string): Promise<string | null> | string | null;
  setItem(key: string, value: string): Promise<void> | void;
  removeItem(key: string): Promise<void> | void;
}

/** Milliseconds since 1970. */
export type Clock = () => number;

interface Aborter {
  readonly signal: unknown;
  abort(): void;
}

const platform = globalThis as unknown as {
  fetch?: Fetch;
  crypto?: { subtle?: unknown };
  AbortController?: new () => Aborter;
  performance?: { now?(): number };
};
declare function setTimeout(work: () => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;

export function platformFetch(): Fetch {
  const { fetch } = platform;
  if (!fetch) throw new TypeError("No global fetch. Give one as the option `fetch`.");
  return (url, init) => fetch(url, init);
}

export function platformSubtle(): unknown {
  return platform.crypto?.subtle;
}

/** A clock that only moves forward, from any point; one that stands still where there is none. */
export function platformUptime(): Clock {
  const { performance } = platform;
  return () => performance?.now?.() ?? 0;
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Runs `work` after a delay of at most a day, until cancelled. */
export function schedule(work: () => void, milliseconds: number): () => void {
  const timer = setTimeout(work, Math.min(milliseconds, 86_400_000));
  // A timer must not keep a program of Node alive.
  (timer as { unref?: () => void } | null)?.unref?.();
  return () => clearTimeout(timer);
}

/** The result of `work`, which is aborted and rejected with `error` when it takes too long. */
export async function withTimeout<Value>(
  milliseconds: number,
  error: () => Error,
  work: (signal: unknown) => Promise<Value>,
): Promise<Value> {
  const aborter = platform.AbortController && new platform.AbortController();
  let timer: unknown;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(error());
      aborter?.abort();
    }, milliseconds);
  });
  try {
    return await Promise.race([work(aborter?.signal), expiry]);
  } finally {
    clearTimeout(timer);
  }
}
