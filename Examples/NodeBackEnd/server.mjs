// server.mjs
import { createServer } from "node:http";
import { TideoverAPI } from "@tideover/client";
import { EntitlementCache, expressWebhook, requireEntitlement } from "@tideover/node";

const api = new TideoverAPI({
  url: process.env.TIDEOVER_URL,
  app: "cards",
  key: process.env.TIDEOVER_KEY,
  environment: "simulated",
});
const entitlements = new EntitlementCache(api);

const premium = requireEntitlement("premium", {
  entitlements,
  unknown: "deny",
  customer: (request) => request.headers["x-customer"], // your own sign-in goes here
});

const hooks = expressWebhook({ keys: process.env.WEBHOOK_SECRET }, ({ payload }) => {
  entitlements.forget(payload.customer);
  console.log(payload.type, payload.customer);
});

const server = createServer((request, response) => {
  const failed = (error) => {
    console.error(error);
    response.writeHead(500).end();
  };
  if (request.url === "/hooks") return hooks(request, response, failed);
  return premium(request, response, (error) => {
    if (error) return failed(error);
    response.end("Here you are.\n");
  });
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
