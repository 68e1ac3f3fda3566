// React's test renderer, and searches in what it renders.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
export const { act, create } = require("react-test-renderer");

/** The texts of a rendered tree, in order. */
export function texts(node) {
  if (node === null || node === undefined) return [];
  if (typeof node === "string") return [node];
  return (Array.isArray(node) ? node : node.children ?? []).flatMap(texts);
}

/** The first element of a type in a rendered tree. */
export function find(node, type) {
  if (node === null || typeof node !== "object") return undefined;
  if (node.type === type) return node;
  return (node.children ?? []).map((child) => find(child, type)).find(Boolean);
}
