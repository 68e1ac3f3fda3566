import { createPublicKey, verify } from "node:crypto";
import type { Verifier } from "@tideover/client";

/** Ed25519 by Node itself: for `CustomerSession` in Node 18, where WebCrypto is no global. */
export const nodeVerifier: Verifier = (publicKey, signature, message) => {
  try {
    const x = Buffer.from(publicKey).toString("base64url");
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
};
