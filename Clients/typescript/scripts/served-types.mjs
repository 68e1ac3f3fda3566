// Prints the types that belong to the built program, which TIDEOVER_BINARY names.
import { World } from "../tests/support/tideover.mjs";
import { generateTypes } from "./generate-types.mjs";

const world = await World.open();
try {
  const document = await (await fetch(`${world.url}/openapi.json`)).json();
  process.stdout.write(generateTypes(document));
} finally {
  await world.close();
}
