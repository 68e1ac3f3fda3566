import type { Problem } from "./types.js";

/** Why a request has no answer. `code` is what a program may act on. */
export class TideoverError extends Error {
  override readonly name = "TideoverError";

  private constructor(
    /** `network`, `timeout`, `malformed` (not an answer of this API), the name of a problem, or
     * before anything is sent `bad-customer` and `signed-out`. */
    readonly code: string,
    message: string,
    /** The status of the response; undefined without one. 400 for `bad-customer` and `signed-out`. */
    readonly status?: number,
    /** The problem that the server sent (RFC 9457). */
    readonly problem?: Problem & Record<string, unknown>,
    /** Milliseconds that the server wants to be left alone for. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }

  static network(cause: unknown): TideoverError {
    return new TideoverError("network", `The server cannot be reached: ${String(cause)}`);
  }

  static timeout(milliseconds: number): TideoverError {
    return new TideoverError("timeout", `The server did not answer in ${milliseconds} ms.`);
  }

  static badCustomer(): TideoverError {
    return new TideoverError("bad-customer", "A customer's id cannot be missing, empty, '.' or '..'.", 400);
  }

  static signedOut(): TideoverError {
    return new TideoverError("signed-out", "The customer has signed out. Open a session for the next one.", 400);
  }

  static malformed(status: number): TideoverError {
    return new TideoverError("malformed", `Status ${status} is no answer of Tideover.`, status);
  }

  /** The problem in a response's body; `malformed` for any other body. */
  static of(status: number, body: string, retryAfter?: number): TideoverError {
    const problem = parsed(body) as (Problem & Record<string, unknown>) | undefined;
    if (typeof problem?.type !== "string") {
      return new TideoverError(
        "malformed", `Status ${status} is no answer of Tideover.`, status, undefined, retryAfter);
    }
    // Older servers sent `urn:tideover:problem:CODE`.
    const code = problem.type.replace(/^.*[/:]/, "");
    const detail = typeof problem.detail === "string" ? problem.detail : "";
    return new TideoverError(
      code, `${problem.title} (${status}) ${detail}`.trim(), status, problem, retryAfter);
  }

  /** Whether the same request can succeed later. */
  get isTransient(): boolean {
    return this.status === undefined || [408, 425, 429, 500, 502, 503, 504].includes(this.status);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
