// Runs a Supabase edge function under Node, with the two members of Deno that it uses.
//
//   node edge_function.mjs FUNCTION.mjs
//
// For scripts/mirror-test.sh. Requests, responses, fetch and WebCrypto are Node's own.
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

async function answer(handler, incoming, outgoing) {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const url = `http://${incoming.headers.host}${incoming.url}`;
  const response = await handler(new Request(url, {
    method: incoming.method, headers: incoming.headers,
    body: incoming.method === "GET" ? undefined : Buffer.concat(chunks),
  }));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

function serve(handler) {
  const server = createServer((incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch((error) => {
      console.error(error);
      outgoing.writeHead(500).end();
    });
  });
  server.listen(0, "127.0.0.1", () => {
    console.log(`listening on http://127.0.0.1:${server.address().port}`);
  });
}

globalThis.Deno = { env: { get: (name) => process.env[name] }, serve };
await import(pathToFileURL(process.argv[2]).href);
