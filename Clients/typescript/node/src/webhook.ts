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
   * other. Empty ones are ignored.
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
 * Throws a `WebhookRefusal` for any other message, and a `TypeError` without a usable key.
 */
export async function verifyWebhook(
  headers: WebhookHeaders, body: string | Uint8Array, options: WebhookOptions,
): Promise<Webhook> {
  const keys = keysIn(options.keys);
  const id = header(headers, "webhook-id");
  const time = header(headers, "webhook-timestamp");
  const signatures = header(headers, "webhook-signature");
  if (!id || !time || !signatures) throw new WebhookRefusal("missing");
  const timestamp = /^\d{1,15}$/.test(time) ? Number(time) : NaN;
  const now = options.now?.() ?? Date.now() / 1000;
  if (!(Math.abs(now - timestamp) <= (options.tolerance ?? 300))) throw new WebhookRefusal("timestamp");
  const bytes = Buffer.from(body);
  const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), bytes]);
  if (!(await isSigned(signed, signatures, keys))) throw new WebhookRefusal("signature");
  return { id, timestamp, payload: object(bytes.toString()) };
}

interface Key {
  isPublic: boolean;
  bytes: Uint8Array;
}

/** The usable keys. Everyone can sign by an empty secret, so that none may remain. */
function keysIn(given: string | readonly string[]): Key[] {
  const texts = (typeof given === "string" ? [given] : given ?? []).map((text) => text?.trim());
  const keys = texts.filter((text) => text).map(keyOf);
  if (keys.length === 0) throw new TypeError("No webhook key is given. Set the secret that `tideover webhooks` prints.");
  return keys;
}

function keyOf(text: string): Key {
  const body = text.replace(/^(whsec|whpk)_/, "");
  const bytes = Buffer.from(body, "base64");
  if (bytes.length === 0 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(body)) {
    throw new TypeError("A webhook key is not Base64. Give all of `whsec_...` or `whpk_...`.");
  }
  return { isPublic: text.startsWith("whpk_"), bytes };
}

async function isSigned(signed: Buffer, signatures: string, keys: readonly Key[]): Promise<boolean> {
  for (const signature of signatures.split(" ").slice(0, 32)) {
    const [version = "", text = ""] = signature.split(",");
    const bytes = Buffer.from(text, "base64");
    for (const key of keys) {
      if (await holds(version, bytes, signed, key)) return true;
    }
  }
  return false;
}

async function holds(
  version: string, signature: Buffer, signed: Buffer, { isPublic, bytes }: Key,
): Promise<boolean> {
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
