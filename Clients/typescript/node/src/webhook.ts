import { createHmac, timingSafeEqual } from "node:crypto";
import { nodeVerifier } from "./verifier.js";

// Standard Webhooks: https://www.standardwebhooks.com

/** Why a message is not believed. */
export class WebhookRefusal extends Error {
  override readonly name = "WebhookRefusal";

  constructor(readonly code: "missing" | "timestamp" | "signature" | "malformed") {
    super(sentences[code]);
  }
}

const sentences = {
  missing: "A header is missing. Send webhook-id, webhook-timestamp and webhook-signature.",
  timestamp: "The timestamp is more than five minutes from now. Check both clocks.",
  signature: "No signature matches. Check the secret and that the body is the one received.",
  malformed: "The body is no JSON object.",
};

export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookOptions {
  /**
   * Secrets (`whsec_`, for `v1`) and public keys (`whpk_`, for `v1a`); two while one replaces the
   * other.
   */
  keys: string | readonly string[];
  /** How many seconds the timestamp may be from now: 300 unless given. */
  tolerance?: number;
  /** Seconds since 1970. */
  now?: () => number;
}

/** A message that was verified. `id` is the same when it is sent again. */
export interface Webhook {
  id: string;
  timestamp: number;
  payload: Record<string, any>;
}

/**
 * The message, if one of the keys signed it. Give the body as it was received, not parsed again.
 */
export async function verifyWebhook(
  headers: WebhookHeaders, body: string | Uint8Array, options: WebhookOptions,
): Promise<Webhook> {
  const id = header(headers, "webhook-id");
  const time = header(headers, "webhook-timestamp");
  const signatures = header(headers, "webhook-signature");
  if (!id || !time || !signatures) throw new WebhookRefusal("missing");
  const timestamp = /^\d{1,15}$/.test(time) ? Number(time) : NaN;
  const now = options.now?.() ?? Date.now() / 1000;
  if (!(Math.abs(now - timestamp) <= (options.tolerance ?? 300))) throw new WebhookRefusal("timestamp");
  const bytes = Buffer.from(body);
  const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), bytes]);
  const keys = typeof options.keys === "string" ? [options.keys] : options.keys;
  if (!(await isSigned(signed, signatures, keys))) throw new WebhookRefusal("signature");
  return { id, timestamp, payload: object(bytes.toString()) };
}

async function isSigned(signed: Buffer, signatures: string, keys: readonly string[]): Promise<boolean> {
  for (const signature of signatures.split(" ").slice(0, 32)) {
    const [version = "", text = ""] = signature.split(",");
    const bytes = Buffer.from(text, "base64");
    for (const key of keys) {
      if (await holds(version, bytes, signed, key)) return true;
    }
  }
  return false;
}

async function holds(version: string, signature: Buffer, signed: Buffer, key: string): Promise<boolean> {
  const isPublic = key.startsWith("whpk_");
  const bytes = Buffer.from(key.replace(/^(whsec|whpk)_/, ""), "base64");
  if (version === "v1" && !isPublic) {
    const right = createHmac("sha256", bytes).update(signed).digest();
    return signature.length === right.length && timingSafeEqual(signature, right);
  }
  return version === "v1a" && isPublic && nodeVerifier(bytes, signature, signed);
}

function object(text: string): Record<string, any> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== "object" || value === null) throw new WebhookRefusal("malformed");
  return value;
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === "function") return headers.get(name) ?? undefined;
  const values = headers as Readonly<Record<string, string | readonly string[] | undefined>>;
  const found = Object.keys(values).find((key) => key.toLowerCase() === name);
  const value = found === undefined ? undefined : values[found];
  return typeof value === "string" ? value : value?.[0];
}
