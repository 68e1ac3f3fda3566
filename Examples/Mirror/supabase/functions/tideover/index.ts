// A Supabase edge function that receives webhooks and keeps `users` and `subscriptions`.
// See docs/mirror.md.
export {};

const TOLERANCE = 300; // seconds

const needed = (name: string): string => {
  const value = Deno.env.get(name);
  if (!value) throw new Error(`${name} is missing. Set it with \`supabase secrets set\`.`);
  return value;
};

const decode = (text: string) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const secret = needed("TIDEOVER_WEBHOOK_SECRET");
if (!secret.startsWith("whsec_")) throw new Error("TIDEOVER_WEBHOOK_SECRET is not a secret.");
const algorithm = { name: "HMAC", hash: "SHA-256" };
const key = await crypto.subtle.importKey(
  "raw", decode(secret.slice("whsec_".length)), algorithm, false, ["verify"]);

// Whether Tideover signed the body within the last minutes, as Standard Webhooks define it.
async function isGenuine(headers: Headers, body: Uint8Array): Promise<boolean> {
  const [id, time, signatures] =
    ["id", "timestamp", "signature"].map((name) => headers.get(`webhook-${name}`) ?? "");
  if (!id || !/^\d{1,15}$/.test(time)) return false;
  if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE) return false;
  const message = await new Blob([`${id}.${time}.`, body]).arrayBuffer();
  for (const signature of signatures.split(" ").slice(0, 32)) {
    if (signature.startsWith("v1,") && await matches(signature.slice(3), message)) return true;
  }
  return false;
}

async function matches(signature: string, message: ArrayBuffer): Promise<boolean> {
  try {
    return await crypto.subtle.verify("HMAC", key, decode(signature), message);
  } catch {
    return false; // no base64
  }
}

// Supabase sets the project's secret keys. Older projects have a token for `service_role` instead.
function credentials(): Record<string, string> {
  const keys: Record<string, string> = JSON.parse(Deno.env.get("SUPABASE_SECRET_KEYS") || "{}");
  const secretKey = keys.default ?? Object.values(keys)[0];
  if (secretKey) return { apikey: secretKey };
  const role = needed("SUPABASE_SERVICE_ROLE_KEY");
  return { apikey: role, Authorization: `Bearer ${role}` };
}

// Calls the function of postgres.sql.
async function apply(event: unknown): Promise<Response> {
  return await fetch(`${needed("SUPABASE_URL")}/rest/v1/rpc/apply_tideover`, {
    method: "POST",
    headers: { ...credentials(), "Content-Type": "application/json" },
    body: JSON.stringify({
      event, app: needed("TIDEOVER_APP"), environment: needed("TIDEOVER_ENVIRONMENT"),
    }),
  });
}

Deno.serve(async (request) => {
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const body = new Uint8Array(await request.arrayBuffer());
  if (!await isGenuine(request.headers, body)) return new Response(null, { status: 401 });
  const applied = await apply(JSON.parse(new TextDecoder().decode(body)));
  if (applied.ok) return new Response(null, { status: 204 });
  console.error(`apply_tideover: ${applied.status} ${await applied.text()}`);
  return new Response(null, { status: 503 }); // Tideover sends it again later
});
