// The parts of other packages that the documents' code uses, so that it is type-checked without
// them.

// Source: https://hyochan.github.io/react-native-iap/docs/api (14), types of
// https://www.openiap.dev
declare module "react-native-iap" {
  export interface Purchase {
    id: string;
    productId: string;
    transactionDate: number;
    purchaseToken?: string | null;
    purchaseState: "pending" | "purchased" | "unknown";
    platform: "ios" | "android";
    isAcknowledgedAndroid?: boolean | null;
  }
  export function initConnection(): Promise<boolean>;
  export function endConnection(): Promise<boolean>;
  export function getAvailablePurchases(options?: {
    alsoPublishToEventListenerIOS?: boolean; onlyIncludeActiveItemsIOS?: boolean;
  }): Promise<Purchase[]>;
  export function finishTransaction(args: { purchase: Purchase; isConsumable?: boolean }): Promise<unknown>;
  export function purchaseUpdatedListener(listener: (purchase: Purchase) => void): { remove(): void };
  export function requestPurchase(request: {
    request: {
      ios?: { sku: string; appAccountToken?: string };
      android?: { skus: string[]; obfuscatedAccountIdAndroid?: string };
    };
    type: "in-app" | "subs";
  }): Promise<unknown>;
}

// Source: https://react-native-async-storage.github.io/async-storage/docs/api
declare module "@react-native-async-storage/async-storage" {
  const AsyncStorage: {
    getItem(key: string): Promise<string | null>;
    setItem(key: string, value: string): Promise<void>;
    removeItem(key: string): Promise<void>;
  };
  export default AsyncStorage;
}

// Source: https://github.com/paulmillr/noble-curves
declare module "@noble/curves/ed25519" {
  export const ed25519: {
    verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
  };
}

// Source: https://expressjs.com/en/4x/api.html
declare module "express" {
  function express(): express.Application;
  namespace express {
    interface Request extends AsyncIterable<Uint8Array> {
      headers: Record<string, string | string[] | undefined>;
    }
    interface Response {
      statusCode: number;
      setHeader(name: string, value: string): this;
      end(body?: string): this;
    }
    type Handler = (request: Request, response: Response, next: (error?: unknown) => void) => unknown;
    interface Application {
      get(path: string, ...handlers: Handler[]): this;
      post(path: string, ...handlers: Handler[]): this;
    }
  }
  export = express;
}

// Source: https://fastify.dev/docs/latest/Reference/ (Server, Request, Reply, ContentTypeParser)
declare module "fastify" {
  export interface FastifyRequest {
    headers: Record<string, string | string[] | undefined>;
    body: unknown;
  }
  export interface FastifyReply {
    code(status: number): FastifyReply;
    headers(values: Record<string, string | number>): FastifyReply;
    send(payload?: unknown): FastifyReply;
  }
  type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;
  export interface FastifyInstance {
    register(plugin: (instance: FastifyInstance, options: object) => Promise<void>): unknown;
    addContentTypeParser(
      type: string | string[] | RegExp, options: { parseAs: "buffer"; bodyLimit?: number },
      parser: (
        request: FastifyRequest, body: Uint8Array, done: (error: Error | null, body?: unknown) => void,
      ) => void,
    ): void;
    get(path: string, options: { preHandler: Handler }, handler: Handler): FastifyInstance;
    post(path: string, handler: Handler): FastifyInstance;
  }
  export default function fastify(): FastifyInstance;
}

// Source: https://hono.dev/docs/api/hono and https://hono.dev/docs/api/context
declare module "hono" {
  export interface Context {
    req: { raw: Request; header(name: string): string | undefined };
    text(body: string): Response;
  }
  type Next = () => Promise<void>;
  type Handler = (context: Context, next: Next) => Response | Promise<Response | void>;
  export class Hono {
    get(path: string, ...handlers: Handler[]): this;
    post(path: string, ...handlers: Handler[]): this;
    use(path: string, ...handlers: Handler[]): this;
  }
}

// Source: https://docs.deno.com/api/deno
declare const Deno: {
  env: { get(name: string): string | undefined };
  serve(handler: (request: Request) => Response | Promise<Response>): unknown;
};
