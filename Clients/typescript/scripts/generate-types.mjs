// Prints the types of the schemas that the client's routes use, from an OpenAPI document.
//
//   node scripts/generate-types.mjs openapi.json > client/src/types.ts
//
// `scripts/clients.sh types` does so with the document of the built server.
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

/** The operations that the client calls. */
const operations = [
  "getCustomer", "reconcile", "reportPrompt", "getTimeline", "explainCustomer", "listEvents", "getPassKeys",
];
/** Schemas that no operation refers to. */
const others = ["PassClaims", "Problem"];

export function generateTypes(document) {
  const { schemas } = document.components;
  const wanted = new Set(others);
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path)) {
      if (operations.includes(operation.operationId)) collect(operation, wanted);
    }
  }
  // A set grows while it is walked: what a schema refers to is wanted too.
  for (const name of wanted) collect(schemas[name], wanted);
  const names = [...wanted].sort();
  return [
    "// Generated from /openapi.json by scripts/generate-types.mjs: do not edit.\n",
    ...names.map((name) => declaration(name, schemas[name])),
  ].join("\n");
}

function collect(node, names) {
  if (typeof node !== "object" || node === null) return;
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(node.$ref ?? "") ?? [];
  if (name) names.add(name);
  Object.values(node).forEach((child) => collect(child, names));
}

function declaration(name, schema) {
  const text = type(schema, 0);
  return text.startsWith("{") ? `export interface ${name} ${text}\n` : `export type ${name} = ${text};\n`;
}

function type(schema, depth) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.oneOf) return schema.oneOf.map((one) => type(one, depth)).join(" | ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(schema.type)) {
    return schema.type.map((one) => type({ ...schema, type: one }, depth)).join(" | ");
  }
  switch (schema.type) {
    case "array": return `Array<${type(schema.items ?? {}, depth)}>`;
    case "boolean": case "null": case "string": return schema.type;
    case "integer": case "number": return "number";
    case "object": return object(schema, depth);
    default: return "unknown";
  }
}

function object(schema, depth) {
  if (schema.additionalProperties && !schema.properties) {
    return `Record<string, ${type(schema.additionalProperties, depth)}>`;
  }
  if (!schema.properties) return "Record<string, any>";
  const margin = "  ".repeat(depth);
  const members = Object.entries(schema.properties).map(([name, value]) => {
    const optional = schema.required?.includes(name) ? "" : "?";
    return `${margin}  ${name}${optional}: ${type(value, depth + 1)};\n`;
  });
  return `{\n${members.join("")}${margin}}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.stdout.write(generateTypes(JSON.parse(await readFile(process.argv[2] ?? 0, "utf8"))));
}
