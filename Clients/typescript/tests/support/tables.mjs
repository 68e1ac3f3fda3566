// The tables of Conformance/clients, and what a case of them is made of.
import { readdirSync, readFileSync } from "node:fs";

export function table(name) {
  const url = new URL(`../../../../Conformance/clients/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8"));
}

/** The expectations of the core's tables, with the name of their case. */
function expectations() {
  const folder = new URL("../../../../Conformance/", import.meta.url);
  return readdirSync(folder).filter((name) => name.endsWith(".json")).sort().flatMap((file) =>
    JSON.parse(readFileSync(new URL(file, folder), "utf8")).cases.flatMap(({ name, expect = [] }) =>
      [expect].flat().map((one) => ({ name: `${file}: ${name}`, ...one }))));
}

/** The answers on both sides of a boundary, or the one at an instant. */
function sides({ before, from, edge, ...both }) {
  const at = both.at ?? edge;
  return before || from ? [{ ...both, at, ...before }, { ...both, at, ...from }] : [{ ...both, at }];
}

/** The answers that the core's tables require at an instant: what a client gets to read. */
export function coreAnswers() {
  return expectations().flatMap(sides).filter(({ state }) => state);
}

/** The boundaries of the core's tables, with the answer before each: it must end there. */
export function coreEdges() {
  return expectations().filter(({ edge, before }) => edge && before?.state).map(({ name, edge, before }) => {
    const { state, access = state === "active" || state === "grace", confidence = "confirmed" } = before;
    return { name, edge: full(edge), before: { state, access, confidence } };
  });
}

/** The prompts that the core's tables require. */
export function corePrompts() {
  return expectations().flatMap(sides).filter(({ prompt }) => prompt).map(({ name, at, prompt }) => {
    const { until } = prompt.arguments ?? {};
    return { name, at: full(at), prompt: until ? { ...prompt, arguments: { until: full(until) } } : prompt };
  });
}

/** The tables write midnight as a day. */
function full(text) {
  return text.length === 10 ? `${text}T00:00:00Z` : text;
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
