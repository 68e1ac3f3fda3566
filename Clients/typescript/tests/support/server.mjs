// A server in the test's own process: a `fetch` that answers from a list, and remembers requests.
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";

export const reply = (status, body = "", headers = {}) => ({
  status,
  headers: new Headers(headers),
  text: async () => (typeof body === "string" ? body : JSON.stringify(body)),
});

export const problem = (status, name, headers) =>
  reply(status, { type: `/problems/${name}`, title: name, status }, headers);

/** Answers with what `route` returns or throws; `requests` has every request. */
export function fakeFetch(route) {
  const requests = [];
  const fetch = async (url, init) => {
    const request = { ...init, url: new URL(url), body: init.body && JSON.parse(init.body) };
    requests.push(request);
    return route(request, requests.length);
  };
  return { fetch, requests };
}

const { privateKey } = generateKeyPairSync("ed25519");
const der = privateKey.export({ format: "der", type: "pkcs8" });
const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
const { x } = createPublicKey(key).export({ format: "jwk" });
export const passKeys = [{ kty: "OKP", crv: "Ed25519", x, kid: "k1", use: "sig", alg: "EdDSA" }];

export function signedPass(claims) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "EdDSA", typ: "tideover-pass", kid: "k1" })}.${part(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`;
}

const iso = (milliseconds) => new Date(milliseconds).toISOString();
export const day = 86_400_000;
export const begin = Date.parse("2026-05-10T00:00:00.000Z");

export function entitlement(more = {}) {
  return {
    state: "active", reason: "paid", access: true, confidence: "confirmed", rule: "in-term",
    productId: "monthly", store: "appStore", accessUntil: iso(begin + 22 * day), graceUntil: null,
    willRenew: true, trial: null, pending: [], nextChange: iso(begin + 22 * day), advice: null,
    words: null, trialOffer: null, chargedTwice: [], ...more,
  };
}

/** A snapshot with its pass, as a server with a clock at `at` answers it. */
export function snapshot({ at = begin, version = 1, premium = {}, pass = {}, prompt } = {}) {
  const stated = entitlement(premium);
  const { state, reason, access, confidence, accessUntil, willRenew, nextChange } = stated;
  const claims = {
    iss: "tideover", aud: "cards", sub: "anna", environment: "production", issued: iso(at),
    notAfter: iso(at + 7 * day), version,
    entitlements: {
      premium: { state, reason, access, confidence, accessUntil, willRenew, nextChange, notAfter: iso(at + 7 * day) },
    },
    ...pass,
  };
  return {
    app: "cards", customer: "anna", environment: "production", asOf: iso(at), customerVersion: version,
    entitlements: { premium: stated }, prompt: prompt ?? { kind: "none" },
    ...(pass === null ? {} : { pass: signedPass(claims) }),
  };
}

/** A store like AsyncStorage. */
export function memoryStore(entries = new Map()) {
  return {
    entries,
    getItem: async (name) => entries.get(name) ?? null,
    setItem: async (name, value) => void entries.set(name, value),
    removeItem: async (name) => void entries.delete(name),
  };
}
