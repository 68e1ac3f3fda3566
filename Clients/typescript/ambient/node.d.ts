// The part of Node's API that @tideover/node uses, so that it compiles without @types/node.
// Source: https://nodejs.org/docs/latest-v18.x/api/crypto.html and buffer.html

declare module "node:crypto" {
  interface KeyObject {}
  interface Hmac {
    update(data: string | Uint8Array): Hmac;
    digest(): Uint8Array;
  }
  export function createHmac(algorithm: "sha256", key: Uint8Array): Hmac;
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
  export function createPublicKey(key: { key: object; format: "jwk" }): KeyObject;
  export function verify(
    algorithm: null, data: Uint8Array, key: KeyObject, signature: Uint8Array,
  ): boolean;
}

interface Buffer extends Uint8Array {
  toString(encoding?: "base64" | "base64url" | "utf8"): string;
}

declare const Buffer: {
  from(data: string | Uint8Array, encoding?: "base64" | "base64url" | "utf8"): Buffer;
  concat(parts: readonly Uint8Array[]): Buffer;
};
