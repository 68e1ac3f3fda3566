import { TideoverError } from "./errors.js";
import { platformFetch, sleep, withTimeout } from "./platform.js";
import type { Fetch, FetchResponse } from "./platform.js";

export interface RetryOptions {
  fetch?: Fetch;
  /** How long one attempt may take, in milliseconds: 10,000 unless given. */
  timeout?: number;
  /** How often a request is tried: 3 times unless given. */
  attempts?: number;
  /** A number from 0 up to 1, for the jitter. */
  random?: () => number;
  sleep?: (milliseconds: number) => Promise<void>;
}

export interface HTTPAnswer {
  status: number;
  body: string;
  etag: string | undefined;
}

/**
 * The first pause is at most this long, in milliseconds; each further one at most twice as long.
 */
const firstPause = 500;
/** The longest pause between attempts: a server that asks for more gets no further attempt. */
const longestPause = 30_000;
/** More than any answer of the API. */
const longestBody = 16 * 1024 * 1024;

/** Requests with timeouts and bounded retries. Every request of this API can be repeated. */
export class HTTP {
  private readonly fetch: Fetch;
  private readonly timeout: number;
  private readonly attempts: number;
  private readonly random: () => number;
  private readonly sleep: (milliseconds: number) => Promise<void>;

  constructor(options: RetryOptions = {}) {
    this.fetch = options.fetch ?? platformFetch();
    this.timeout = options.timeout ?? 10_000;
    this.attempts = options.attempts ?? 3;
    this.random = options.random ?? Math.random;
    this.sleep = options.sleep ?? sleep;
  }

  /** The answer, 200 to 299 or 304; any other status is thrown. */
  async send(
    method: string, url: string, headers: Record<string, string>, body?: string,
  ): Promise<HTTPAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(method, url, headers, body);
      } catch (error) {
        const pause = this.pause(error, attempt);
        if (pause === undefined) throw error;
        await this.sleep(pause);
      }
    }
  }

  /** How long to wait before the next attempt; undefined for none. */
  private pause(error: unknown, attempt: number): number | undefined {
    if (!(error instanceof TideoverError) || !error.isTransient) return undefined;
    if (attempt >= this.attempts) return undefined;
    const asked = error.retryAfter ?? 0;
    if (asked > longestPause) return undefined;
    const jitter = this.random() * Math.min(longestPause, firstPause * 2 ** (attempt - 1));
    return asked + jitter;
  }

  private async attempt(
    method: string, url: string, headers: Record<string, string>, body?: string,
  ): Promise<HTTPAnswer> {
    const init = { method, headers, redirect: "manual" as const, ...(body === undefined ? {} : { body }) };
    const tooLate = () => TideoverError.timeout(this.timeout);
    return withTimeout(this.timeout, tooLate, async (signal) => {
      let response: FetchResponse;
      let text: string;
      try {
        response = await this.fetch(url, signal ? { ...init, signal } : init);
        text = await response.text();
      } catch (error) {
        throw TideoverError.network(error);
      }
      const { status } = response;
      if (text.length > longestBody) throw TideoverError.malformed(status);
      if (status === 304 || (status >= 200 && status < 300)) {
        return { status, body: text, etag: response.headers.get("etag") ?? undefined };
      }
      throw TideoverError.of(status, text, retryAfter(response));
    });
  }
}

/** The seconds of `Retry-After` in milliseconds. Tideover sends no dates in it. */
function retryAfter(response: FetchResponse): number | undefined {
  const text = response.headers.get("retry-after");
  return text !== null && /^\d+$/.test(text) ? Number(text) * 1000 : undefined;
}
