import type { EntitlementName } from "@tideover/client";
import { refusal } from "./require.js";
import type { Refusal, RequireOptions } from "./require.js";
import { verifyWebhook, WebhookRefusal } from "./webhook.js";
import type { Webhook, WebhookHeaders, WebhookOptions } from "./webhook.js";

// Adapters: each only translates a framework's request and response. The types are the least of
// each framework that is used, so that none of them is a dependency.

/**
 * What is done with a verified message. What it throws goes to the framework: the sender tries
 * again.
 */
export type WebhookHandler = (webhook: Webhook) => Promise<void> | void;

const longestBody = 1024 * 1024;

// MARK: Fetch: Next.js route handlers, Deno, Bun, Workers, Supabase edge functions

/** `export const POST = fetchWebhook(...)` */
export function fetchWebhook(
  options: WebhookOptions, handle: WebhookHandler,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = await joined(partsOf(request));
    const status = body ? await receive(request.headers, body, options, handle) : 413;
    return new Response(null, { status });
  };
}

/** The body as it arrives. Not every platform's streams can be iterated. */
async function* partsOf(request: Request): AsyncGenerator<Uint8Array> {
  if (request.bodyUsed) throw new TypeError("The body is read already. Verify the webhook before anything else.");
  const reader = request.body?.getReader();
  if (!reader) return yield new Uint8Array(await request.arrayBuffer());
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    // Nothing more is read of a body that is too long.
    await reader.cancel();
  }
}

/** `export const GET = withEntitlement("premium", options, handler)` */
export function withEntitlement<Rest extends unknown[]>(
  name: EntitlementName, options: RequireOptions<Request>,
  handler: (request: Request, ...rest: Rest) => Response | Promise<Response>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  return async (request, ...rest) => {
    const refused = await refusal(name, request, options);
    return refused ? response(refused) : handler(request, ...rest);
  };
}

// MARK: Hono

export interface HonoContext {
  req: { raw: Request };
}

/** `app.post("/hooks", honoWebhook(...))` */
export function honoWebhook(
  options: WebhookOptions, handle: WebhookHandler,
): (context: HonoContext) => Promise<Response> {
  const receiver = fetchWebhook(options, handle);
  return (context) => receiver(context.req.raw);
}

/** `app.use("/export", honoRequireEntitlement("premium", options))` */
export function honoRequireEntitlement<Context extends HonoContext>(
  name: EntitlementName, options: RequireOptions<Context>,
): (context: Context, next: () => Promise<void>) => Promise<Response | void> {
  return async (context, next) => {
    const refused = await refusal(name, context, options);
    return refused ? response(refused) : next();
  };
}

// MARK: Express, and Node's own http

/** A request with a body that is not read yet, or that `express.raw` or `express.text` has read. */
export interface NodeRequest extends AsyncIterable<Uint8Array | string> {
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body?: unknown;
}

export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: string): unknown;
}

/** `app.post("/hooks", expressWebhook(...))`, before any `express.json()`. */
export function expressWebhook(
  options: WebhookOptions, handle: WebhookHandler,
): (request: NodeRequest, response: NodeResponse, next: (error: unknown) => void) => Promise<void> {
  return async (request, response, next) => {
    try {
      const body = await bodyOf(request);
      response.statusCode = body ? await receive(request.headers, body, options, handle) : 413;
      response.end();
    } catch (error) {
      next(error);
    }
  };
}

/** `app.get("/export", requireEntitlement("premium", options), handler)` */
export function requireEntitlement<Request>(
  name: EntitlementName, options: RequireOptions<Request>,
): (request: Request, response: NodeResponse, next: (error?: unknown) => void) => Promise<void> {
  return async (request, response, next) => {
    let refused: Refusal | undefined;
    try {
      refused = await refusal(name, request, options);
    } catch (error) {
      return next(error);
    }
    if (!refused) return next();
    response.statusCode = refused.status;
    for (const [field, value] of Object.entries(refused.headers)) response.setHeader(field, value);
    response.end(refused.body);
  };
}

// MARK: Fastify

export interface FastifyReply {
  code(status: number): FastifyReply;
  headers(values: Record<string, string>): FastifyReply;
  send(body?: string): unknown;
}

interface FastifyScope {
  addContentTypeParser(
    type: string, options: { parseAs: "buffer"; bodyLimit: number },
    parser: (request: unknown, body: any, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(path: string, handler: (request: any, reply: any) => Promise<unknown>): unknown;
}

/** `app.register(fastifyWebhook("/hooks", ...))`: only its own route gets the body unparsed. */
export function fastifyWebhook(
  path: string, options: WebhookOptions, handle: WebhookHandler,
): (scope: FastifyScope) => Promise<void> {
  return async (scope) => {
    const asReceived = { parseAs: "buffer" as const, bodyLimit: longestBody };
    scope.addContentTypeParser("application/json", asReceived, (_, body, done) => done(null, body));
    scope.post(path, async (request, reply) => {
      const status = await receive(request.headers, request.body ?? "", options, handle);
      return reply.code(status).send();
    });
  };
}

/** `app.get("/export", { preHandler: fastifyRequireEntitlement("premium", options) }, handler)` */
export function fastifyRequireEntitlement<Request>(
  name: EntitlementName, options: RequireOptions<Request>,
): (request: Request, reply: FastifyReply) => Promise<unknown> {
  return async (request, reply) => {
    const refused = await refusal(name, request, options);
    return refused && reply.code(refused.status).headers(refused.headers).send(refused.body);
  };
}

// MARK: Shared

/** The status to answer: 204, or 400 for what is not believed. */
async function receive(
  headers: WebhookHeaders, body: string | Uint8Array, options: WebhookOptions, handle: WebhookHandler,
): Promise<204 | 400> {
  let webhook: Webhook;
  try {
    webhook = await verifyWebhook(headers, body, options);
  } catch (error) {
    if (error instanceof WebhookRefusal) return 400;
    throw error;
  }
  await handle(webhook);
  return 204;
}

/** The body as it was received; undefined if it is too long. */
async function bodyOf(request: NodeRequest): Promise<Uint8Array | undefined> {
  const { body } = request;
  if (body instanceof Uint8Array) return body;
  if (typeof body === "string") return Buffer.from(body);
  if (typeof body === "object" && body !== null && Object.keys(body).length > 0) {
    throw new TypeError("The body is parsed already. Mount the webhook before express.json().");
  }
  return joined(request);
}

/** The parts of a body; undefined if they are too long. */
async function joined(body: AsyncIterable<Uint8Array | string>): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    const bytes = typeof part === "string" ? Buffer.from(part) : part;
    parts.push(bytes);
    length += bytes.length;
    if (length > longestBody) return undefined;
  }
  return Buffer.concat(parts);
}

function response(refused: Refusal): Response {
  return new Response(refused.body, { status: refused.status, headers: refused.headers });
}
