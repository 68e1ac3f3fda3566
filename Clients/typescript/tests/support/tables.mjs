// The tables of Conformance/clients, and what a case of them is made of.
import { readdirSync, readFileSync } from "node:fs";

export function table(name) {
  const url = new URL(`../../../../Conformance/clients/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8"));
}

/** The answers that the core's tables require at an instant: what a client gets to read. */
export function coreAnswers() {
  const folder = new URL("../../../../Conformance/", import.meta.url);
  const answers = [];
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".json")).sort()) {
    for (const { name, expect = [] } of JSON.parse(readFileSync(new URL(file, folder), "utf8")).cases) {
      for (const { before, from, ...both } of [expect].flat()) {
        const sides = before || from ? [{ ...both, ...before }, { ...both, ...from }] : [both];
        answers.push(...sides.filter(({ state }) => state).map((answer) => ({ name: `${file}: ${name}`, ...answer })));
      }
    }
  }
  return answers;
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
