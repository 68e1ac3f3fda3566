import { fromASCII, fromBase64url, fromUTF8 } from "./bytes.js";
import { platformSubtle } from "./platform.js";
import type { PassKey } from "./types.js";

/** Whether `signature` is the Ed25519 signature of `message` by the public key of 32 bytes. */
export type Verifier = (
  publicKey: Uint8Array, signature: Uint8Array, message: Uint8Array,
) => Promise<boolean> | boolean;

/**
 * Why a signed pass is not read. `unverifiable`: this platform has no Ed25519 and none was given, or
 * the given verifier threw an error.
 */
export type SignatureRefusal = "notAPass" | "unknownKey" | "badSignature" | "unverifiable";

const longest = 64 * 1024;

/** The claims of a pass that one of the keys signed. */
export async function verifiedClaims(
  compact: string, keys: readonly PassKey[], verifier: Verifier | undefined,
): Promise<{ claims: unknown } | SignatureRefusal> {
  const [header = "", payload = "", signature = "", ...more] = compact.split(".");
  if (compact.length > longest || more.length > 0) return "notAPass";
  const head = json(header) as { alg?: unknown; typ?: unknown; kid?: unknown; crit?: unknown } | undefined;
  if (head?.alg !== "EdDSA" || head.typ !== "tideover-pass" || "crit" in head) return "notAPass";
  const key = keys.find(({ kid, crv }) => kid === head.kid && crv === "Ed25519");
  const publicKey = key && fromBase64url(key.x);
  if (publicKey?.length !== 32) return "unknownKey";
  const bytes = fromBase64url(signature);
  if (bytes?.length !== 64) return "badSignature";
  if (!verifier) return "unverifiable";
  let holds: boolean;
  try {
    holds = await verifier(publicKey, bytes, fromASCII(`${header}.${payload}`));
  } catch {
    // A library that cannot verify here, such as one without its hash, costs only the pass.
    return "unverifiable";
  }
  if (holds !== true) return "badSignature";
  const claims = json(payload);
  return claims === undefined ? "notAPass" : { claims };
}

function json(part: string): object | undefined {
  const bytes = fromBase64url(part);
  const text = bytes && fromUTF8(bytes);
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The part of WebCrypto that is used. */
interface Subtle {
  importKey(
    format: "raw", key: Uint8Array, algorithm: { name: string }, extractable: boolean, uses: string[],
  ): Promise<unknown>;
  verify(algorithm: { name: string }, key: unknown, signature: Uint8Array, data: Uint8Array): Promise<boolean>;
}

/** A verifier over WebCrypto; undefined where the platform has no Ed25519 in it. */
export async function webCryptoVerifier(
  subtle: unknown = platformSubtle(),
): Promise<Verifier | undefined> {
  const web = subtle as Subtle | undefined;
  const algorithm = { name: "Ed25519" };
  const imported = (key: Uint8Array) => web!.importKey("raw", key, algorithm, false, ["verify"]);
  try {
    // The base point: any platform that knows the curve imports it.
    await imported(Uint8Array.of(0x58, ...new Array<number>(31).fill(0x66)));
  } catch {
    return undefined;
  }
  return async (key, signature, message) => {
    try {
      return await web!.verify(algorithm, await imported(key), signature, message);
    } catch {
      return false;
    }
  };
}
