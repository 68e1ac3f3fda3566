// The tables of Conformance/clients, and what a case of them is made of.
import { readFileSync } from "node:fs";

export function table(name) {
  const url = new URL(`../../../../Conformance/clients/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8"));
}

/** A merge patch, RFC 7396. */
export function merged(target, patch) {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result = typeof target === "object" && target !== null ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
