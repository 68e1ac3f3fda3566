import TideoverHTTP
import TideoverJSON
import TideoverSignatures

/// Answers `GET /openapi.json`: a description of the service in OpenAPI 3.1.
/// https://spec.openapis.org/oas/v3.1.0
enum OpenAPIDocument {
    static func respond(to request: Request) -> Response {
        guard !request.holds(tag) else { return .notModified(tag) }
        return .json(bytes: bytes, headers: ["ETag": tag.description])
    }

    /// The parsed document.
    static let document: JSONDocument = {
        guard let document = try? JSONDocument(bytes) else {
            preconditionFailure("the OpenAPI document is JSON")
        }
        return document
    }()

    private static let bytes = Array(text.utf8)
    private static let tag = ETag.strong(Hexadecimal.text(SHA256.hash(bytes).prefix(8)))

    private static let text = #"""
        {
          "openapi": "3.1.0",
          "info": {
            "title": "Tideover",
            "version": "1",
            "summary": "May this customer use this right now, until when, and why?",
            "description": "The answers are based on data that the stores signed. Times are RFC 3339 in UTC. Before a route is looked up, a request can also be answered 408, 431 or 501, with a problem.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" }
          },
          "servers": [{ "url": "/" }],
          "tags": [
            { "name": "customers", "description": "What customers may use" },
            { "name": "events", "description": "What happened to customers" },
            { "name": "notifications", "description": "Messages from stores" },
            { "name": "store actions", "description": "What stores are requested to change" },
            { "name": "backfill", "description": "What stores are asked for" },
            { "name": "reports", "description": "Figures over all stored messages" },
            { "name": "keys", "description": "Who may ask" },
            { "name": "watching", "description": "Whether the server is well" }
          ],
          "paths": {
            "/v1/apps/{app}/customers/{customer}": {
              "get": {
                "tags": ["customers"],
                "operationId": "getCustomer",
                "summary": "What a customer may use now",
                "description": "An unknown customer is answered too: `never`, confidence `unknown`, without a pass. The `ETag` does not cover the pass: a client that needs a new one, when half of its life is over, asks without `If-None-Match`.",
                "security": [{ "key": ["public"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  { "$ref": "#/components/parameters/environment" },
                  { "$ref": "#/components/parameters/ifNoneMatch" },
                  { "$ref": "#/components/parameters/acceptLanguage" },
                  { "$ref": "#/components/parameters/deviceStore" }
                ],
                "responses": {
                  "200": {
                    "description": "The best standing for each entitlement of the app",
                    "headers": {
                      "Content-Language": { "$ref": "#/components/headers/language" },
                      "ETag": { "$ref": "#/components/headers/etag" },
                      "X-Request-Id": { "$ref": "#/components/headers/requestId" }
                    },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Snapshot" } }
                    }
                  },
                  "304": { "description": "The client's copy is current" },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              },
              "delete": {
                "tags": ["customers"],
                "operationId": "eraseCustomer",
                "summary": "Erase a customer permanently",
                "description": "Erases all ids of the customer in every environment, or in the one given: purchases that no other customer ever owned with their evidence, the answer, aliases, events, differences and audit lines. An unknown customer is no error. New messages from the store are stored again.",
                "security": [{ "key": ["admin"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  {
                    "name": "environment",
                    "in": "query",
                    "description": "Erases in this environment only; the app must be served in it",
                    "schema": { "type": "string", "enum": ["production", "sandbox", "simulated"] }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "The numbers of removed and of remaining rows",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Erased" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/pass-keys": {
              "get": {
                "tags": ["customers"],
                "operationId": "getPassKeys",
                "summary": "The public keys that passes are checked with",
                "description": "The signing key, and other keys with valid passes: previous ones and the next one. Empty if no passes are issued.",
                "security": [],
                "parameters": [{ "$ref": "#/components/parameters/app" }],
                "responses": {
                  "200": {
                    "description": "A JSON Web Key Set (RFC 7517, RFC 8037)",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/PassKeys" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" }
                }
              }
            },
            "/v1/apps/{app}/customers/{customer}/explain": {
              "get": {
                "tags": ["customers"],
                "operationId": "explainCustomer",
                "summary": "Why a customer has or lacks access, at any instant",
                "description": "The rule that decided, its facts, the facts set aside, the next change, and sentences for a reply.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "at", "in": "query",
                    "description": "The instant asked about instead of now",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  },
                  {
                    "name": "asKnownAt", "in": "query",
                    "description": "Only facts learned by this instant count",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "An explanation for each entitlement of the app",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Explanation" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/customers/{customer}/reconcile": {
              "post": {
                "tags": ["customers"],
                "operationId": "reconcile",
                "summary": "Present a device's purchases and read what the customer may use",
                "description": "Each piece of evidence is accepted or rejected by itself; Google Play is queried about purchases there. Accepted evidence is stored before the response is sent, so that its transaction may be finished, and its lineages are claimed for the customer. The answer is that of the environment asked about, else of the newest evidence accepted, else of production. More than 32 pieces are presented in several requests, in any order; to present one again changes nothing. Once something was presented and nothing was refused, or the device said `nothing`, a customer without purchases is `never` for certain.",
                "security": [{ "key": ["public"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  { "$ref": "#/components/parameters/environment" },
                  { "$ref": "#/components/parameters/acceptLanguage" },
                  { "$ref": "#/components/parameters/deviceStore" }
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/DeviceEvidence" } }
                  }
                },
                "responses": {
                  "200": {
                    "description": "The snapshot, and the outcome of each piece of evidence",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Reconciled" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "429": { "$ref": "#/components/responses/tryAgain" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/customers/{customer}/prompts": {
              "post": {
                "tags": ["customers"],
                "operationId": "reportPrompt",
                "summary": "Report that a prompt was shown",
                "description": "Answers then leave out soft prompts as `policy.prompts` says: within `interval`, and beyond `perDay`. Without `shownAt` it was shown now. A report with a known `id` adds `response` to the stored one, if it has none.",
                "security": [{ "key": ["public"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  { "$ref": "#/components/parameters/environment" }
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/PromptReport" } }
                  }
                },
                "responses": {
                  "200": {
                    "description": "The report as it was read",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/ShownPrompt" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "429": { "$ref": "#/components/responses/tryAgain" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/customers/{customer}/timeline": {
              "get": {
                "tags": ["customers"],
                "operationId": "getTimeline",
                "summary": "The history of a customer",
                "description": "The spans of standing and what happened between them, derived from everything known now, and the expected spans without further messages.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "at", "in": "query",
                    "description": "The end of the history instead of now",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  },
                  {
                    "name": "asKnownAt", "in": "query",
                    "description": "Only facts learned by this instant count",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A timeline for each entitlement of the app",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/CustomerTimeline" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/customers/{customer}/refresh": {
              "post": {
                "tags": ["customers"],
                "operationId": "refreshCustomer",
                "summary": "Ask the stores about a customer's purchases now",
                "description": "Asks about the subscriptions of the App Store and the purchases of Google Play that the customer owns, latest first, 10 at most. What a store answers is stored before the response is sent, so that the next answer uses it. A store that answered a short time ago is not asked again.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  { "$ref": "#/components/parameters/environment" }
                ],
                "responses": {
                  "200": {
                    "description": "The purchases with what came of each question",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Refresh" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/customers/{customer}/grants": {
              "get": {
                "tags": ["customers"],
                "operationId": "listGrants",
                "summary": "The access that an operator granted to a customer",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  { "$ref": "#/components/parameters/environment" }
                ],
                "responses": {
                  "200": {
                    "description": "Every grant, including ended and revoked ones, oldest first",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Grants" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              },
              "post": {
                "tags": ["customers"],
                "operationId": "giveGrant",
                "summary": "Grant access to a customer",
                "description": "The grant starts now and covers entitlements of the catalogue. It adds to purchases and replaces none. The name of the key is stored with it.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "Idempotency-Key", "in": "header",
                    "description": "Names this grant: it is given once for the same key",
                    "schema": { "type": "string", "minLength": 1, "maxLength": 100 }
                  }
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/GrantWish" } }
                  }
                },
                "responses": {
                  "200": {
                    "description": "Granted before with the same key",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Grants" } }
                    }
                  },
                  "201": {
                    "description": "A new grant for each entitlement",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Grants" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/customers/{customer}/grants/{grant}/revocation": {
              "post": {
                "tags": ["customers"],
                "operationId": "revokeGrant",
                "summary": "Revoke a grant from now on",
                "description": "Revoking it again has no effect and returns the first `why`.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  {
                    "name": "grant", "in": "path", "required": true,
                    "description": "The grant's id, as `listGrants` shows it",
                    "schema": { "type": "string" }
                  },
                  { "$ref": "#/components/parameters/environment" }
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": {
                      "schema": {
                        "type": "object", "required": ["why"],
                        "properties": { "why": { "type": "string", "maxLength": 500 } }
                      }
                    }
                  }
                },
                "responses": {
                  "200": {
                    "description": "The grant, revoked",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Grants" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/customers/{customer}/aliases": {
              "get": {
                "tags": ["customers"],
                "operationId": "listAliases",
                "summary": "The aliases of a customer",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" }
                ],
                "responses": {
                  "200": {
                    "description": "The ids, for any of them",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Aliases" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              },
              "post": {
                "tags": ["customers"],
                "operationId": "declareAlias",
                "summary": "Declare that two ids are one customer",
                "description": "From now on both ids have the purchases of both. For an earlier instant, each has its own. The alias belongs to the customer permanently; an alias of an alias is one of the customer behind it.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" }
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": {
                      "schema": {
                        "type": "object", "required": ["alias"],
                        "properties": {
                          "alias": { "type": "string", "description": "The other id; one that has aliases cannot be one" },
                          "why": { "type": "string", "maxLength": 500 }
                        }
                      }
                    }
                  }
                },
                "responses": {
                  "200": {
                    "description": "They are one already",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Aliases" } }
                    }
                  },
                  "201": {
                    "description": "Declared, in every environment of the app",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Aliases" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/customers/{customer}/audit": {
              "get": {
                "tags": ["customers"],
                "operationId": "getCustomerAudit",
                "summary": "Who changed what of a customer, when and why",
                "description": "Lines that name the customer by any of their ids.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "after", "in": "query",
                    "description": "The id of the line read last; without it from the beginning",
                    "schema": { "type": "string", "format": "uuid" }
                  },
                  {
                    "name": "limit", "in": "query",
                    "description": "How many lines at most",
                    "schema": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A page of lines, the oldest first",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Audit" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/audit": {
              "get": {
                "tags": ["customers"],
                "operationId": "getAudit",
                "summary": "Changes of ownership, and granted access",
                "description": "Claims, transfers, grants, aliases, changes requested from a store, and claims that were refused (the same one once). Lines are only ever added.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  {
                    "name": "after", "in": "query",
                    "description": "The id of the line read last; without it from the beginning",
                    "schema": { "type": "string", "format": "uuid" }
                  },
                  {
                    "name": "limit", "in": "query",
                    "description": "How many lines at most",
                    "schema": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A page of lines, the oldest first",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Audit" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/purchases/{purchase}/move": {
              "post": {
                "tags": ["customers"],
                "operationId": "movePurchase",
                "summary": "Give a purchase to another customer",
                "description": "The customer owns the purchase from now on, whatever the policy says. Neither a renewal with a former owner's account token nor a former owner's device takes it back. Moving it to its owner changes nothing.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  {
                    "name": "purchase", "in": "path", "required": true,
                    "description": "A transaction id, an order number, a purchase token, or the purchase as `explain` and `lookup` name it",
                    "schema": { "type": "string" }
                  },
                  { "$ref": "#/components/parameters/environment" }
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": {
                      "schema": {
                        "type": "object", "required": ["customer", "why"],
                        "properties": {
                          "customer": { "type": "string", "description": "The customer who gets it" },
                          "from": {
                            "type": "string",
                            "description": "Its owner as known to the caller. Of another owner's purchase the move is refused"
                          },
                          "why": { "type": "string", "maxLength": 500 }
                        }
                      }
                    }
                  }
                },
                "responses": {
                  "200": {
                    "description": "The customer owns the purchase",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": {
                        "schema": {
                          "type": "object",
                          "required": ["app", "environment", "purchase", "customer", "customerKnown"],
                          "properties": {
                            "app": { "type": "string" },
                            "environment": { "$ref": "#/components/schemas/Environment" },
                            "purchase": { "type": "string" },
                            "customer": { "type": "string" },
                            "customerKnown": {
                              "type": "boolean",
                              "description": "Whether anything else was stored under the id, which may be mistyped"
                            }
                          }
                        }
                      }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/purchases/{purchase}/actions": {
              "post": {
                "tags": ["store actions"],
                "operationId": "changePurchase",
                "summary": "Request a change of one purchase from its store",
                "description": "The App Store extends a renewal date (`extend`), sets an account token (`accountToken`) and takes consumption information (`consumption`). Google Play cancels, defers, revokes and refunds. `defer`, `revoke` and `refund` take an admin key. Each request leaves audit lines, and the store is asked about the purchase afterwards.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  {
                    "name": "purchase", "in": "path", "required": true,
                    "description": "A transaction id, an order number or a purchase token. A refund takes the order number, consumption information the id of the transaction",
                    "schema": { "type": "string" }
                  },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "Idempotency-Key", "in": "header",
                    "description": "Names this change: it is carried out once under one key. Needed unless `dryRun` is true",
                    "schema": { "type": "string", "minLength": 1, "maxLength": 100 }
                  },
                  {
                    "name": "dryRun", "in": "query",
                    "description": "Whether to answer the request that would be sent, and send nothing",
                    "schema": { "type": "boolean", "default": false }
                  }
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/StoreAction" } }
                  }
                },
                "responses": {
                  "200": {
                    "description": "The change is carried out, was carried out before under the same key, or is only drafted",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/StoreActionAnswer" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/extensions": {
              "post": {
                "tags": ["store actions"],
                "operationId": "extendAll",
                "summary": "Extend all subscriptions to a product on the App Store",
                "description": "Of all storefronts or of some. The store accepts the request at once, carries it out later and sends notifications. `answer.requestIdentifier` is the id for `getExtension`.",
                "security": [{ "key": ["admin"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "Idempotency-Key", "in": "header",
                    "description": "Names this change: it is carried out once under one key. Needed unless `dryRun` is true",
                    "schema": { "type": "string", "minLength": 1, "maxLength": 100 }
                  },
                  {
                    "name": "dryRun", "in": "query",
                    "description": "Whether to answer the request that would be sent, and send nothing",
                    "schema": { "type": "boolean", "default": false }
                  }
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": {
                      "schema": { "$ref": "#/components/schemas/MassExtension" }
                    }
                  }
                },
                "responses": {
                  "200": {
                    "description": "The store accepted the request, accepted it before under the same key, or it is only drafted",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/StoreActionAnswer" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/extensions/{id}": {
              "get": {
                "tags": ["store actions"],
                "operationId": "getExtension",
                "summary": "The progress of an extension of all subscriptions, asked of the store",
                "security": [{ "key": ["admin"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  {
                    "name": "id", "in": "path", "required": true,
                    "description": "The request identifier that `extendAll` answers",
                    "schema": { "type": "string" }
                  },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "product", "in": "query", "required": true,
                    "description": "The product of the subscriptions to extend",
                    "schema": { "type": "string" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "The progress",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/MassExtensionStatus" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/customers": {
              "get": {
                "tags": ["customers"],
                "operationId": "listCustomers",
                "summary": "Ids of customers, aliases among them",
                "description": "Ids in the order of their bytes. `explain` has the answer of each.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "prefix", "in": "query",
                    "description": "The prefix of the ids; without it all are listed",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "email", "in": "query",
                    "description": "Only ids with this address in the attribute `$email`, also of customers without an answer. Capital ASCII letters equal small ones. Apps state it, nobody verifies it.",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "after", "in": "query",
                    "description": "The id read last; without it from the beginning",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "limit", "in": "query",
                    "description": "How many ids at most",
                    "schema": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A page of ids",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Customers" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/unclaimed": {
              "get": {
                "tags": ["customers"],
                "operationId": "listUnclaimed",
                "summary": "Purchases that no customer ever claimed",
                "description": "In the form of `lookup`. Claimed purchases are not listed.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "after", "in": "query",
                    "description": "The lineage read last; without it from the beginning",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "limit", "in": "query",
                    "description": "How many purchases at most",
                    "schema": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A page of purchases, by lineage",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Unclaimed" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/lookup": {
              "get": {
                "tags": ["customers"],
                "operationId": "lookUpPurchase",
                "summary": "The customer of a purchase",
                "description": "Found by exactly one of the parameters. An order that is not known is asked of its store where the app's configuration lets it be asked.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  {
                    "name": "order", "in": "query",
                    "description": "The number of an order, as on the store's receipt; of Google Play with or without the `..N` of a renewal",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "transaction", "in": "query",
                    "description": "The id of any of its transactions",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "token", "in": "query",
                    "description": "The account token that the app gave the store, a customer's id, or a purchase token of Google Play",
                    "schema": { "type": "string" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "Every purchase found, claimed or not",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Lookup" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/explain": {
              "get": {
                "tags": ["customers"],
                "operationId": "explainPurchase",
                "summary": "Why the holder of a purchase may or may not use something",
                "description": "Found by exactly one of `order`, `transaction` and `token`. An order that is not known is asked of its store where the app's configuration lets it be asked.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  {
                    "name": "order", "in": "query",
                    "description": "The number of an order, as on the store's receipt; of Google Play with or without the `..N` of a renewal",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "transaction", "in": "query",
                    "description": "The id of any of its transactions",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "token", "in": "query",
                    "description": "The account token that the app gave the store, a customer's id, or a purchase token of Google Play",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "environment", "in": "query",
                    "description": "Only purchases of this environment",
                    "schema": { "type": "string", "enum": ["production", "sandbox", "simulated"] }
                  },
                  {
                    "name": "at", "in": "query",
                    "description": "The instant to explain instead of now",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  },
                  {
                    "name": "asKnownAt", "in": "query",
                    "description": "Only facts learned by this instant count",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "As `GET /v1/apps/{app}/customers/{customer}/explain` answers about the holder",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Explanation" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/events": {
              "get": {
                "tags": ["events"],
                "operationId": "listEvents",
                "summary": "What happened to an app's customers, as a feed",
                "description": "In the order of commits, which differs from that of `effectiveAt` after late facts. No event ever appears before one that was already read. Continue with `after` set to `next`.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  {
                    "name": "after", "in": "query",
                    "description": "The id of the event read last; without it from the beginning",
                    "schema": { "type": "string", "format": "uuid" }
                  },
                  {
                    "name": "limit", "in": "query",
                    "description": "How many events at most",
                    "schema": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }
                  },
                  {
                    "name": "latest", "in": "query",
                    "description": "How many of the newest events to return, oldest first. `after` and `limit` then have no effect; continue with `next`",
                    "schema": { "type": "integer", "minimum": 1, "maximum": 1000 }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A page of events",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Events" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "410": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/notifications/app-store": {
              "post": {
                "tags": ["notifications"],
                "operationId": "postAppStoreNotification",
                "summary": "Receive an App Store Server Notification, version 2",
                "description": "It is verified first, and answered 200 once it is stored. The App Store repeats it after any other response.",
                "security": [],
                "parameters": [{ "$ref": "#/components/parameters/app" }],
                "requestBody": {
                  "required": true,
                  "description": "As the App Store sends it, at most 256 KiB",
                  "content": {
                    "application/json": {
                      "schema": { "$ref": "#/components/schemas/SignedPayload" }
                    }
                  }
                },
                "responses": {
                  "200": {
                    "description": "Stored now or earlier",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Receipt" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "410": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "422": { "$ref": "#/components/responses/problem" },
                  "429": { "$ref": "#/components/responses/tryAgain" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/notifications/google-play": {
              "post": {
                "tags": ["notifications"],
                "operationId": "postGooglePlayNotification",
                "summary": "Receive a push of Pub/Sub with a notification of Google Play",
                "description": "The push must have a token of the configured service account. With credentials, Google Play is queried about the purchase first. It is answered 200 once the result is stored. Pub/Sub repeats it after any other response.",
                "security": [],
                "parameters": [{ "$ref": "#/components/parameters/app" }],
                "requestBody": {
                  "required": true,
                  "description": "As Pub/Sub sends it, wrapped or unwrapped, at most 256 KiB",
                  "content": { "application/json": { "schema": { "type": "object" } } }
                },
                "responses": {
                  "200": {
                    "description": "Stored now or earlier",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Receipt" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "422": { "$ref": "#/components/responses/problem" },
                  "429": { "$ref": "#/components/responses/tryAgain" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/notifications/revenuecat": {
              "post": {
                "tags": ["notifications"],
                "operationId": "postRevenueCatNotification",
                "summary": "Receive a webhook of RevenueCat",
                "description": "The webhook must have the configured `Authorization` header, the signature of the configured secret, or both. A relay's report fills only gaps in the stores' data, is presumed, and overrules nothing. It is answered 200 once it is stored. RevenueCat repeats it after any other response.",
                "security": [],
                "parameters": [{ "$ref": "#/components/parameters/app" }],
                "requestBody": {
                  "required": true,
                  "description": "As RevenueCat sends it, at most 256 KiB",
                  "content": { "application/json": { "schema": { "type": "object" } } }
                },
                "responses": {
                  "200": {
                    "description": "Stored now or earlier",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Receipt" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "422": { "$ref": "#/components/responses/problem" },
                  "429": { "$ref": "#/components/responses/tryAgain" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/imports/revenuecat": {
              "get": {
                "tags": ["backfill"],
                "operationId": "getRevenueCatImport",
                "summary": "The progress of an import of RevenueCat responses",
                "security": [{ "key": ["admin"] }],
                "parameters": [{ "$ref": "#/components/parameters/app" }],
                "responses": {
                  "200": {
                    "description": "The position; null if the last file is complete",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/ImportPlace" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              },
              "post": {
                "tags": ["backfill"],
                "operationId": "postRevenueCatImport",
                "summary": "Import lines of a file of RevenueCat responses",
                "description": "Each line is a response of RevenueCat's API about a customer, optionally with `app_user_id` beside `subscriber`. Each line has its own verdict. Lines imported before change nothing.",
                "security": [{ "key": ["admin"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  {
                    "name": "linesBefore", "in": "query",
                    "description": "The number of lines of the file before these",
                    "schema": { "type": "integer", "minimum": 0, "default": 0 }
                  },
                  {
                    "name": "mark", "in": "query",
                    "description": "A SHA-256 digest that names the position after these lines; without it the position is removed",
                    "schema": { "type": "string", "minLength": 64, "maxLength": 64 }
                  },
                  {
                    "name": "dryRun", "in": "query",
                    "description": "Report the result without storing anything",
                    "schema": { "type": "boolean", "default": false }
                  }
                ],
                "requestBody": {
                  "required": true,
                  "description": "Lines of JSON, at most 256 KiB",
                  "content": { "application/jsonl": { "schema": { "type": "string" } } }
                },
                "responses": {
                  "200": {
                    "description": "What became of them",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Imported" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/customers/{customer}/shadow": {
              "get": {
                "tags": ["reports"],
                "operationId": "getCustomerShadow",
                "summary": "Compare RevenueCat's response about a customer with ours",
                "description": "Compared at the instant of RevenueCat's newest response, with all facts known now.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/customer" },
                  { "$ref": "#/components/parameters/environment" }
                ],
                "responses": {
                  "200": {
                    "description": "The differences; empty if there are none",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/CustomerShadow" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reports/shadow": {
              "get": {
                "tags": ["reports"],
                "operationId": "getShadowReport",
                "summary": "Where RevenueCat's answers and ours differ, and what that would have cost",
                "description": "A page of customers of whom an answer of RevenueCat's is kept, in a fixed order. Lockout minutes are those in which its answers denied what the store itself vouched for.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  {
                    "name": "app", "in": "query", "required": true,
                    "description": "The app's id",
                    "schema": { "type": "string" }
                  },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "after", "in": "query",
                    "description": "`next` of the page before; without it from the beginning",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "limit", "in": "query",
                    "description": "How many customers at most",
                    "schema": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "Those that differ, and the sums of the page",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/ShadowReport" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/export": {
              "get": {
                "tags": ["backfill"],
                "operationId": "getExport",
                "summary": "Everything of an app in an environment, page by page",
                "description": "What `tideover export` writes: the header, then the lines of every page, each on a line of its own.",
                "security": [{ "key": ["admin"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "after", "in": "query",
                    "description": "`next` of the page before; without it from the beginning",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "answers", "in": "query",
                    "description": "Whether customers with their answers are all that is wanted",
                    "schema": { "type": "boolean", "default": false }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A page of lines; the last one has none",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Export" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/import": {
              "post": {
                "tags": ["backfill"],
                "operationId": "postImport",
                "summary": "Import lines of an export",
                "description": "The header, then any number of lines in their order. Signed data is verified again. Lines that are already stored change nothing.",
                "security": [{ "key": ["admin"] }],
                "parameters": [{ "$ref": "#/components/parameters/app" }],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/x-ndjson": { "schema": { "type": "string" } }
                  }
                },
                "responses": {
                  "200": {
                    "description": "The outcome of the lines",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Import" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/backfill": {
              "get": {
                "tags": ["backfill"],
                "operationId": "getBackfill",
                "summary": "The progress of the latest backfill",
                "description": "For each store the current run, or the last one since the server's start.",
                "security": [{ "key": ["admin"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" }
                ],
                "responses": {
                  "200": {
                    "description": "The last run, if there was one",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Backfill" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" }
                }
              },
              "post": {
                "tags": ["backfill"],
                "operationId": "postBackfill",
                "summary": "Request missing data from the stores",
                "description": "It begins within about a second where the last run ended, and continues after the response.",
                "security": [{ "key": ["admin"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" }
                ],
                "responses": {
                  "202": {
                    "description": "It will begin",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Backfill" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" }
                }
              }
            },
            "/v1/apps/{app}/webhooks": {
              "get": {
                "tags": [
                  "events"
                ],
                "operationId": "listWebhooks",
                "summary": "The webhooks of an app and their state",
                "description": "Added and configured ones, without secrets.",
                "security": [
                  {
                    "key": [
                      "admin"
                    ]
                  }
                ],
                "parameters": [
                  {
                    "$ref": "#/components/parameters/app"
                  }
                ],
                "responses": {
                  "200": {
                    "description": "In the order of their ids",
                    "headers": {
                      "X-Request-Id": {
                        "$ref": "#/components/headers/requestId"
                      }
                    },
                    "content": {
                      "application/json": {
                        "schema": {
                          "$ref": "#/components/schemas/Webhooks"
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/problem"
                  },
                  "401": {
                    "$ref": "#/components/responses/unauthorised"
                  },
                  "403": {
                    "$ref": "#/components/responses/problem"
                  },
                  "404": {
                    "$ref": "#/components/responses/problem"
                  },
                  "503": {
                    "$ref": "#/components/responses/tryAgain"
                  }
                }
              },
              "post": {
                "tags": [
                  "events"
                ],
                "operationId": "addWebhook",
                "summary": "Add a receiver of events",
                "description": "It receives the events from now on. Its addresses must be public.",
                "security": [
                  {
                    "key": [
                      "admin"
                    ]
                  }
                ],
                "parameters": [
                  {
                    "$ref": "#/components/parameters/app"
                  }
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": {
                      "schema": {
                        "$ref": "#/components/schemas/WebhookWish"
                      }
                    }
                  }
                },
                "responses": {
                  "201": {
                    "description": "The webhook with its secret, shown this once",
                    "headers": {
                      "X-Request-Id": {
                        "$ref": "#/components/headers/requestId"
                      }
                    },
                    "content": {
                      "application/json": {
                        "schema": {
                          "$ref": "#/components/schemas/AddedWebhook"
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/problem"
                  },
                  "401": {
                    "$ref": "#/components/responses/unauthorised"
                  },
                  "403": {
                    "$ref": "#/components/responses/problem"
                  },
                  "404": {
                    "$ref": "#/components/responses/problem"
                  },
                  "413": {
                    "$ref": "#/components/responses/problem"
                  },
                  "503": {
                    "$ref": "#/components/responses/tryAgain"
                  }
                }
              }
            },
            "/v1/apps/{app}/webhooks/{webhook}/test": {
              "post": {
                "tags": [
                  "events"
                ],
                "operationId": "testWebhook",
                "summary": "Send a test message now",
                "description": "The message has the type `webhook_test` and is not repeated.",
                "security": [
                  {
                    "key": [
                      "admin"
                    ]
                  }
                ],
                "parameters": [
                  {
                    "$ref": "#/components/parameters/app"
                  },
                  {
                    "name": "webhook",
                    "in": "path",
                    "required": true,
                    "description": "The webhook's id",
                    "schema": {
                      "type": "string"
                    }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "What the receiver answered",
                    "headers": {
                      "X-Request-Id": {
                        "$ref": "#/components/headers/requestId"
                      }
                    },
                    "content": {
                      "application/json": {
                        "schema": {
                          "$ref": "#/components/schemas/WebhookTest"
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/problem"
                  },
                  "401": {
                    "$ref": "#/components/responses/unauthorised"
                  },
                  "403": {
                    "$ref": "#/components/responses/problem"
                  },
                  "404": {
                    "$ref": "#/components/responses/problem"
                  },
                  "413": {
                    "$ref": "#/components/responses/problem"
                  },
                  "503": {
                    "$ref": "#/components/responses/tryAgain"
                  }
                }
              }
            },
            "/v1/apps/{app}/webhooks/{webhook}/disable": {
              "post": {
                "tags": [
                  "events"
                ],
                "operationId": "disableWebhook",
                "summary": "Stop delivering to a receiver",
                "description": "Events wait until it is enabled.",
                "security": [
                  {
                    "key": [
                      "admin"
                    ]
                  }
                ],
                "parameters": [
                  {
                    "$ref": "#/components/parameters/app"
                  },
                  {
                    "name": "webhook",
                    "in": "path",
                    "required": true,
                    "description": "The webhook's id",
                    "schema": {
                      "type": "string"
                    }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "The webhook",
                    "headers": {
                      "X-Request-Id": {
                        "$ref": "#/components/headers/requestId"
                      }
                    },
                    "content": {
                      "application/json": {
                        "schema": {
                          "$ref": "#/components/schemas/Webhook"
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/problem"
                  },
                  "401": {
                    "$ref": "#/components/responses/unauthorised"
                  },
                  "403": {
                    "$ref": "#/components/responses/problem"
                  },
                  "404": {
                    "$ref": "#/components/responses/problem"
                  },
                  "413": {
                    "$ref": "#/components/responses/problem"
                  },
                  "503": {
                    "$ref": "#/components/responses/tryAgain"
                  }
                }
              }
            },
            "/v1/apps/{app}/webhooks/{webhook}/enable": {
              "post": {
                "tags": [
                  "events"
                ],
                "operationId": "enableWebhook",
                "summary": "Deliver to a receiver again",
                "security": [
                  {
                    "key": [
                      "admin"
                    ]
                  }
                ],
                "parameters": [
                  {
                    "$ref": "#/components/parameters/app"
                  },
                  {
                    "name": "webhook",
                    "in": "path",
                    "required": true,
                    "description": "The webhook's id",
                    "schema": {
                      "type": "string"
                    }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "The webhook",
                    "headers": {
                      "X-Request-Id": {
                        "$ref": "#/components/headers/requestId"
                      }
                    },
                    "content": {
                      "application/json": {
                        "schema": {
                          "$ref": "#/components/schemas/Webhook"
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/problem"
                  },
                  "401": {
                    "$ref": "#/components/responses/unauthorised"
                  },
                  "403": {
                    "$ref": "#/components/responses/problem"
                  },
                  "404": {
                    "$ref": "#/components/responses/problem"
                  },
                  "413": {
                    "$ref": "#/components/responses/problem"
                  },
                  "503": {
                    "$ref": "#/components/responses/tryAgain"
                  }
                }
              }
            },
            "/v1/apps/{app}/webhooks/{webhook}/attempts": {
              "get": {
                "tags": [
                  "events"
                ],
                "operationId": "listWebhookAttempts",
                "summary": "The latest attempts to deliver",
                "description": "They are kept for 30 days.",
                "security": [
                  {
                    "key": [
                      "admin"
                    ]
                  }
                ],
                "parameters": [
                  {
                    "$ref": "#/components/parameters/app"
                  },
                  {
                    "name": "webhook",
                    "in": "path",
                    "required": true,
                    "description": "The webhook's id",
                    "schema": {
                      "type": "string"
                    }
                  },
                  {
                    "name": "before",
                    "in": "query",
                    "description": "`next` of the page before",
                    "schema": {
                      "type": "string"
                    }
                  },
                  {
                    "name": "limit",
                    "in": "query",
                    "description": "The maximum number of attempts",
                    "schema": {
                      "type": "integer",
                      "minimum": 1,
                      "maximum": 1000,
                      "default": 100
                    }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "The newest first",
                    "headers": {
                      "X-Request-Id": {
                        "$ref": "#/components/headers/requestId"
                      }
                    },
                    "content": {
                      "application/json": {
                        "schema": {
                          "$ref": "#/components/schemas/WebhookAttempts"
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/problem"
                  },
                  "401": {
                    "$ref": "#/components/responses/unauthorised"
                  },
                  "403": {
                    "$ref": "#/components/responses/problem"
                  },
                  "404": {
                    "$ref": "#/components/responses/problem"
                  },
                  "503": {
                    "$ref": "#/components/responses/tryAgain"
                  }
                }
              }
            },
            "/v1/apps/{app}/webhooks/{webhook}/replay": {
              "post": {
                "tags": [
                  "events"
                ],
                "operationId": "replayWebhook",
                "summary": "Send stored events again",
                "description": "Each keeps its id. At most 10,000 are queued by one request; send `next` as `after` for the rest.",
                "security": [
                  {
                    "key": [
                      "admin"
                    ]
                  }
                ],
                "parameters": [
                  {
                    "$ref": "#/components/parameters/app"
                  },
                  {
                    "name": "webhook",
                    "in": "path",
                    "required": true,
                    "description": "The webhook's id",
                    "schema": {
                      "type": "string"
                    }
                  }
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": {
                      "schema": {
                        "$ref": "#/components/schemas/WebhookReplay"
                      }
                    }
                  }
                },
                "responses": {
                  "202": {
                    "description": "The number of queued events",
                    "headers": {
                      "X-Request-Id": {
                        "$ref": "#/components/headers/requestId"
                      }
                    },
                    "content": {
                      "application/json": {
                        "schema": {
                          "$ref": "#/components/schemas/WebhookReplayed"
                        }
                      }
                    }
                  },
                  "400": {
                    "$ref": "#/components/responses/problem"
                  },
                  "401": {
                    "$ref": "#/components/responses/unauthorised"
                  },
                  "403": {
                    "$ref": "#/components/responses/problem"
                  },
                  "404": {
                    "$ref": "#/components/responses/problem"
                  },
                  "413": {
                    "$ref": "#/components/responses/problem"
                  },
                  "503": {
                    "$ref": "#/components/responses/tryAgain"
                  }
                }
              }
            },
            "/v1/apps/{app}/replay": {
              "get": {
                "tags": ["backfill"],
                "operationId": "getReplay",
                "summary": "The progress of the latest replay",
                "description": "The current run, or the last one since the server's start, and its findings.",
                "security": [{ "key": ["admin"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" }
                ],
                "responses": {
                  "200": {
                    "description": "The last run, if there was one",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Replay" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" }
                }
              },
              "post": {
                "tags": ["backfill"],
                "operationId": "postReplay",
                "summary": "Read all stored evidence again",
                "description": "It applies the rules of this version. It begins within about a second and continues after the response and after a restart. Facts are only added.",
                "security": [{ "key": ["admin"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "apply", "in": "query",
                    "description": "Whether to add new facts instead of only reporting them",
                    "schema": { "type": "boolean", "default": false }
                  }
                ],
                "responses": {
                  "202": {
                    "description": "It will begin, or is running",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Replay" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" }
                }
              }
            },
            "/v1/backup": {
              "get": {
                "tags": ["watching"],
                "operationId": "getBackup",
                "summary": "Get the progress of the latest backup",
                "description": "The latest copy of the database since the server started. `tideover backup` checks the file and moves it.",
                "security": [{ "key": ["admin"] }],
                "responses": {
                  "200": {
                    "description": "The latest copy, if there was one",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Backup" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "501": { "$ref": "#/components/responses/problem" }
                }
              },
              "post": {
                "tags": ["watching"],
                "operationId": "postBackup",
                "summary": "Begin a backup",
                "description": "Copies the database into a new file beside it, a few pages between two transactions. One copy is made at a time.",
                "security": [{ "key": ["admin"] }],
                "responses": {
                  "202": {
                    "description": "The copy has begun",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Backup" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" },
                  "501": { "$ref": "#/components/responses/problem" }
                }
              }
            },
            "/v1/apps/{app}/arrivals": {
              "get": {
                "tags": ["watching"],
                "operationId": "getArrivals",
                "summary": "When notifications of a store arrived last",
                "description": "All accepted notifications count, including repeated ones; also the latest test notifications since the server's start. Google Play has one topic for an app, so its notifications count in every environment.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" },
                  { "$ref": "#/components/parameters/store" }
                ],
                "responses": {
                  "200": {
                    "description": "What has arrived, and whether anything is overdue",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Arrivals" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" }
                }
              }
            },
            "/v1/apps/{app}/configuration": {
              "get": {
                "tags": ["watching"],
                "operationId": "getConfiguration",
                "summary": "The effective configuration with the source of each value",
                "description": "The settings of the app and what `tideover doctor` finds about them, as far as it needs neither the machine nor a store. With an admin key also those of the server. Secrets are shown as the names of their files.",
                "security": [{ "key": ["secret"] }],
                "parameters": [{ "$ref": "#/components/parameters/app" }],
                "responses": {
                  "200": {
                    "description": "Both lists are empty for a server without a configuration file",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/ShownConfiguration" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/survey": {
              "get": {
                "tags": ["reports"],
                "operationId": "getSurvey",
                "summary": "The catalogue as a store's data shows it",
                "description": "Which products were bought, and with which grace payments failed. All facts are read, page by page, so the time grows with their number.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" },
                  { "$ref": "#/components/parameters/store" }
                ],
                "responses": {
                  "200": {
                    "description": "Counts by product",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Survey" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reports/arrival": {
              "get": {
                "tags": ["reports"],
                "operationId": "getArrivalReport",
                "summary": "How changes reached us, and how late",
                "description": "A row for each environment of each app that the key allows. All facts are read, page by page, so the time grows with their number.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  {
                    "name": "app", "in": "query",
                    "description": "One app instead of all that the key allows",
                    "schema": { "type": "string" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "Shares with their denominators, and delays",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/ArrivalReport" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reports/drift": {
              "get": {
                "tags": ["reports"],
                "operationId": "getDriftReport",
                "summary": "Where devices and we differed, why, and how long it took to heal",
                "description": "A row for each environment of each app that the key allows.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  {
                    "name": "app", "in": "query",
                    "description": "One app instead of all that the key allows",
                    "schema": { "type": "string" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "Differences by direction and cause",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/DriftReport" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reports/recovery": {
              "get": {
                "tags": ["reports"],
                "operationId": "getRecoveryReport",
                "summary": "How many failed renewals recovered, how soon, and their value",
                "description": "Counts failed renewals (billing issues) that began in the range. An issue too young for a number of days is left out of the decided ones, and counts in the estimate (Kaplan-Meier) for as long as it was observed. Sums are in thousandths of the currency.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  {
                    "name": "app", "in": "query",
                    "description": "One app instead of all that the key allows",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "by", "in": "query",
                    "description": "Dimensions of the groups, separated by commas: product, store, country",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "from", "in": "query",
                    "description": "Issues that began at or after this time, instead of all",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  },
                  {
                    "name": "to", "in": "query",
                    "description": "Up to this time, instead of now",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A row for each environment of each app, with a group for each combination of values",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/RecoveryReport" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reports/churn": {
              "get": {
                "tags": ["reports"],
                "operationId": "getChurnReport",
                "summary": "How many subscribers at the start of a range were not subscribed at its end, and why",
                "description": "Counts own paid subscriptions; trials and family-shared purchases are left out. Paused, in grace and on hold are subscribed.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  {
                    "name": "app", "in": "query",
                    "description": "One app instead of all that the key allows",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "by", "in": "query",
                    "description": "Dimensions of the groups, separated by commas: product, store, country",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "from", "in": "query",
                    "description": "The start of the range, instead of 30 days before its end",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  },
                  {
                    "name": "to", "in": "query",
                    "description": "Up to this time, instead of now",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A row for each environment of each app, with a group for each combination of values",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/ChurnReport" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reports/trials": {
              "get": {
                "tags": ["reports"],
                "operationId": "getTrialReport",
                "summary": "The outcomes of free trials, by the month in which they began",
                "description": "The conversion rate is that of decided trials: one that runs, or with a first payment that is still retried, may yet convert.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  {
                    "name": "app", "in": "query",
                    "description": "One app instead of all that the key allows",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "by", "in": "query",
                    "description": "Dimensions of the groups, separated by commas: product, store, country",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "to", "in": "query",
                    "description": "Up to this time, instead of now",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A row for each environment of each app, with a group for each combination of values",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/TrialReport" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reports/experiments": {
              "get": {
                "tags": ["reports"],
                "operationId": "getExperimentReport",
                "summary": "The recovery of failed payments by arm of each experiment",
                "description": "Each difference is that from the first arm, with an interval that holds at every look at once.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  {
                    "name": "app", "in": "query",
                    "description": "One app instead of all that the key allows",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "to", "in": "query",
                    "description": "Up to this time, instead of now",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A row for each environment of each app, with its experiments",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": {
                        "schema": { "$ref": "#/components/schemas/ExperimentReport" }
                      }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reports/deadlines": {
              "get": {
                "tags": ["reports"],
                "operationId": "getDeadlineReport",
                "summary": "What must happen by when",
                "description": "Ends of grace and hold, acknowledgements that Google Play waits for, requests for consumption information of the App Store, the end of the App Store's history of notifications, and the ends of certificates; soonest first. All facts are read, page by page, so the time grows with their number.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  {
                    "name": "app", "in": "query",
                    "description": "One app instead of all that the key allows",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "kind", "in": "query",
                    "description": "One kind instead of all",
                    "schema": {
                      "type": "string",
                      "enum": [
                        "graceEnd", "holdEnd", "acknowledgement", "consumption",
                        "notificationHistory", "rootCertificate", "signingCertificate",
                        "revocationAnswer"
                      ]
                    }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A row for each environment of each app",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/DeadlineReport" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reports/portfolio": {
              "get": {
                "tags": ["reports"],
                "operationId": "getPortfolioReport",
                "summary": "Subscriptions by state, their revenue, and the money of failed renewals",
                "description": "Counts the customers' own renewing subscriptions. Sums are in thousandths of the currency. `money` is that of the recovery report in the same range. All facts are read, page by page, so the time grows with their number.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  {
                    "name": "app", "in": "query",
                    "description": "One app instead of all that the key allows",
                    "schema": { "type": "string" }
                  },
                  {
                    "name": "from", "in": "query",
                    "description": "The start of the range, instead of 30 days before its end",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  },
                  {
                    "name": "to", "in": "query",
                    "description": "Up to this time, instead of now",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  },
                  {
                    "name": "each", "in": "query",
                    "description": "Also count at the start of the range and of each of these in it (UTC, weeks from Monday), at most 400",
                    "schema": { "type": "string", "enum": ["day", "week", "month"] }
                  },
                  {
                    "name": "currency", "in": "query",
                    "description": "Also express sums in this currency, with `rates`",
                    "schema": { "type": "string", "pattern": "^[A-Z]{3}$" }
                  },
                  {
                    "name": "rates", "in": "query",
                    "description": "What one unit of each other currency is worth: `USD:0.92,JPY:0.0061`, with up to six decimals",
                    "schema": { "type": "string" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "A row for each environment of each app, and the total of each environment",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/PortfolioReport" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/apps/{app}/policy/try": {
              "post": {
                "tags": ["reports"],
                "operationId": "tryPolicy",
                "summary": "Try another policy on the stored past",
                "description": "Decides the same facts under the policy of the body and under the one in effect, over a range of time, and compares both with what the stores, as known now, confirm. Nothing is changed. All facts are read, page by page, so the time grows with their number.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  { "$ref": "#/components/parameters/app" },
                  { "$ref": "#/components/parameters/environment" },
                  {
                    "name": "from", "in": "query",
                    "description": "From this time; without it, 90 days before the end",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  },
                  {
                    "name": "to", "in": "query",
                    "description": "Up to this time, instead of now",
                    "schema": { "$ref": "#/components/schemas/Instant" }
                  },
                  {
                    "name": "knowledge", "in": "query",
                    "description": "`then`: with the messages received by each instant, as customers were answered. `now`: with all messages received so far.",
                    "schema": { "type": "string", "enum": ["then", "now"], "default": "then" }
                  }
                ],
                "requestBody": {
                  "required": true,
                  "description": "A policy in the form of `policy` of an app in the configuration, as JSON5",
                  "content": { "application/json": { "schema": { "type": "object" } } }
                },
                "responses": {
                  "200": {
                    "description": "The totals of both policies for each entitlement, and where access would have differed",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/PolicyTrial" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reports/lockouts": {
              "get": {
                "tags": ["reports"],
                "operationId": "getLockoutReport",
                "summary": "How long customers were denied access that the store granted",
                "description": "A row for each environment of each app that the key allows. All facts are read, page by page, so the time grows with their number.",
                "security": [{ "key": ["secret"] }],
                "parameters": [
                  {
                    "name": "app", "in": "query",
                    "description": "One app instead of all that the key allows",
                    "schema": { "type": "string" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "Minutes by judge, cause and policy, with their denominator",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/LockoutReport" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/reload": {
              "post": {
                "tags": ["operator"],
                "operationId": "reloadConfiguration",
                "summary": "Reload the configuration",
                "description": "It takes effect as a whole or not at all. What `needRestart` names takes effect at the next start.",
                "security": [{ "key": ["admin"] }],
                "responses": {
                  "200": {
                    "description": "The configuration is in effect",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": {
                        "schema": {
                          "type": "object",
                          "required": ["needRestart", "notices"],
                          "properties": {
                            "needRestart": { "type": "array", "items": { "type": "string" } },
                            "notices": { "type": "array", "items": { "type": "string" } }
                          }
                        }
                      }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "409": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "422": { "$ref": "#/components/responses/problem" }
                }
              }
            },
            "/v1/keys": {
              "get": {
                "tags": ["keys"],
                "operationId": "listKeys",
                "summary": "All keys, including revoked ones",
                "description": "Only digests of the keys are stored.",
                "security": [{ "key": ["admin"] }],
                "responses": {
                  "200": {
                    "description": "In the order they were made",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Keys" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" }
                }
              },
              "post": {
                "tags": ["keys"],
                "operationId": "addKey",
                "summary": "Make a key",
                "security": [{ "key": ["admin"] }],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/KeyWish" } }
                  }
                },
                "responses": {
                  "201": {
                    "description": "It is valid from now on. `key` is shown only here",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/NewKey" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "413": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/v1/keys/{id}": {
              "delete": {
                "tags": ["keys"],
                "operationId": "revokeKey",
                "summary": "Revoke a key, for ever",
                "description": "Revoking it again has no effect.",
                "security": [{ "key": ["admin"] }],
                "parameters": [{ "$ref": "#/components/parameters/keyId" }],
                "responses": {
                  "200": {
                    "description": "It is no longer valid",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Key" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "401": { "$ref": "#/components/responses/unauthorised" },
                  "403": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/problems/{problem}": {
              "get": {
                "tags": ["watching"],
                "operationId": "getProblemType",
                "summary": "The meaning and the remedy of a problem",
                "description": "The URL in a problem's `type`. The response is the same for all problems of the type.",
                "security": [],
                "parameters": [
                  {
                    "name": "problem",
                    "in": "path",
                    "required": true,
                    "description": "The last segment of a problem's `type`",
                    "schema": { "type": "string" }
                  }
                ],
                "responses": {
                  "200": {
                    "description": "The description",
                    "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/ProblemType" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "404": { "$ref": "#/components/responses/problem" }
                }
              }
            },
            "/healthz": {
              "get": {
                "tags": ["watching"],
                "operationId": "getHealth",
                "summary": "Whether the process runs",
                "security": [],
                "responses": {
                  "200": {
                    "description": "It does",
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Health" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" }
                }
              }
            },
            "/readyz": {
              "get": {
                "tags": ["watching"],
                "operationId": "getReadiness",
                "summary": "Whether the storage can be read and written",
                "security": [],
                "description": "Checked at most once a second. After a stop signal the response is 503. Workers that fail or are stuck are listed; they do not change the status.",
                "responses": {
                  "200": {
                    "description": "It can",
                    "content": {
                      "application/json": { "schema": { "$ref": "#/components/schemas/Readiness" } }
                    }
                  },
                  "400": { "$ref": "#/components/responses/problem" },
                  "503": { "$ref": "#/components/responses/tryAgain" }
                }
              }
            },
            "/metrics": {
              "get": {
                "tags": ["watching"],
                "operationId": "getMetrics",
                "summary": "Metrics in the text format 0.0.4 of Prometheus",
                "security": [],
                "responses": {
                  "200": {
                    "description": "Every family that has a series",
                    "content": { "text/plain": { "schema": { "type": "string" } } }
                  },
                  "400": { "$ref": "#/components/responses/problem" }
                }
              }
            },
            "/openapi.json": {
              "get": {
                "tags": ["watching"],
                "operationId": "getOpenAPI",
                "summary": "This document",
                "security": [],
                "responses": {
                  "200": {
                    "description": "OpenAPI 3.1",
                    "headers": { "ETag": { "$ref": "#/components/headers/etag" } },
                    "content": { "application/json": { "schema": { "type": "object" } } }
                  },
                  "304": { "description": "The client's copy is current" },
                  "400": { "$ref": "#/components/responses/problem" }
                }
              }
            }
          },
          "components": {
            "securitySchemes": {
              "key": {
                "type": "http",
                "scheme": "bearer",
                "description": "A key that `tideover keys add` created. The role of an operation is the least kind that it accepts, of `public` (in an app on a device), `secret` (an app's back end) and `admin` (the operator); a key can be bound to apps. An app that serves only the environment `simulated` is read without a key too."
              }
            },
            "parameters": {
              "app": {
                "name": "app",
                "in": "path",
                "required": true,
                "description": "An app's id, as configured",
                "schema": { "type": "string" }
              },
              "customer": {
                "name": "customer",
                "in": "path",
                "required": true,
                "description": "The UUID that the app gives the App Store as `appAccountToken`, in any case",
                "schema": { "type": "string" }
              },
              "environment": {
                "name": "environment",
                "in": "query",
                "description": "Environments are never mixed; the app must be served in the one asked about. Where policy lets the sandbox answer for production, the whole answer is of the sandbox, and says so",
                "schema": {
                  "type": "string",
                  "enum": ["production", "sandbox", "simulated"],
                  "default": "production"
                }
              },
              "store": {
                "name": "store",
                "in": "query",
                "description": "Without it the App Store, if the app sells there",
                "schema": { "type": "string", "enum": ["appStore", "googlePlay"] }
              },
              "keyId": {
                "name": "id",
                "in": "path",
                "required": true,
                "description": "The id of the key, not the key itself",
                "schema": { "type": "string" }
              },
              "ifNoneMatch": {
                "name": "If-None-Match",
                "in": "header",
                "description": "The `ETag` of the answer that the client holds",
                "schema": { "type": "string" }
              },
              "acceptLanguage": {
                "name": "Accept-Language",
                "in": "header",
                "description": "The languages of the texts for the customer, as RFC 9110 writes them; English if none is known",
                "schema": { "type": "string" }
              },
              "deviceStore": {
                "name": "store", "in": "query",
                "description": "The store of the device: `trialOffer` is then of its products. Without it, that of the customer's purchases.",
                "schema": { "type": "string", "enum": ["appStore", "googlePlay"] }
              }
            },
            "headers": {
              "language": {
                "description": "The language of the texts; absent for the built-in English",
                "schema": { "type": "string" }
              },
              "etag": {
                "description": "Changes when the answer does",
                "schema": { "type": "string" }
              },
              "requestId": {
                "description": "The id of this request in the log",
                "schema": { "type": "string" }
              },
              "challenge": {
                "description": "Always `Bearer`",
                "schema": { "type": "string" }
              },
              "retryAfter": {
                "description": "Seconds to wait before the next attempt",
                "schema": { "type": "integer" }
              }
            },
            "responses": {
              "problem": {
                "description": "Rejected; `type` is the reason",
                "headers": { "X-Request-Id": { "$ref": "#/components/headers/requestId" } },
                "content": {
                  "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } }
                }
              },
              "unauthorised": {
                "description": "The key is missing or invalid",
                "headers": {
                  "WWW-Authenticate": { "$ref": "#/components/headers/challenge" },
                  "X-Request-Id": { "$ref": "#/components/headers/requestId" }
                },
                "content": {
                  "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } }
                }
              },
              "tryAgain": {
                "description": "A fault of the server or a temporary one: try again later",
                "headers": {
                  "Retry-After": { "$ref": "#/components/headers/retryAfter" },
                  "X-Request-Id": { "$ref": "#/components/headers/requestId" }
                },
                "content": {
                  "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } }
                }
              }
            },
            "schemas": {
              "Webhook": {
                "type": "object",
                "required": [
                  "id",
                  "url",
                  "events",
                  "format",
                  "configured",
                  "disabled",
                  "disabledAt",
                  "failingSince",
                  "waiting"
                ],
                "properties": {
                  "id": {
                    "type": "string"
                  },
                  "url": {
                    "type": "string",
                    "description": "Without the path, which can be secret"
                  },
                  "events": {
                    "type": "array",
                    "items": {
                      "type": "string"
                    },
                    "description": "`*`, kinds, or the beginning of kinds and `*`"
                  },
                  "format": {
                    "type": "string",
                    "enum": [
                      "tideover",
                      "revenuecat"
                    ],
                    "description": "The form of the messages"
                  },
                  "configured": {
                    "type": "boolean",
                    "description": "Whether it is in the configuration"
                  },
                  "disabled": {
                    "type": [
                      "string",
                      "null"
                    ],
                    "description": "`operator`, `gone` after a response 410, or `failing` after five days"
                  },
                  "disabledAt": {
                    "oneOf": [
                      {
                        "$ref": "#/components/schemas/Instant"
                      },
                      {
                        "type": "null"
                      }
                    ]
                  },
                  "failingSince": {
                    "oneOf": [
                      {
                        "$ref": "#/components/schemas/Instant"
                      },
                      {
                        "type": "null"
                      }
                    ]
                  },
                  "waiting": {
                    "type": "integer",
                    "description": "Deliveries that wait for another attempt"
                  }
                }
              },
              "AddedWebhook": {
                "type": "object",
                "required": [
                  "id",
                  "url",
                  "events",
                  "format",
                  "configured",
                  "disabled",
                  "disabledAt",
                  "failingSince",
                  "waiting",
                  "secret"
                ],
                "properties": {
                  "id": {
                    "type": "string"
                  },
                  "url": {
                    "type": "string",
                    "description": "Without the path, which can be secret"
                  },
                  "events": {
                    "type": "array",
                    "items": {
                      "type": "string"
                    },
                    "description": "`*`, kinds, or the beginning of kinds and `*`"
                  },
                  "format": {
                    "type": "string",
                    "enum": [
                      "tideover",
                      "revenuecat"
                    ],
                    "description": "The form of the messages"
                  },
                  "configured": {
                    "type": "boolean",
                    "description": "Whether it is in the configuration"
                  },
                  "disabled": {
                    "type": [
                      "string",
                      "null"
                    ],
                    "description": "`operator`, `gone` after a response 410, or `failing` after five days"
                  },
                  "disabledAt": {
                    "oneOf": [
                      {
                        "$ref": "#/components/schemas/Instant"
                      },
                      {
                        "type": "null"
                      }
                    ]
                  },
                  "failingSince": {
                    "oneOf": [
                      {
                        "$ref": "#/components/schemas/Instant"
                      },
                      {
                        "type": "null"
                      }
                    ]
                  },
                  "waiting": {
                    "type": "integer",
                    "description": "Deliveries that wait for another attempt"
                  },
                  "secret": {
                    "type": "string",
                    "description": "`whsec_`, for signatures `v1`"
                  }
                }
              },
              "Webhooks": {
                "type": "object",
                "required": [
                  "webhooks"
                ],
                "properties": {
                  "webhooks": {
                    "type": "array",
                    "items": {
                      "$ref": "#/components/schemas/Webhook"
                    }
                  }
                }
              },
              "WebhookWish": {
                "type": "object",
                "required": [
                  "url"
                ],
                "properties": {
                  "url": {
                    "type": "string"
                  },
                  "events": {
                    "type": "array",
                    "items": {
                      "type": "string"
                    },
                    "description": "`*`, kinds, or the beginning of kinds and `*`"
                  },
                  "format": {
                    "type": "string",
                    "enum": [
                      "tideover",
                      "revenuecat"
                    ],
                    "description": "The form of the messages; `tideover` if absent"
                  },
                  "authorization": {
                    "type": "string",
                    "maxLength": 1000,
                    "description": "The value of the `Authorization` header of each message"
                  }
                },
                "additionalProperties": false
              },
              "WebhookTest": {
                "type": "object",
                "required": [
                  "id",
                  "delivered",
                  "status",
                  "detail"
                ],
                "properties": {
                  "id": {
                    "type": "string"
                  },
                  "delivered": {
                    "type": "boolean"
                  },
                  "status": {
                    "type": [
                      "integer",
                      "null"
                    ]
                  },
                  "detail": {
                    "type": [
                      "string",
                      "null"
                    ],
                    "description": "Why there was no response"
                  }
                }
              },
              "WebhookAttempts": {
                "type": "object",
                "required": [
                  "attempts",
                  "next"
                ],
                "properties": {
                  "attempts": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": [
                        "event",
                        "at",
                        "attempt",
                        "outcome",
                        "status",
                        "detail"
                      ],
                      "properties": {
                        "event": {
                          "type": "string"
                        },
                        "at": {
                          "$ref": "#/components/schemas/Instant"
                        },
                        "attempt": {
                          "type": "integer"
                        },
                        "outcome": {
                          "type": "string",
                          "enum": [
                            "delivered",
                            "failed",
                            "gone",
                            "abandoned"
                          ]
                        },
                        "status": {
                          "type": [
                            "integer",
                            "null"
                          ]
                        },
                        "detail": {
                          "type": [
                            "string",
                            "null"
                          ]
                        }
                      }
                    }
                  },
                  "next": {
                    "type": [
                      "string",
                      "null"
                    ]
                  }
                }
              },
              "WebhookReplay": {
                "type": "object",
                "properties": {
                  "event": {
                    "type": "string"
                  },
                  "from": {
                    "$ref": "#/components/schemas/Instant"
                  },
                  "to": {
                    "$ref": "#/components/schemas/Instant"
                  },
                  "after": {
                    "type": "string"
                  }
                },
                "additionalProperties": false
              },
              "WebhookReplayed": {
                "type": "object",
                "required": [
                  "queued",
                  "next"
                ],
                "properties": {
                  "queued": {
                    "type": "integer"
                  },
                  "next": {
                    "type": [
                      "string",
                      "null"
                    ]
                  }
                }
              },
              "Snapshot": {
                "type": "object",
                "required": [
                  "app", "customer", "environment", "asOf", "customerVersion", "entitlements", "prompt"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "asKnownAt": {
                    "description": "Only of a replica's answer: what was stored later may be missing in it",
                    "$ref": "#/components/schemas/Instant"
                  },
                  "customerVersion": {
                    "type": "integer",
                    "description": "Rises by one whenever the answer changes; 0 for an unknown customer"
                  },
                  "entitlements": {
                    "type": "object",
                    "description": "By name, every entitlement of the app's catalogue",
                    "additionalProperties": { "$ref": "#/components/schemas/Entitlement" }
                  },
                  "prompt": { "$ref": "#/components/schemas/Prompt" },
                  "plan": {
                    "type": "array",
                    "description": "The planned messages, earliest first; absent if there is none",
                    "items": { "$ref": "#/components/schemas/PlannedMessage" }
                  },
                  "pass": {
                    "type": "string",
                    "description": "A JWS in compact form, signed with Ed25519 (`alg` `EdDSA`, `typ` `tideover-pass`), that a device may trust offline until its `notAfter`; its payload is a PassClaims. Absent where no passes are issued"
                  }
                }
              },
              "PassClaims": {
                "type": "object",
                "description": "Valid until `notAfter`, each entitlement until its own; past `accessUntil` access is presumed. A device takes the later of its clock and the newest verified date for the time, and believes no pass for another app, environment or customer, and none older than the one it holds",
                "required": [
                  "iss", "aud", "sub", "environment", "issued", "notAfter", "version", "entitlements"
                ],
                "properties": {
                  "iss": { "type": "string", "description": "`pass.issuer` of the configuration" },
                  "aud": { "type": "string", "description": "The app" },
                  "sub": { "type": "string", "description": "The customer" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "issued": { "$ref": "#/components/schemas/Instant" },
                  "notAfter": { "$ref": "#/components/schemas/Instant" },
                  "version": { "type": "integer", "description": "The `customerVersion` of the answer" },
                  "entitlements": {
                    "type": "object",
                    "description": "By name; what is not known is left out",
                    "additionalProperties": { "$ref": "#/components/schemas/PassEntitlement" }
                  }
                }
              },
              "PassEntitlement": {
                "type": "object",
                "required": ["state", "reason", "access", "confidence", "notAfter"],
                "properties": {
                  "state": { "type": "string", "enum": ["active", "grace", "hold", "expired", "never"] },
                  "reason": { "type": "string" },
                  "access": { "type": "boolean" },
                  "confidence": { "type": "string", "enum": ["confirmed", "presumed", "unknown"] },
                  "productId": { "type": "string" },
                  "accessUntil": { "$ref": "#/components/schemas/Instant" },
                  "graceUntil": { "$ref": "#/components/schemas/Instant" },
                  "willRenew": { "type": "boolean" },
                  "nextChange": { "$ref": "#/components/schemas/Instant" },
                  "notAfter": { "$ref": "#/components/schemas/Instant" }
                }
              },
              "Backup": {
                "type": "object",
                "required": ["copy"],
                "properties": {
                  "copy": {
                    "oneOf": [
                      { "type": "null" },
                      {
                        "type": "object",
                        "required": ["state", "file", "bytes", "bytesInAll"],
                        "properties": {
                          "state": { "type": "string", "enum": ["copying", "copied", "failed"] },
                          "problem": { "type": "string", "description": "Why it failed" },
                          "file": {
                            "type": "string",
                            "description": "The copy, beside the database; unchecked"
                          },
                          "bytes": { "type": "integer", "minimum": 0 },
                          "bytesInAll": { "type": "integer", "minimum": 0 }
                        }
                      }
                    ]
                  }
                }
              },
              "PromptReport": {
                "type": "object",
                "required": ["id", "kind"],
                "properties": {
                  "id": {
                    "type": "string", "minLength": 1, "maxLength": 100,
                    "description": "That of the planned message, or chosen by the sender, such as a UUID; the same in every report of one prompt"
                  },
                  "kind": {
                    "type": "string", "enum": ["soft", "hard", "message", "store"],
                    "description": "That of the prompt, `message` for a planned message, `store` for a message of the store"
                  },
                  "shownAt": { "$ref": "#/components/schemas/Instant" },
                  "response": {
                    "type": "string", "enum": ["opened", "dismissed"],
                    "description": "What the customer did with it, where that is known"
                  }
                }
              },
              "ShownPrompt": {
                "type": "object",
                "required": ["id", "kind", "shownAt"],
                "properties": {
                  "id": { "type": "string" },
                  "kind": { "type": "string", "enum": ["soft", "hard", "message", "store"] },
                  "shownAt": { "$ref": "#/components/schemas/Instant" },
                  "response": { "type": "string", "enum": ["opened", "dismissed"] }
                }
              },
              "Erased": {
                "type": "object",
                "required": ["app", "customer", "environments", "erased", "kept"],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environments": {
                    "type": "array",
                    "items": { "type": "string", "enum": ["production", "sandbox", "simulated"] }
                  },
                  "erased": {
                    "type": "object",
                    "required": [
                      "purchases", "facts", "evidence", "events", "drift", "prompts",
                      "attributes", "audit"
                    ],
                    "properties": {
                      "purchases": { "type": "integer", "minimum": 0 },
                      "facts": { "type": "integer", "minimum": 0 },
                      "evidence": { "type": "integer", "minimum": 0 },
                      "events": { "type": "integer", "minimum": 0 },
                      "drift": { "type": "integer", "minimum": 0 },
                      "prompts": { "type": "integer", "minimum": 0 },
                      "attributes": { "type": "integer", "minimum": 0 },
                      "audit": { "type": "integer", "minimum": 0 }
                    }
                  },
                  "kept": {
                    "type": "object",
                    "required": ["purchases"],
                    "properties": {
                      "purchases": {
                        "type": "integer", "minimum": 0,
                        "description": "Purchases that another customer owned too"
                      }
                    }
                  }
                }
              },
              "PassKeys": {
                "type": "object",
                "required": ["keys"],
                "properties": {
                  "keys": { "type": "array", "items": { "$ref": "#/components/schemas/PassKey" } }
                }
              },
              "PassKey": {
                "type": "object",
                "required": ["kty", "crv", "x", "kid", "use", "alg"],
                "properties": {
                  "kty": { "type": "string", "enum": ["OKP"] },
                  "crv": { "type": "string", "enum": ["Ed25519"] },
                  "x": { "type": "string", "description": "The key's 32 bytes in base64url" },
                  "kid": { "type": "string", "description": "The key's thumbprint (RFC 7638), as headers of passes name it" },
                  "use": { "type": "string", "enum": ["sig"] },
                  "alg": { "type": "string", "enum": ["EdDSA"] }
                }
              },
              "GrantWish": {
                "type": "object",
                "description": "Of `entitlement` and `product` at least one, of `days` and `until` exactly one",
                "required": ["why"],
                "properties": {
                  "entitlement": { "type": "string" },
                  "product": {
                    "type": "string",
                    "description": "Without entitlements: everything that the product unlocks now"
                  },
                  "days": { "type": "integer", "minimum": 1, "maximum": 3660 },
                  "until": { "$ref": "#/components/schemas/Instant" },
                  "why": {
                    "type": "string", "minLength": 1, "maxLength": 500,
                    "description": "In one line; support reads it in every explanation"
                  }
                }
              },
              "Refresh": {
                "type": "object",
                "required": ["app", "customer", "environment", "asked", "more"],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "asked": {
                    "type": "array",
                    "description": "Empty where the customer owns nothing that a store answers about",
                    "items": {
                      "type": "object",
                      "required": ["store", "purchase", "outcome", "sentence"],
                      "properties": {
                        "store": { "type": "string", "enum": ["appStore", "googlePlay"] },
                        "purchase": {
                          "type": "string",
                          "description": "The key of the purchase, as `lineage` of an explanation's `purchases`"
                        },
                        "outcome": {
                          "type": "string",
                          "description": "`answered`: the store answered. `askedRecently`: it answered a short time ago and was not asked again. `failed`: it did not answer; the server asks again. `busy`: the requests it permits are used up; the server asks later. `nothingToAsk`: no question applies to the purchase. `notConfigured`: the configuration has no credentials for the store.",
                          "enum": [
                            "answered", "askedRecently", "failed", "busy", "nothingToAsk",
                            "notConfigured"
                          ]
                        },
                        "sentence": { "type": "string", "description": "The outcome in words" }
                      }
                    }
                  },
                  "more": {
                    "type": "boolean",
                    "description": "Whether the customer owns more purchases than one request asks about"
                  }
                }
              },
              "Grants": {
                "type": "object",
                "required": ["app", "customer", "environment", "customerKnown", "grants"],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "customerKnown": {
                    "type": "boolean",
                    "description": "False where nothing is stored of the customer but what this request granted: the id may be mistyped"
                  },
                  "grants": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": [
                        "id", "customer", "entitlement", "start", "end", "why", "by", "grantedAt",
                        "revoked"
                      ],
                      "properties": {
                        "id": { "type": "string" },
                        "customer": { "type": "string" },
                        "entitlement": { "type": "string" },
                        "start": { "$ref": "#/components/schemas/Instant" },
                        "end": { "type": ["string", "null"] },
                        "why": { "type": "string" },
                        "by": {
                          "type": ["string", "null"],
                          "description": "The name of the key it was given with, else the key's id"
                        },
                        "grantedAt": { "$ref": "#/components/schemas/Instant" },
                        "revoked": {
                          "oneOf": [
                            {
                              "type": "object",
                              "required": ["at", "why", "by"],
                              "properties": {
                                "at": { "$ref": "#/components/schemas/Instant" },
                                "why": { "type": ["string", "null"] },
                                "by": { "type": ["string", "null"] }
                              }
                            },
                            { "type": "null" }
                          ]
                        }
                      }
                    }
                  }
                }
              },
              "Lookup": {
                "type": "object",
                "required": ["app", "question", "asked", "purchases"],
                "properties": {
                  "app": { "type": "string" },
                  "question": {
                    "type": "object",
                    "description": "What was looked up",
                    "additionalProperties": { "type": "string" }
                  },
                  "asked": {
                    "type": "array",
                    "description": "The stores to query about an unknown order; empty for a known purchase, and if no order was named",
                    "items": { "$ref": "#/components/schemas/AskedStore" }
                  },
                  "purchases": {
                    "type": "array", "items": { "$ref": "#/components/schemas/FoundPurchase" }
                  }
                }
              },
              "AskedStore": {
                "type": "object",
                "required": ["store", "environment", "outcome"],
                "properties": {
                  "store": { "type": "string", "enum": ["appStore", "googlePlay"] },
                  "environment": { "type": ["string", "null"] },
                  "outcome": {
                    "type": "string",
                    "description": "Only `noSuchOrder` states that the order does not exist. If a store did not answer, the response is the problem `store-did-not-answer`",
                    "enum": ["found", "noSuchOrder", "notReadable", "noOrdersThere", "notConfigured"]
                  }
                }
              },
              "Customers": {
                "type": "object",
                "required": ["app", "environment", "customers", "next", "more"],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "customers": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": ["id", "customer", "derivedAt"],
                      "properties": {
                        "id": { "type": "string" },
                        "customer": {
                          "type": "string",
                          "description": "The customer of the id: another id for an alias"
                        },
                        "derivedAt": {
                          "type": ["string", "null"],
                          "description": "When the answer was last derived; null for an alias"
                        }
                      }
                    }
                  },
                  "next": { "type": ["string", "null"], "description": "Send it as `after` to continue" },
                  "more": { "type": "boolean" }
                }
              },
              "Unclaimed": {
                "type": "object",
                "required": ["app", "environment", "purchases", "next", "more"],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "purchases": {
                    "type": "array", "items": { "$ref": "#/components/schemas/FoundPurchase" }
                  },
                  "next": { "type": ["string", "null"], "description": "Send it as `after` to continue" },
                  "more": { "type": "boolean" }
                }
              },
              "FoundPurchase": {
                "type": "object",
                "required": [
                  "environment", "store", "lineage", "ownership", "customer", "owners", "reply", "claim"
                ],
                "properties": {
                  "environment": {
                    "type": "string", "enum": ["production", "sandbox", "simulated"]
                  },
                  "store": { "type": "string" },
                  "lineage": { "type": "string" },
                  "ownership": { "type": "string", "enum": ["purchased", "familyShared"] },
                  "productId": { "type": ["string", "null"] },
                  "purchasedAt": { "type": ["string", "null"] },
                  "transactionId": {
                    "type": ["string", "null"],
                    "description": "The App Store's id of its newest transaction"
                  },
                  "orderId": {
                    "type": ["string", "null"],
                    "description": "Google Play's id of its newest order"
                  },
                  "price": {
                    "type": ["string", "null"],
                    "description": "What its newest period costs, such as `9.99 USD`, where known"
                  },
                  "customer": {
                    "type": ["string", "null"],
                    "description": "Its customer; null if it is unclaimed"
                  },
                  "owners": {
                    "type": "array", "items": { "type": "object" },
                    "description": "All owners, in the order in which they were learned"
                  },
                  "reply": {
                    "type": "string",
                    "description": "A sentence for the reply to the customer"
                  },
                  "claim": {
                    "description": "How to claim it; null if it has a customer",
                    "oneOf": [
                      {
                        "type": "object",
                        "required": ["method", "path", "how"],
                        "properties": {
                          "method": { "type": "string" },
                          "path": { "type": "string" },
                          "how": { "type": "string" }
                        }
                      },
                      { "type": "null" }
                    ]
                  }
                }
              },
              "Aliases": {
                "type": "object",
                "required": ["app", "customer", "aliases"],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string", "description": "The id that the aliases refer to" },
                  "aliases": { "type": "array", "items": { "$ref": "#/components/schemas/Alias" } }
                }
              },
              "Alias": {
                "type": "object",
                "required": ["alias", "from", "why", "by"],
                "properties": {
                  "alias": { "type": "string" },
                  "from": { "$ref": "#/components/schemas/Instant" },
                  "why": { "type": "string" },
                  "by": { "type": "string", "description": "The name of the key, else its id" }
                }
              },
              "StoreAction": {
                "type": "object",
                "required": ["action", "why"],
                "properties": {
                  "action": {
                    "type": "string",
                    "enum": [
                      "extend", "accountToken", "consumption", "cancel", "defer", "revoke", "refund"
                    ]
                  },
                  "why": { "type": "string", "maxLength": 500, "description": "For the audit" },
                  "days": {
                    "type": "integer", "minimum": 1, "maximum": 365,
                    "description": "Of `extend`, at most 90, and of `defer`"
                  },
                  "reason": {
                    "type": "string", "default": "undeclared",
                    "enum": ["undeclared", "customerSatisfaction", "other", "serviceIssue"],
                    "description": "Of `extend`"
                  },
                  "accountToken": {
                    "type": "string", "format": "uuid", "description": "Of `accountToken`"
                  },
                  "customerConsented": {
                    "type": "boolean", "description": "Of `consumption`: must be true"
                  },
                  "sampleContentProvided": {
                    "type": "boolean", "default": false, "description": "Of `consumption`"
                  },
                  "deliveryStatus": {
                    "type": "string", "default": "delivered",
                    "enum": [
                      "delivered", "undeliveredQualityIssue", "undeliveredWrongItem",
                      "undeliveredServerOutage", "undeliveredOther"
                    ],
                    "description": "Of `consumption`"
                  },
                  "consumptionPercentage": {
                    "type": "integer", "minimum": 0, "maximum": 100000,
                    "description": "Of `consumption`, in thousandths of a percent"
                  },
                  "refundPreference": {
                    "type": "string", "enum": ["decline", "grantFull", "grantProrated"],
                    "description": "Of `consumption`"
                  },
                  "stops": {
                    "type": "string", "enum": ["renewals", "payments"], "default": "renewals",
                    "description": "Of `cancel`: a customer can undo the first, not the second"
                  },
                  "refund": {
                    "type": "string", "enum": ["full", "prorated"],
                    "description": "Of `revoke`; or `product`"
                  },
                  "product": {
                    "type": "string",
                    "description": "Of `revoke`: the one item to refund, in the place of `refund`"
                  },
                  "revokes": {
                    "type": "boolean", "default": false,
                    "description": "Of `refund`: whether access ends too"
                  }
                }
              },
              "MassExtension": {
                "type": "object",
                "required": ["product", "days", "why"],
                "properties": {
                  "product": { "type": "string", "maxLength": 128 },
                  "days": { "type": "integer", "minimum": 1, "maximum": 90 },
                  "reason": {
                    "type": "string", "default": "undeclared",
                    "enum": ["undeclared", "customerSatisfaction", "other", "serviceIssue"]
                  },
                  "storefronts": {
                    "type": "array", "minItems": 1, "maxItems": 200,
                    "items": { "type": "string", "pattern": "^[A-Z]{3}$" },
                    "description": "Country codes; without it all storefronts"
                  },
                  "why": { "type": "string", "maxLength": 500, "description": "For the audit" }
                }
              },
              "StoreActionAnswer": {
                "type": "object",
                "required": [
                  "app", "environment", "action", "detail", "lineage", "customer", "outcome",
                  "repeated", "request", "answer"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "environment": {
                    "type": "string", "enum": ["production", "sandbox", "simulated"]
                  },
                  "action": { "type": "string" },
                  "detail": { "type": "string", "description": "The change in one line" },
                  "lineage": {
                    "type": ["string", "null"], "description": "Null for all subscriptions"
                  },
                  "customer": { "type": ["string", "null"], "description": "Who owns the purchase" },
                  "outcome": { "type": "string", "enum": ["completed", "dryRun"] },
                  "repeated": {
                    "type": "boolean",
                    "description": "Whether it was carried out by an earlier request with the same key"
                  },
                  "request": {
                    "description": "The request to the store, without authorization and purchase token; null for a repeated one",
                    "oneOf": [
                      {
                        "type": "object",
                        "required": ["method", "path", "query", "body"],
                        "properties": {
                          "method": { "type": "string" },
                          "path": { "type": "string" },
                          "query": { "type": "object" },
                          "body": { "type": ["object", "null"] }
                        }
                      },
                      { "type": "null" }
                    ]
                  },
                  "answer": {
                    "type": ["object", "null"],
                    "description": "What the store answered; null for a dry run"
                  }
                }
              },
              "MassExtensionStatus": {
                "type": "object",
                "required": [
                  "app", "environment", "id", "complete", "completedAt", "succeeded", "failed"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "environment": {
                    "type": "string", "enum": ["production", "sandbox", "simulated"]
                  },
                  "id": { "type": "string" },
                  "complete": { "type": ["boolean", "null"] },
                  "completedAt": { "type": ["string", "null"] },
                  "succeeded": { "type": ["integer", "null"] },
                  "failed": { "type": ["integer", "null"] }
                }
              },
              "Audit": {
                "type": "object",
                "required": ["app", "audit", "next", "more"],
                "properties": {
                  "app": { "type": "string" },
                  "audit": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": [
                        "id", "environment", "kind", "at", "customer", "other", "lineage", "actor", "by",
                        "why", "count", "change"
                      ],
                      "properties": {
                        "id": { "type": "string", "format": "uuid" },
                        "environment": {
                          "type": "string", "enum": ["production", "sandbox", "simulated"]
                        },
                        "kind": {
                          "type": "string",
                          "enum": [
                            "claimed", "transferred", "claimRefused", "granted", "grantRevoked", "aliased",
                            "storeAction", "experimentStopped"
                          ]
                        },
                        "at": { "$ref": "#/components/schemas/Instant" },
                        "customer": {
                          "type": ["string", "null"],
                          "description": "Null for a purchase without an owner, and for many purchases"
                        },
                        "other": {
                          "type": ["string", "null"],
                          "description": "The owner of the purchase that moved or was refused, or the id that joined"
                        },
                        "lineage": { "type": ["string", "null"] },
                        "actor": { "type": "string", "enum": ["customer", "store", "operator", "server"] },
                        "by": { "type": ["string", "null"], "description": "The operator's key, by name" },
                        "why": { "type": "string" },
                        "count": {
                          "type": "integer", "minimum": 1,
                          "description": "The number of occurrences: refused claims of one purchase by more than eight ids share a line"
                        },
                        "change": {
                          "description": "A change that was requested from a store; null for all else",
                          "oneOf": [
                            {
                              "type": "object",
                              "required": ["action", "detail", "outcome", "code"],
                              "properties": {
                                "action": { "type": "string" },
                                "detail": { "type": "string" },
                                "outcome": {
                                  "type": "string",
                                  "enum": [
                                    "dryRun", "requested", "completed", "rejected", "notSent", "unknown",
                                    "missed"
                                  ]
                                },
                                "code": { "type": ["string", "null"] }
                              }
                            },
                            { "type": "null" }
                          ]
                        }
                      }
                    }
                  },
                  "next": { "type": ["string", "null"], "description": "Send it as `after` to continue" },
                  "more": { "type": "boolean" }
                }
              },
              "DeviceEvidence": {
                "type": "object",
                "description": "At most 32 pieces in all; what is more goes into further requests. Members of other names are refused",
                "additionalProperties": false,
                "properties": {
                  "transactions": {
                    "type": "array", "items": { "type": "string" },
                    "description": "Signed transactions of StoreKit 2, each a compact JWS"
                  },
                  "renewalInfos": {
                    "type": "array", "items": { "type": "string" },
                    "description": "Signed renewal infos, each a compact JWS; one of an unknown subscription needs its transaction too"
                  },
                  "purchases": {
                    "type": "array", "items": { "type": "object" },
                    "description": "Purchase objects of OpenIAP as they are, also those of react-native-iap 12 and 13 and active subscriptions; without `store` and `platform` their members show the store. Of the App Store the JWS in `purchaseToken`, `jwsRepresentationIOS` or `verificationResultIOS`, or else the receipt in `transactionReceipt`, is what is believed; of Google Play, `{store: googlePlay, purchaseToken, productId, package}` too, only what the store answers about the token. At most 16 of Google Play"
                  },
                  "receipts": {
                    "type": "array", "items": { "type": "string" },
                    "description": "App receipts of StoreKit 1 (PKCS #7), each in base64; every purchase in one counts"
                  },
                  "receiptAnswers": {
                    "type": "array", "items": { "type": "object" },
                    "description": "Answers of verifyReceipt as they are; the receipt in `latest_receipt` is what is believed"
                  },
                  "nothing": {
                    "type": "boolean", "default": false,
                    "description": "The device asked its store and has nothing to present: true only beside no pieces. A request without pieces and without this leaves `never` as uncertain as it was"
                  },
                  "device": { "$ref": "#/components/schemas/DeviceConclusion" }
                }
              },
              "Reconciled": {
                "type": "object",
                "required": [
                  "app", "customer", "environment", "asOf", "customerVersion", "entitlements", "prompt",
                  "items", "drift"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "customerVersion": { "type": "integer" },
                  "entitlements": {
                    "type": "object",
                    "additionalProperties": { "$ref": "#/components/schemas/Entitlement" }
                  },
                  "prompt": { "$ref": "#/components/schemas/Prompt" },
                  "plan": {
                    "type": "array",
                    "description": "The planned messages, earliest first; absent if there is none",
                    "items": { "$ref": "#/components/schemas/PlannedMessage" }
                  },
                  "items": {
                    "type": "array",
                    "description": "The outcome of each piece, in the order presented",
                    "items": { "$ref": "#/components/schemas/ReconciledItem" }
                  },
                  "drift": {
                    "type": "array",
                    "description": "Open differences between devices and the server, and those that this report opened or healed; newest first",
                    "items": { "$ref": "#/components/schemas/Drift" }
                  }
                }
              },
              "DeviceConclusion": {
                "type": "object",
                "description": "The device's own conclusion: it is compared with the answer, never trusted",
                "additionalProperties": false,
                "properties": {
                  "deviceTime": { "$ref": "#/components/schemas/Instant" },
                  "askedAt": {
                    "description": "When the device last read its store",
                    "$ref": "#/components/schemas/Instant"
                  },
                  "environment": { "type": "string", "description": "The one it looked at, such as Production" },
                  "entitlements": {
                    "type": "object",
                    "additionalProperties": { "$ref": "#/components/schemas/DeviceWord" }
                  }
                }
              },
              "DeviceWord": {
                "type": "object",
                "required": ["access"],
                "properties": {
                  "access": { "type": "boolean" },
                  "until": {
                    "description": "Until when it gives access, or since when it is over; null is for ever",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "productId": { "type": "string", "maxLength": 255 },
                  "originalTransactionId": { "type": "string", "maxLength": 255 },
                  "verified": { "type": "boolean", "default": true },
                  "unfinished": {
                    "type": "array", "items": { "type": "string", "maxLength": 255 }, "maxItems": 32,
                    "description": "Ids of transactions that the device has not finished"
                  }
                }
              },
              "Drift": {
                "type": "object",
                "required": [
                  "id", "customer", "environment", "entitlement", "direction", "cause", "sentence",
                  "openedAt", "device", "server"
                ],
                "properties": {
                  "id": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "entitlement": { "type": "string" },
                  "lineage": { "type": "object" },
                  "direction": {
                    "type": "string",
                    "enum": [
                      "device-denies-server-allows",
                      "device-allows-server-denies",
                      "until-differs"
                    ]
                  },
                  "cause": {
                    "type": "string",
                    "enum": [
                      "stale-device-cache", "missed-notification", "unverified-on-device", "other-customer",
                      "environment", "clock", "unfinished-transaction", "unclaimed-purchase"
                    ]
                  },
                  "sentence": { "type": "string", "description": "The cause, and what ends it, for people" },
                  "openedAt": { "$ref": "#/components/schemas/Instant" },
                  "healedAt": { "$ref": "#/components/schemas/Instant" },
                  "healedBy": {
                    "type": "string",
                    "enum": ["device", "notification", "asked", "operator", "ownership", "time"]
                  },
                  "agreedAccess": { "type": "boolean", "description": "Whether both gave access when it ended" },
                  "lockoutMinutes": {
                    "type": "number",
                    "description": "How long one of the two denied what both then came to give"
                  },
                  "device": { "$ref": "#/components/schemas/DeviceWord" },
                  "server": { "type": "object", "description": "What we said when it was found" }
                }
              },
              "DriftReport": {
                "type": "object",
                "required": ["asOf", "rows"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "rows": { "type": "array", "items": { "$ref": "#/components/schemas/DriftRow" } }
                }
              },
              "DriftRow": {
                "type": "object",
                "required": [
                  "app", "environment", "found", "open", "openSince", "healedBy", "lockoutMinutes",
                  "timeToHeal", "kinds"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "found": { "type": "integer" },
                  "open": { "type": "integer" },
                  "openSince": {
                    "description": "When the oldest that is open was found",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "healedBy": { "type": "object", "additionalProperties": { "type": "integer" } },
                  "lockoutMinutes": {
                    "type": "number",
                    "description": "How long, of those that ended, one of the two denied what both then came to give"
                  },
                  "timeToHeal": { "$ref": "#/components/schemas/HealingTimes" },
                  "kinds": {
                    "type": "array",
                    "description": "The same for each direction and cause that occurred",
                    "items": { "type": "object" }
                  }
                }
              },
              "HealingTimes": {
                "type": "object",
                "required": ["of", "medianSeconds", "p90Seconds"],
                "properties": {
                  "of": { "type": "integer" },
                  "medianSeconds": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                  "p90Seconds": { "oneOf": [{ "type": "number" }, { "type": "null" }] }
                }
              },
              "RecoveryReport": {
                "type": "object",
                "required": ["asOf", "rows"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "rows": { "type": "array", "items": { "$ref": "#/components/schemas/RecoveryRow" } }
                }
              },
              "RecoveryRow": {
                "type": "object",
                "required": ["app", "environment", "dimensions", "groups"],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "dimensions": { "type": "array", "items": { "type": "string" } },
                  "groups": { "type": "array", "items": { "$ref": "#/components/schemas/RecoveryGroup" } }
                }
              },
              "RecoveryGroup": {
                "type": "object",
                "description": "The values of the dimensions that were asked for, and the figures",
                "required": ["issues", "open", "recovered", "recoveredFromGrace", "recoveredFromHold", "recoveredByNewPurchase", "lost", "cancelledFromGrace", "cancelledFromHold", "unrecovered", "takenBack", "unconfirmed", "medianDays", "ninthDecileDays", "all", "fromGrace", "fromHold", "money", "withoutPrice"],
                "properties": {
                  "product": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
                  "store": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
                  "country": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
                  "issues": { "type": "integer" },
                  "open": { "type": "integer" },
                  "recovered": { "type": "integer" },
                  "recoveredFromGrace": { "type": "integer" },
                  "recoveredFromHold": { "type": "integer" },
                  "recoveredByNewPurchase": { "type": "integer" },
                  "lost": { "type": "integer" },
                  "cancelledFromGrace": { "type": "integer" },
                  "cancelledFromHold": { "type": "integer" },
                  "unrecovered": { "type": "integer" },
                  "takenBack": { "type": "integer" },
                  "unconfirmed": { "type": "integer" },
                  "medianDays": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                  "ninthDecileDays": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                  "all": { "type": "array", "items": { "$ref": "#/components/schemas/RecoveryHorizon" } },
                  "fromGrace": { "type": "array", "items": { "$ref": "#/components/schemas/RecoveryHorizon" } },
                  "fromHold": { "type": "array", "items": { "$ref": "#/components/schemas/RecoveryHorizon" } },
                  "money": { "type": "array", "items": { "$ref": "#/components/schemas/RecoverySum" } },
                  "withoutPrice": { "type": "integer" }
                }
              },
              "RecoveryHorizon": {
                "type": "object",
                "required": ["days", "entries", "decided", "estimate"],
                "properties": {
                  "days": { "type": "integer" },
                  "entries": { "type": "integer" },
                  "decided": { "$ref": "#/components/schemas/MeasuredShare" },
                  "estimate": {
                    "type": "object",
                    "required": ["share", "lower", "upper", "atRisk"],
                    "properties": {
                      "share": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                      "lower": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                      "upper": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                      "atRisk": { "oneOf": [{ "type": "integer" }, { "type": "null" }] }
                    }
                  }
                }
              },
              "RecoverySum": {
                "type": "object",
                "description": "In thousandths of the currency",
                "required": ["currency", "atRisk", "recovered", "lost", "open"],
                "properties": {
                  "currency": { "type": "string" },
                  "atRisk": { "type": "integer" },
                  "recovered": { "type": "integer" },
                  "lost": { "type": "integer" },
                  "open": { "type": "integer" }
                }
              },
              "MeasuredShare": {
                "type": "object",
                "description": "A share with its denominator and Wilson's 95 % interval; null if the denominator is 0",
                "required": ["of", "share", "lower", "upper"],
                "properties": {
                  "of": { "type": "integer" },
                  "share": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                  "lower": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                  "upper": { "oneOf": [{ "type": "number" }, { "type": "null" }] }
                }
              },
              "ChurnReport": {
                "type": "object",
                "required": ["asOf", "rows"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "rows": { "type": "array", "items": { "$ref": "#/components/schemas/ChurnRow" } }
                }
              },
              "ChurnRow": {
                "type": "object",
                "required": ["app", "environment", "dimensions", "groups", "from", "to"],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "from": { "$ref": "#/components/schemas/Instant" },
                  "to": { "$ref": "#/components/schemas/Instant" },
                  "dimensions": { "type": "array", "items": { "type": "string" } },
                  "groups": { "type": "array", "items": { "$ref": "#/components/schemas/ChurnGroup" } }
                }
              },
              "ChurnGroup": {
                "type": "object",
                "required": ["atStart", "churned", "voluntary", "cancelledFromGrace", "cancelledFromHold", "involuntary", "takenBack", "returned", "unconfirmed", "churn"],
                "properties": {
                  "product": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
                  "store": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
                  "country": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
                  "atStart": { "type": "integer" },
                  "churned": { "type": "integer" },
                  "voluntary": { "type": "integer" },
                  "cancelledFromGrace": { "type": "integer" },
                  "cancelledFromHold": { "type": "integer" },
                  "involuntary": { "type": "integer" },
                  "takenBack": { "type": "integer" },
                  "returned": { "type": "integer" },
                  "unconfirmed": { "type": "integer" },
                  "churn": { "$ref": "#/components/schemas/MeasuredShare" }
                }
              },
              "PortfolioReport": {
                "type": "object",
                "required": ["asOf", "from", "to", "each", "conversion", "rows", "totals"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "from": { "$ref": "#/components/schemas/Instant" },
                  "to": { "$ref": "#/components/schemas/Instant" },
                  "each": {
                    "oneOf": [{ "type": "string", "enum": ["day", "week", "month"] }, { "type": "null" }]
                  },
                  "conversion": {
                    "description": "The rates that `converted` uses, as they were sent; null without `currency`",
                    "oneOf": [
                      {
                        "type": "object",
                        "required": ["currency", "rates"],
                        "properties": {
                          "currency": { "type": "string" },
                          "rates": {
                            "type": "array",
                            "items": {
                              "type": "object",
                              "required": ["currency", "rate"],
                              "properties": {
                                "currency": { "type": "string" },
                                "rate": { "type": "string" }
                              }
                            }
                          }
                        }
                      },
                      { "type": "null" }
                    ]
                  },
                  "rows": { "type": "array", "items": { "$ref": "#/components/schemas/PortfolioRow" } },
                  "totals": {
                    "type": "array",
                    "description": "The sums of the rows of each environment",
                    "items": { "$ref": "#/components/schemas/PortfolioTotal" }
                  }
                }
              },
              "PortfolioRow": {
                "type": "object",
                "required": ["app", "environment", "subscribers", "subscriptions", "revenue", "withoutPrice", "issues", "money", "issuesWithoutPrice", "converted", "history"],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "subscribers": { "type": "integer", "description": "Trials and paid subscriptions that have not ended" },
                  "subscriptions": { "$ref": "#/components/schemas/SubscriptionCounts" },
                  "revenue": { "type": "array", "items": { "$ref": "#/components/schemas/RevenueSum" } },
                  "withoutPrice": { "type": "integer", "description": "Subscriptions in no sum, because their price or period is unknown" },
                  "issues": { "type": "integer", "description": "Renewals that failed in the range" },
                  "money": { "type": "array", "items": { "$ref": "#/components/schemas/RecoverySum" } },
                  "issuesWithoutPrice": { "type": "integer" },
                  "converted": {
                    "oneOf": [{ "$ref": "#/components/schemas/ConvertedSums" }, { "type": "null" }]
                  },
                  "history": {
                    "type": "array",
                    "description": "With `each`, the same counts at earlier instants, as known now; oldest first, and `to` last",
                    "items": {
                      "type": "object",
                      "required": ["at", "subscribers", "subscriptions", "revenue", "withoutPrice"],
                      "properties": {
                  "at": { "$ref": "#/components/schemas/Instant" },
                  "subscribers": { "type": "integer", "description": "Trials and paid subscriptions that have not ended" },
                  "subscriptions": { "$ref": "#/components/schemas/SubscriptionCounts" },
                  "revenue": { "type": "array", "items": { "$ref": "#/components/schemas/RevenueSum" } },
                  "withoutPrice": { "type": "integer", "description": "Subscriptions in no sum, because their price or period is unknown" }
                      }
                    }
                  }
                }
              },
              "PortfolioTotal": {
                "type": "object",
                "required": ["environment", "apps", "subscribers", "subscriptions", "revenue", "withoutPrice", "issues", "money", "issuesWithoutPrice", "converted"],
                "properties": {
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "apps": { "type": "integer" },
                  "subscribers": { "type": "integer", "description": "Trials and paid subscriptions that have not ended" },
                  "subscriptions": { "$ref": "#/components/schemas/SubscriptionCounts" },
                  "revenue": { "type": "array", "items": { "$ref": "#/components/schemas/RevenueSum" } },
                  "withoutPrice": { "type": "integer", "description": "Subscriptions in no sum, because their price or period is unknown" },
                  "issues": { "type": "integer", "description": "Renewals that failed in the range" },
                  "money": { "type": "array", "items": { "$ref": "#/components/schemas/RecoverySum" } },
                  "issuesWithoutPrice": { "type": "integer" },
                  "converted": {
                    "oneOf": [{ "$ref": "#/components/schemas/ConvertedSums" }, { "type": "null" }]
                  }
                }
              },
              "SubscriptionCounts": {
                "type": "object",
                "required": ["trial", "trialCancelled", "active", "cancelled", "grace", "hold", "paused", "expired", "unconfirmed"],
                "properties": {
                  "trial": { "type": "integer", "description": "A free trial that renews" },
                  "trialCancelled": { "type": "integer", "description": "A free trial with renewal switched off" },
                  "active": { "type": "integer", "description": "Paid and running" },
                  "cancelled": { "type": "integer", "description": "Paid and running, with renewal switched off" },
                  "grace": { "type": "integer", "description": "A payment failed; access is kept" },
                  "hold": { "type": "integer", "description": "A payment failed; access is suspended" },
                  "paused": { "type": "integer", "description": "The customer has paused it" },
                  "expired": { "type": "integer", "description": "Ended for any reason" },
                  "unconfirmed": { "type": "integer", "description": "No store confirmed a renewal or an end" }
                }
              },
              "RevenueSum": {
                "type": "object",
                "description": "The prices of one month, in thousandths of the currency",
                "required": ["currency", "mrr", "active", "cancelled", "grace", "hold"],
                "properties": {
                  "currency": { "type": "string" },
                  "mrr": { "type": "integer", "description": "`active` and `cancelled` together" },
                  "active": { "type": "integer" },
                  "cancelled": { "type": "integer" },
                  "grace": { "type": "integer" },
                  "hold": { "type": "integer" }
                }
              },
              "ConvertedSums": {
                "type": "object",
                "description": "The sums of `revenue` and `money`, converted with the rates and added",
                "required": ["mrr", "active", "cancelled", "grace", "hold", "atRisk", "recovered", "lost", "open", "leftOut"],
                "properties": {
                  "mrr": { "type": "integer" },
                  "active": { "type": "integer" },
                  "cancelled": { "type": "integer" },
                  "grace": { "type": "integer" },
                  "hold": { "type": "integer" },
                  "atRisk": { "type": "integer" },
                  "recovered": { "type": "integer" },
                  "lost": { "type": "integer" },
                  "open": { "type": "integer" },
                  "leftOut": {
                    "type": "array",
                    "description": "Currencies without a rate, which are in no converted sum",
                    "items": { "type": "string" }
                  }
                }
              },
              "DeadlineReport": {
                "type": "object",
                "required": ["asOf", "rows"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "rows": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": ["app", "environment", "deadlines", "more"],
                      "properties": {
                        "app": { "type": "string" },
                        "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                        "deadlines": {
                          "type": "array",
                          "description": "Soonest first; the first 500",
                          "items": {
                            "type": "object",
                            "required": ["kind", "at", "customer", "purchase", "product", "certificate", "sentence"],
                            "properties": {
                              "kind": {
                                "type": "string",
                                "enum": [
                                  "graceEnd", "holdEnd", "acknowledgement", "consumption",
                                  "notificationHistory", "rootCertificate", "signingCertificate",
                                  "revocationAnswer"
                                ]
                              },
                              "at": { "$ref": "#/components/schemas/Instant" },
                              "customer": { "type": ["string", "null"] },
                              "purchase": { "type": ["string", "null"] },
                              "product": { "type": ["string", "null"] },
                              "certificate": { "type": ["string", "null"] },
                              "sentence": { "type": "string", "description": "What happens then" }
                            }
                          }
                        },
                        "more": { "type": "boolean", "description": "Whether there are further ones" }
                      }
                    }
                  }
                }
              },
              "PolicyTotals": {
                "type": "object",
                "description": "Summed over customers",
                "required": [
                  "accessMilliseconds", "lockoutMilliseconds", "lockouts", "exposureMilliseconds",
                  "exposures"
                ],
                "properties": {
                  "accessMilliseconds": { "type": "integer", "description": "With access" },
                  "lockoutMilliseconds": {
                    "type": "integer",
                    "description": "Without access that the store, as known now, confirms"
                  },
                  "lockouts": { "type": "integer", "description": "The number of such periods" },
                  "exposureMilliseconds": {
                    "type": "integer",
                    "description": "With access that nothing known now supports"
                  },
                  "exposures": { "type": "integer", "description": "The number of such periods" }
                }
              },
              "PolicyDecision": {
                "type": "object",
                "required": ["access", "state", "reason", "rule"],
                "properties": {
                  "access": { "type": "boolean" },
                  "state": { "type": "string" },
                  "reason": { "type": "string" },
                  "rule": { "type": "string" }
                }
              },
              "PolicyTrial": {
                "type": "object",
                "required": [
                  "app", "environment", "knowledge", "from", "until", "entitlements", "differences",
                  "moreDifferences"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "knowledge": { "type": "string", "enum": ["then", "now"] },
                  "from": { "$ref": "#/components/schemas/Instant" },
                  "until": { "$ref": "#/components/schemas/Instant" },
                  "entitlements": {
                    "type": "object",
                    "additionalProperties": {
                      "type": "object",
                      "required": ["customersDiffering", "current", "tried"],
                      "properties": {
                        "customersDiffering": {
                          "type": "integer",
                          "description": "Customers with another access at some instant"
                        },
                        "current": { "$ref": "#/components/schemas/PolicyTotals" },
                        "tried": { "$ref": "#/components/schemas/PolicyTotals" }
                      }
                    }
                  },
                  "differences": {
                    "type": "array",
                    "description": "Where a customer's access would have differed, by customer, entitlement and time; the first 100",
                    "items": {
                      "type": "object",
                      "required": ["customer", "entitlement", "from", "until", "current", "tried"],
                      "properties": {
                        "customer": { "type": "string" },
                        "entitlement": { "type": "string" },
                        "from": { "$ref": "#/components/schemas/Instant" },
                        "until": { "$ref": "#/components/schemas/Instant" },
                        "current": { "$ref": "#/components/schemas/PolicyDecision" },
                        "tried": { "$ref": "#/components/schemas/PolicyDecision" }
                      }
                    }
                  },
                  "moreDifferences": { "type": "boolean", "description": "Whether there are further ones" }
                }
              },
              "TrialReport": {
                "type": "object",
                "required": ["asOf", "rows"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "rows": { "type": "array", "items": { "$ref": "#/components/schemas/TrialRow" } }
                }
              },
              "TrialRow": {
                "type": "object",
                "required": ["app", "environment", "dimensions", "groups"],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "dimensions": { "type": "array", "items": { "type": "string" } },
                  "groups": { "type": "array", "items": { "$ref": "#/components/schemas/TrialGroup" } }
                }
              },
              "TrialGroup": {
                "type": "object",
                "required": ["cohort", "started", "running", "inBillingIssue", "converted", "cancelled", "lapsed", "takenBack", "unconfirmed", "conversion"],
                "properties": {
                  "product": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
                  "store": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
                  "country": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
                  "cohort": { "type": "string", "description": "The month in UTC: 2026-05" },
                  "started": { "type": "integer" },
                  "running": { "type": "integer" },
                  "inBillingIssue": { "type": "integer" },
                  "converted": { "type": "integer" },
                  "cancelled": { "type": "integer" },
                  "lapsed": { "type": "integer" },
                  "takenBack": { "type": "integer" },
                  "unconfirmed": { "type": "integer" },
                  "conversion": { "$ref": "#/components/schemas/MeasuredShare" }
                }
              },
              "ExperimentReport": {
                "type": "object",
                "required": ["asOf", "rows"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "rows": {
                    "type": "array",
                    "items": { "$ref": "#/components/schemas/ExperimentRow" }
                  }
                }
              },
              "ExperimentRow": {
                "type": "object",
                "required": ["app", "environment", "experiments"],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "experiments": {
                    "type": "array",
                    "items": { "$ref": "#/components/schemas/ExperimentOutcome" }
                  }
                }
              },
              "ExperimentOutcome": {
                "type": "object",
                "required": [
                  "id", "entitlement", "start", "end", "state", "stop", "days", "points", "arms"
                ],
                "properties": {
                  "id": { "type": "string" },
                  "entitlement": { "type": "string" },
                  "start": { "$ref": "#/components/schemas/Instant" },
                  "end": {
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "state": {
                    "type": "string", "enum": ["planned", "running", "ended", "stopped"]
                  },
                  "stop": {
                    "oneOf": [
                      {
                        "type": "object",
                        "description": "Why the server stopped it: customers have the control since",
                        "required": ["at", "reason", "arm"],
                        "properties": {
                          "at": { "$ref": "#/components/schemas/Instant" },
                          "reason": { "type": "string", "enum": ["lockouts", "refunds"] },
                          "arm": { "type": "string" }
                        }
                      },
                      { "type": "null" }
                    ]
                  },
                  "days": { "type": "integer" },
                  "points": { "type": "integer" },
                  "arms": {
                    "type": "array",
                    "description": "In the order of the configuration; the first is the control",
                    "items": { "$ref": "#/components/schemas/ExperimentArm" }
                  }
                }
              },
              "ExperimentArm": {
                "type": "object",
                "required": [
                  "arm", "entries", "exposed", "needed", "recovered", "difference", "lockouts",
                  "refunds", "alarm", "sentence"
                ],
                "properties": {
                  "arm": { "type": "string" },
                  "entries": { "type": "integer", "description": "Customers with a failed payment" },
                  "exposed": {
                    "type": "integer",
                    "description": "Those of them to whom something was reported as shown"
                  },
                  "needed": {
                    "type": "integer",
                    "description": "The entries of this arm and the control that a decision needs, about; 0 for the control"
                  },
                  "recovered": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                  "difference": { "$ref": "#/components/schemas/ExperimentDifference" },
                  "lockouts": { "$ref": "#/components/schemas/ExperimentDifference" },
                  "refunds": { "$ref": "#/components/schemas/ExperimentDifference" },
                  "alarm": {
                    "oneOf": [
                      { "type": "string", "enum": ["lockouts", "refunds"] }, { "type": "null" }
                    ],
                    "description": "The reason to stop the arm"
                  },
                  "sentence": { "type": "string" }
                }
              },
              "ExperimentDifference": {
                "oneOf": [
                  {
                    "type": "object",
                    "description": "From the control, -1 to 1, with a 95 % interval that holds at every look",
                    "required": ["value", "lower", "upper"],
                    "properties": {
                      "value": { "type": "number" },
                      "lower": { "type": "number" },
                      "upper": { "type": "number" }
                    }
                  },
                  { "type": "null" }
                ]
              },
              "AssignedArm": {
                "type": "object",
                "description": "The customer's arm in an experiment, so that the app or the back end can use the arm's words",
                "required": ["id", "arm"],
                "properties": {
                  "id": { "type": "string" },
                  "arm": { "type": "string" }
                }
              },
              "LockoutReport": {
                "type": "object",
                "required": ["asOf", "rows"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "rows": { "type": "array", "items": { "$ref": "#/components/schemas/LockoutRow" } }
                }
              },
              "LockoutRow": {
                "type": "object",
                "required": [
                  "app", "environment", "purchases", "entitledMinutes", "ours", "expiryCheck", "relay",
                  "policies"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "purchases": {
                    "type": "integer",
                    "description": "Purchases that the store granted access for, once for each entitlement"
                  },
                  "entitledMinutes": { "type": "number", "description": "How long it did: the denominator" },
                  "ours": { "$ref": "#/components/schemas/LockoutPart" },
                  "expiryCheck": { "$ref": "#/components/schemas/LockoutPart" },
                  "relay": { "$ref": "#/components/schemas/LockoutPart" },
                  "policies": {
                    "type": "array",
                    "description": "The same figures for each version of policy and catalogue that was in effect while a store granted access, oldest first",
                    "items": { "$ref": "#/components/schemas/LockoutPolicy" }
                  }
                }
              },
              "LockoutPolicy": {
                "type": "object",
                "required": [
                  "policyVersion", "purchases", "entitledMinutes", "ours", "expiryCheck", "relay"
                ],
                "properties": {
                  "policyVersion": { "$ref": "#/components/schemas/PolicyVersion" },
                  "purchases": { "type": "integer" },
                  "entitledMinutes": { "type": "number" },
                  "ours": { "$ref": "#/components/schemas/LockoutPart" },
                  "expiryCheck": { "$ref": "#/components/schemas/LockoutPart" },
                  "relay": { "$ref": "#/components/schemas/LockoutPart" }
                }
              },
              "LockoutPart": {
                "type": "object",
                "required": ["minutes", "purchases", "causes"],
                "properties": {
                  "minutes": { "type": "number" },
                  "purchases": { "type": "integer", "description": "How many were denied for a while" },
                  "causes": {
                    "type": "object",
                    "description": "Minutes by cause: grace, notHeard, saidLater, judgement",
                    "additionalProperties": { "type": "number" }
                  }
                }
              },
              "ReconciledItem": {
                "type": "object",
                "required": ["kind", "index", "verdict"],
                "properties": {
                  "kind": {
                    "type": "string",
                    "enum": ["transaction", "renewalInfo", "purchase", "receipt", "receiptAnswer"]
                  },
                  "index": { "type": "integer", "description": "Its place in its list" },
                  "verdict": {
                    "type": "string", "enum": ["accepted", "refused", "unasked", "failed"],
                    "description": "`unasked`: Google Play could not be asked about it now, or has not reported it where no service account is configured; present it again. `failed` occurs in the problem `storage-unavailable` only: present it again"
                  },
                  "isKnown": { "type": "boolean", "description": "Whether it had arrived before" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "transactionId": { "type": ["string", "null"] },
                  "lineage": { "type": ["string", "null"] },
                  "ownership": {
                    "type": "string",
                    "description": "held, claimed, transferred, or why the claim failed"
                  },
                  "missing": {
                    "type": "string",
                    "description": "Of a purchase on Google Play that the store cannot be asked about: what to configure"
                  },
                  "lineages": {
                    "type": "array",
                    "description": "Of a receipt: every subscription and purchase in it, and what became of the claim to it",
                    "items": {
                      "type": "object",
                      "required": ["lineage"],
                      "properties": {
                        "lineage": { "type": "string" },
                        "ownership": { "type": "string" },
                        "detail": { "type": "string" }
                      }
                    }
                  },
                  "reason": { "type": "string", "description": "Why it is refused: a stable code" },
                  "detail": { "type": ["string", "null"], "description": "The same for people" }
                }
              },
              "Backfill": {
                "type": "object",
                "required": ["wanted", "last", "googlePlay"],
                "properties": {
                  "wanted": { "type": "boolean", "description": "Whether a run is to begin" },
                  "last": {
                    "description": "Of the App Store",
                    "oneOf": [{ "$ref": "#/components/schemas/BackfillRun" }, { "type": "null" }]
                  },
                  "googlePlay": {
                    "description": "Of Google Play",
                    "oneOf": [{ "$ref": "#/components/schemas/BackfillRun" }, { "type": "null" }]
                  }
                }
              },
              "Export": {
                "type": "object",
                "required": ["header", "lines", "next"],
                "properties": {
                  "header": {
                    "type": "object",
                    "required": ["format", "version", "app", "holds"],
                    "properties": {
                      "format": { "type": "string", "enum": ["tideover-export"] },
                      "version": { "type": "integer" },
                      "app": { "type": "string" },
                      "holds": { "type": "string", "enum": ["everything", "answers"] }
                    }
                  },
                  "lines": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": ["kind", "environment"],
                      "properties": {
                        "kind": {
                          "type": "string",
                          "enum": ["evidence", "fact", "owner", "alias", "drift", "event", "told", "audit", "customer"]
                        },
                        "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] }
                      }
                    }
                  },
                  "next": { "type": ["string", "null"], "description": "Send it as `after` to continue; null at the end" }
                }
              },
              "Import": {
                "type": "object",
                "required": ["lines", "added", "known", "refused"],
                "properties": {
                  "lines": { "type": "integer", "description": "How many lines were read, the header among them" },
                  "added": {
                    "type": "object",
                    "description": "How many were new, by kind",
                    "additionalProperties": { "type": "integer" }
                  },
                  "known": {
                    "type": "object",
                    "description": "The number of already stored ones, by kind",
                    "additionalProperties": { "type": "integer" }
                  },
                  "refused": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": ["line", "code", "detail"],
                      "properties": {
                        "line": { "type": "integer", "description": "From 1, the header's" },
                        "code": { "type": "string" },
                        "detail": { "type": "string" }
                      }
                    }
                  }
                }
              },
              "Replay": {
                "type": "object",
                "required": ["wanted", "setAside", "last"],
                "properties": {
                  "wanted": { "type": "boolean", "description": "Whether a run is to begin" },
                  "setAside": {
                    "type": "boolean",
                    "description": "Whether a run that crashed the server twice waits for a request"
                  },
                  "last": { "oneOf": [{ "$ref": "#/components/schemas/ReplayRun" }, { "type": "null" }] }
                }
              },
              "ReplayRun": {
                "type": "object",
                "required": [
                  "app", "environment", "status", "startedAt", "endedAt", "stopped", "apply", "resumed",
                  "evidence", "facts", "unreadable", "added", "unread", "changed", "applied"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "status": { "type": "string", "enum": ["running", "completed", "stopped"] },
                  "startedAt": { "$ref": "#/components/schemas/Instant" },
                  "endedAt": { "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }] },
                  "stopped": {
                    "description": "Why it ended early; the server's next start takes it up",
                    "oneOf": [
                      {
                        "type": "object",
                        "required": ["code", "detail"],
                        "properties": {
                          "code": { "type": "string" },
                          "detail": { "type": "string" }
                        }
                      },
                      { "type": "null" }
                    ]
                  },
                  "apply": { "type": "boolean", "description": "Whether it adds what is new" },
                  "resumed": {
                    "type": "boolean",
                    "description": "Whether it resumed a previous server's run; what that run read is not counted"
                  },
                  "evidence": { "type": "integer", "description": "Pieces that were read" },
                  "facts": { "type": "integer", "description": "What they state" },
                  "unreadable": {
                    "type": "object",
                    "description": "Pieces that are not read any more, by code",
                    "additionalProperties": { "type": "integer" }
                  },
                  "added": { "$ref": "#/components/schemas/ReplayList" },
                  "unread": {
                    "description": "Null for a resumed run",
                    "oneOf": [{ "$ref": "#/components/schemas/ReplayList" }, { "type": "null" }]
                  },
                  "changed": {
                    "description": "Answers that differ: `customer`, `entitlement`, `from`, `to`, and `cause`: `evidence`, `rules` or `configuration`",
                    "$ref": "#/components/schemas/ReplayList"
                  },
                  "applied": { "type": "boolean" }
                }
              },
              "ReplayList": {
                "type": "object",
                "required": ["count", "first"],
                "properties": {
                  "count": { "type": "integer" },
                  "first": { "type": "array", "items": { "type": "object" } }
                }
              },
              "Arrivals": {
                "type": "object",
                "description": "`since` is when a server first listened",
                "required": [
                  "app", "environment", "store", "asOf", "since", "lastArrivedAt", "silenceSeconds",
                  "alarmSince", "tests"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "store": { "type": "string", "enum": ["appStore", "googlePlay"] },
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "since": { "$ref": "#/components/schemas/Instant" },
                  "lastArrivedAt": {
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "silenceSeconds": {
                    "type": "number",
                    "description": "Since the last one arrived; since the server first listened, if none ever did"
                  },
                  "alarmSince": {
                    "description": "Since when it is known that something should have arrived",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "tests": {
                    "type": "array",
                    "description": "Test notifications, the newest last",
                    "items": {
                      "type": "object",
                      "required": ["signedAt", "arrivedAt"],
                      "properties": {
                        "notificationUUID": { "type": "string", "description": "Of the App Store" },
                        "messageId": { "type": "string", "description": "Of Pub/Sub, for Google Play" },
                        "signedAt": { "$ref": "#/components/schemas/Instant" },
                        "arrivedAt": { "$ref": "#/components/schemas/Instant" }
                      }
                    }
                  },
                  "misdirected": {
                    "description": "Of Google Play: the latest push that was not this app's, with what its token says if Google signed it",
                    "oneOf": [{ "$ref": "#/components/schemas/MisdirectedPush" }, { "type": "null" }]
                  }
                }
              },
              "MisdirectedPush": {
                "type": "object",
                "required": ["at", "reason", "audience", "email"],
                "properties": {
                  "at": { "$ref": "#/components/schemas/Instant" },
                  "reason": { "type": "string", "description": "The name of the problem" },
                  "audience": { "type": ["string", "null"] },
                  "email": { "type": ["string", "null"] }
                }
              },
              "ShownConfiguration": {
                "type": "object",
                "required": ["app", "fingerprint", "isWhole", "settings", "findings"],
                "properties": {
                  "app": { "type": "string" },
                  "fingerprint": {
                    "type": ["string", "null"],
                    "description": "Equal on servers with the same settings; null without a file"
                  },
                  "isWhole": {
                    "type": "boolean",
                    "description": "Whether the settings of the server are included"
                  },
                  "settings": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": ["path", "value", "source", "line", "variable"],
                      "properties": {
                        "path": { "type": "string", "description": "Such as `apps[0].appStore.bundleId`" },
                        "value": { "description": "A text, a number, a Boolean or a list of texts" },
                        "source": { "type": "string", "enum": ["file", "variable", "default"] },
                        "line": { "type": ["integer", "null"], "description": "The line in the file" },
                        "variable": {
                          "type": ["string", "null"],
                          "description": "The environment variable that can set it"
                        }
                      }
                    }
                  },
                  "findings": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": ["check", "subject", "verdict", "detail", "advice"],
                      "properties": {
                        "check": { "type": "string" },
                        "subject": { "type": ["string", "null"] },
                        "verdict": { "type": "string", "enum": ["ok", "warning", "problem"] },
                        "detail": { "type": "string" },
                        "advice": { "type": ["string", "null"], "description": "What to do" }
                      }
                    }
                  }
                }
              },
              "Survey": {
                "type": "object",
                "required": ["app", "environment", "store", "terms", "failures", "failuresAfterOffers"],
                "properties": {
                  "store": { "type": "string", "enum": ["appStore", "googlePlay"] },
                  "app": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "terms": {
                    "type": "array",
                    "description": "Periods and purchases reported, by the store's id of the product",
                    "items": {
                      "type": "object",
                      "required": ["product", "count"],
                      "properties": {
                        "product": { "type": "string" }, "count": { "type": "integer" }
                      }
                    }
                  },
                  "failures": {
                    "type": "array",
                    "description": "Renewals of periods paid in full that failed, by the grace that came with them",
                    "items": {
                      "type": "object",
                      "required": ["product", "grace", "count", "newest"],
                      "properties": {
                        "product": { "type": "string" },
                        "grace": {
                          "type": "string",
                          "description": "`none`, its length in days such as `P16D`, or `granted` if the length does not reveal the setting"
                        },
                        "count": { "type": "integer" },
                        "newest": { "$ref": "#/components/schemas/Instant" }
                      }
                    }
                  },
                  "failuresAfterOffers": {
                    "type": "integer",
                    "description": "Renewals after an offer that failed: a setting may leave them without grace"
                  }
                }
              },
              "ArrivalReport": {
                "type": "object",
                "required": ["asOf", "rows"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "rows": { "type": "array", "items": { "$ref": "#/components/schemas/ArrivalRow" } }
                }
              },
              "ArrivalRow": {
                "type": "object",
                "required": [
                  "app", "environment", "store", "since", "changes", "pushed", "asked", "device",
                  "timeToHeal", "earlier"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "store": { "type": "string", "enum": ["appStore", "googlePlay"] },
                  "since": {
                    "description": "When the first change was learned; what is older is not counted",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "changes": {
                    "type": "integer",
                    "description": "Messages with news about a purchase that no earlier message had: the denominator"
                  },
                  "pushed": { "$ref": "#/components/schemas/ArrivalWay" },
                  "asked": { "$ref": "#/components/schemas/ArrivalWay" },
                  "device": { "$ref": "#/components/schemas/ArrivalWay" },
                  "timeToHeal": { "$ref": "#/components/schemas/Delays" },
                  "earlier": { "type": "integer", "description": "Changes from before `since`" }
                }
              },
              "ArrivalWay": {
                "type": "object",
                "required": ["count", "of", "share", "delay"],
                "properties": {
                  "count": { "type": "integer", "description": "Changes that came this way first" },
                  "of": { "type": "integer" },
                  "share": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                  "delay": { "$ref": "#/components/schemas/Delays" }
                }
              },
              "Delays": {
                "type": "object",
                "description": "At most 0.2 % below the true quantile",
                "required": ["of", "medianSeconds", "p95Seconds"],
                "properties": {
                  "of": { "type": "integer" },
                  "medianSeconds": { "oneOf": [{ "type": "number" }, { "type": "null" }] },
                  "p95Seconds": { "oneOf": [{ "type": "number" }, { "type": "null" }] }
                }
              },
              "BackfillRun": {
                "type": "object",
                "required": [
                  "app", "environment", "store", "status", "startedAt", "endedAt", "step", "stopped",
                  "steps"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "store": { "type": "string", "enum": ["appStore", "googlePlay"] },
                  "status": { "type": "string", "enum": ["running", "completed", "stopped"] },
                  "startedAt": { "$ref": "#/components/schemas/Instant" },
                  "endedAt": { "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }] },
                  "step": {
                    "oneOf": [
                      {
                        "type": "string",
                        "enum": [
                          "failedNotifications", "notifications", "statuses", "refunds", "purchases",
                          "voidedPurchases"
                        ]
                      },
                      { "type": "null" }
                    ]
                  },
                  "stopped": {
                    "description": "Why it ended early; it resumes where it stopped",
                    "oneOf": [
                      {
                        "type": "object",
                        "required": ["code", "detail", "retryAt"],
                        "properties": {
                          "code": { "type": "string" },
                          "detail": { "type": "string" },
                          "retryAt": {
                            "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                          }
                        }
                      },
                      { "type": "null" }
                    ]
                  },
                  "steps": {
                    "type": "object",
                    "description": "By step: pages, items, known, refused, newFacts, until",
                    "additionalProperties": { "type": "object" }
                  }
                }
              },
              "PolicyVersion": {
                "type": "object",
                "description": "The version of catalogue and policy that decides the instant asked about",
                "required": ["fingerprint", "effectiveAt"],
                "properties": {
                  "fingerprint": { "type": "string" },
                  "effectiveAt": {
                    "description": "Since when it decides; null for the first version that was recorded, which also decides everything before",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  }
                }
              },
              "Explanation": {
                "type": "object",
                "required": [
                  "app", "customer", "environment", "asOf", "asKnownAt", "policyVersion", "entitlements",
                  "drift", "lockouts", "prompt"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "asKnownAt": {
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "reconciledAt": {
                    "description": "When a device first presented all that it had; null where none did",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "policyVersion": { "$ref": "#/components/schemas/PolicyVersion" },
                  "entitlements": {
                    "type": "object",
                    "description": "By name: decision, why, used, setAside, others, next and reply",
                    "additionalProperties": { "type": "object" }
                  },
                  "drift": {
                    "type": "array",
                    "description": "Open, or healed within thirty days; newest first",
                    "items": { "$ref": "#/components/schemas/Drift" }
                  },
                  "lockouts": {
                    "type": "object",
                    "description": "By entitlement, of all purchases held: minutes as in the report",
                    "additionalProperties": { "type": "object" }
                  },
                  "prompt": {
                    "type": "object",
                    "description": "Whether a prompt is shown or held back, why, and those shown before, latest first",
                    "required": ["kind", "heldBy", "heldUntil", "sentence", "shown"],
                    "properties": {
                      "kind": {
                        "oneOf": [{ "type": "string", "enum": ["soft", "hard"] }, { "type": "null" }]
                      },
                      "heldBy": {
                        "oneOf": [
                          { "type": "string", "enum": ["quiet", "interval", "perDay", "store"] },
                          { "type": "null" }
                        ],
                        "description": "The part of `policy.prompts` that holds it back, or the store's own message"
                      },
                      "heldUntil": {
                        "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                      },
                      "sentence": { "type": "string" },
                      "shown": {
                        "type": "array", "items": { "$ref": "#/components/schemas/ShownPrompt" }
                      }
                    }
                  },
                  "sandbox": {
                    "description": "Whether purchases of the sandbox answer for production, and why; null where that is not asked",
                    "oneOf": [
                      {
                        "type": "object",
                        "required": ["ruling", "answers", "sentence"],
                        "properties": {
                          "ruling": { "type": "string" },
                          "answers": { "type": "boolean" },
                          "sentence": { "type": "string" }
                        }
                      },
                      { "type": "null" }
                    ]
                  },
                  "purchases": {
                    "type": "array", "items": { "type": "object" },
                    "description": "Each purchase with all its owners"
                  },
                  "aliases": { "type": "array", "items": { "$ref": "#/components/schemas/Alias" } }
                }
              },
              "CustomerTimeline": {
                "type": "object",
                "required": [
                  "app", "customer", "environment", "asOf", "asKnownAt", "policyVersion", "entitlements",
                  "deadlines"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "asKnownAt": {
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "reconciledAt": {
                    "description": "When a device first presented all that it had; null where none did",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "policyVersion": { "$ref": "#/components/schemas/PolicyVersion" },
                  "entitlements": {
                    "type": "object",
                    "description": "By name: spans lived through, spans expected, and transitions, oldest first",
                    "additionalProperties": { "type": "object" }
                  },
                  "deadlines": {
                    "type": "array",
                    "description": "What falls due after `asOf`, earliest first: id, kind, at, lineage, productId",
                    "items": { "type": "object" }
                  }
                }
              },
              "Events": {
                "type": "object",
                "required": ["events", "next", "more"],
                "properties": {
                  "events": {
                    "type": "array",
                    "items": { "$ref": "#/components/schemas/Event" }
                  },
                  "next": {
                    "type": ["string", "null"],
                    "description": "Send it as `after` to continue; null until there is an event"
                  },
                  "more": {
                    "type": "boolean",
                    "description": "Whether another page is there already"
                  }
                }
              },
              "Event": {
                "description": "By kind. More kinds may be added: ignore those that you do not know, but not their `answer`",
                "oneOf": [
                  { "$ref": "#/components/schemas/EntitlementChangedEvent" },
                  { "$ref": "#/components/schemas/TransitionEvent" },
                  { "$ref": "#/components/schemas/ReminderEvent" },
                  { "$ref": "#/components/schemas/MessageDueEvent" },
                  { "$ref": "#/components/schemas/PurchaseMovedEvent" },
                  { "$ref": "#/components/schemas/CorrectedEvent" }
                ],
                "discriminator": {
                  "propertyName": "kind",
                  "mapping": {
                    "entitlement_changed": "#/components/schemas/EntitlementChangedEvent",
                    "started": "#/components/schemas/TransitionEvent",
                    "resubscribed": "#/components/schemas/TransitionEvent",
                    "trial_started": "#/components/schemas/TransitionEvent",
                    "trial_converted": "#/components/schemas/TransitionEvent",
                    "renewed": "#/components/schemas/TransitionEvent",
                    "product_changed": "#/components/schemas/TransitionEvent",
                    "cancelled": "#/components/schemas/TransitionEvent",
                    "trial_cancelled": "#/components/schemas/TransitionEvent",
                    "uncancelled": "#/components/schemas/TransitionEvent",
                    "paused": "#/components/schemas/TransitionEvent",
                    "resumed": "#/components/schemas/TransitionEvent",
                    "billing_issue_entered": "#/components/schemas/TransitionEvent",
                    "grace_ended": "#/components/schemas/TransitionEvent",
                    "billing_issue_recovered": "#/components/schemas/TransitionEvent",
                    "recovered_by_new_purchase": "#/components/schemas/TransitionEvent",
                    "refunded": "#/components/schemas/TransitionEvent",
                    "refund_reversed": "#/components/schemas/TransitionEvent",
                    "revoked": "#/components/schemas/TransitionEvent",
                    "reinstated": "#/components/schemas/TransitionEvent",
                    "expired": "#/components/schemas/TransitionEvent",
                    "trial_ended": "#/components/schemas/TransitionEvent",
                    "cleanup_due": "#/components/schemas/TransitionEvent",
                    "trial_ending": "#/components/schemas/ReminderEvent",
                    "grace_ending": "#/components/schemas/ReminderEvent",
                    "message_due": "#/components/schemas/MessageDueEvent",
                    "purchase_moved": "#/components/schemas/PurchaseMovedEvent",
                    "corrected": "#/components/schemas/CorrectedEvent"
                  }
                }
              },
              "EntitlementChangedEvent": {
                "type": "object",
                "description": "A member of an entitlement's `answer` changed, as of `effectiveAt`",
                "required": [
                  "id", "kind", "effectiveAt", "customer", "environment", "customerVersion", "data"
                ],
                "properties": {
                  "id": { "$ref": "#/components/schemas/EventID" },
                  "kind": {
                    "type": "string",
                    "enum": [
                      "entitlement_changed"
                    ]
                  },
                  "effectiveAt": { "$ref": "#/components/schemas/Instant" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "customerVersion": { "$ref": "#/components/schemas/CustomerVersion" },
                  "data": { "$ref": "#/components/schemas/EntitlementChange" }
                }
              },
              "TransitionEvent": {
                "type": "object",
                "description": "Something happened to a purchase",
                "required": [
                  "id", "kind", "effectiveAt", "customer", "environment", "customerVersion", "data"
                ],
                "properties": {
                  "id": { "$ref": "#/components/schemas/EventID" },
                  "kind": {
                    "type": "string",
                    "enum": [
                      "started", "resubscribed", "trial_started", "trial_converted", "renewed",
                      "product_changed", "cancelled", "trial_cancelled", "uncancelled", "paused",
                      "resumed", "billing_issue_entered", "grace_ended",
                      "billing_issue_recovered", "recovered_by_new_purchase", "refunded",
                      "refund_reversed", "revoked", "reinstated", "expired", "trial_ended",
                      "cleanup_due"
                    ]
                  },
                  "effectiveAt": { "$ref": "#/components/schemas/Instant" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "customerVersion": { "$ref": "#/components/schemas/CustomerVersion" },
                  "data": { "$ref": "#/components/schemas/Transition" }
                }
              },
              "ReminderEvent": {
                "type": "object",
                "description": "An end is near, by `policy.reminders`",
                "required": [
                  "id", "kind", "effectiveAt", "customer", "environment", "customerVersion", "data"
                ],
                "properties": {
                  "id": { "$ref": "#/components/schemas/EventID" },
                  "kind": {
                    "type": "string",
                    "enum": [
                      "trial_ending", "grace_ending"
                    ]
                  },
                  "effectiveAt": { "$ref": "#/components/schemas/Instant" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "customerVersion": { "$ref": "#/components/schemas/CustomerVersion" },
                  "data": { "$ref": "#/components/schemas/Reminder" }
                }
              },
              "MessageDueEvent": {
                "type": "object",
                "description": "A planned message is due, by `policy.plan`",
                "required": [
                  "id", "kind", "effectiveAt", "customer", "environment", "customerVersion", "data"
                ],
                "properties": {
                  "id": { "$ref": "#/components/schemas/EventID" },
                  "kind": {
                    "type": "string",
                    "enum": [
                      "message_due"
                    ]
                  },
                  "effectiveAt": { "$ref": "#/components/schemas/Instant" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "customerVersion": { "$ref": "#/components/schemas/CustomerVersion" },
                  "data": { "$ref": "#/components/schemas/MessageDue" }
                }
              },
              "PurchaseMovedEvent": {
                "type": "object",
                "description": "A purchase came from another customer",
                "required": [
                  "id", "kind", "effectiveAt", "customer", "environment", "customerVersion", "data"
                ],
                "properties": {
                  "id": { "$ref": "#/components/schemas/EventID" },
                  "kind": {
                    "type": "string",
                    "enum": [
                      "purchase_moved"
                    ]
                  },
                  "effectiveAt": { "$ref": "#/components/schemas/Instant" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "customerVersion": { "$ref": "#/components/schemas/CustomerVersion" },
                  "data": { "$ref": "#/components/schemas/PurchaseMove" }
                }
              },
              "CorrectedEvent": {
                "type": "object",
                "description": "An event that was sent did not happen after all",
                "required": [
                  "id", "kind", "effectiveAt", "customer", "environment", "customerVersion", "data"
                ],
                "properties": {
                  "id": { "$ref": "#/components/schemas/EventID" },
                  "kind": {
                    "type": "string",
                    "enum": [
                      "corrected"
                    ]
                  },
                  "effectiveAt": { "$ref": "#/components/schemas/Instant" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "customerVersion": { "$ref": "#/components/schemas/CustomerVersion" },
                  "data": { "$ref": "#/components/schemas/Correction" }
                }
              },
              "EntitlementChange": {
                "type": "object",
                "required": [
                  "app", "customer", "environment", "entitlement", "at", "from", "to"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "entitlement": { "type": "string" },
                  "at": { "$ref": "#/components/schemas/Instant" },
                  "from": {
                    "description": "The answer before; null where there was none",
                    "oneOf": [{ "$ref": "#/components/schemas/Entitlement" }, { "type": "null" }]
                  },
                  "to": {
                    "description": "The answer from `at` on; null where the catalogue has the entitlement no more",
                    "oneOf": [{ "$ref": "#/components/schemas/Entitlement" }, { "type": "null" }]
                  },
                  "answer": { "$ref": "#/components/schemas/EventAnswer" }
                }
              },
              "Transition": {
                "type": "object",
                "required": [
                  "app", "customer", "environment", "id", "kind", "at", "learnedAt", "lineage",
                  "state", "reason", "confidence", "entitlements", "familyShared", "evidence"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "id": { "$ref": "#/components/schemas/HappeningID" },
                  "kind": { "type": "string" },
                  "at": { "$ref": "#/components/schemas/Instant" },
                  "learnedAt": { "$ref": "#/components/schemas/Instant" },
                  "lineage": { "$ref": "#/components/schemas/Lineage" },
                  "state": { "$ref": "#/components/schemas/State" },
                  "reason": { "type": "string" },
                  "confidence": { "$ref": "#/components/schemas/Confidence" },
                  "productId": { "type": "string" },
                  "previousProductId": { "type": "string" },
                  "entitlements": {
                    "type": "array",
                    "description": "What the product unlocks, or the one before it did",
                    "items": { "type": "string" }
                  },
                  "from": {
                    "type": "string",
                    "description": "Whether a billing issue ended in grace or in hold",
                    "enum": ["grace", "hold"]
                  },
                  "money": { "$ref": "#/components/schemas/Milliunits" },
                  "durationMilliseconds": { "type": "integer" },
                  "keepArtifactsUntil": { "$ref": "#/components/schemas/Instant" },
                  "recoveredBy": { "$ref": "#/components/schemas/Lineage" },
                  "storefront": { "type": "string" },
                  "familyShared": { "type": "boolean" },
                  "evidence": {
                    "type": "array",
                    "description": "The digests of what it was read from",
                    "items": { "type": "string" }
                  },
                  "answer": { "$ref": "#/components/schemas/EventAnswer" }
                }
              },
              "Reminder": {
                "type": "object",
                "required": [
                  "app", "customer", "environment", "id", "kind", "at", "lineage", "endsAt"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "id": { "$ref": "#/components/schemas/HappeningID" },
                  "kind": { "type": "string" },
                  "at": { "$ref": "#/components/schemas/Instant" },
                  "lineage": { "$ref": "#/components/schemas/Lineage" },
                  "productId": { "type": "string" },
                  "endsAt": { "$ref": "#/components/schemas/Instant" },
                  "answer": { "$ref": "#/components/schemas/EventAnswer" }
                }
              },
              "PurchaseMove": {
                "type": "object",
                "required": [
                  "app", "customer", "environment", "id", "kind", "at", "lineage", "why"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "id": { "$ref": "#/components/schemas/HappeningID" },
                  "kind": { "type": "string" },
                  "at": { "$ref": "#/components/schemas/Instant" },
                  "lineage": { "$ref": "#/components/schemas/Lineage" },
                  "why": { "type": "string", "enum": ["transferred", "moved"] },
                  "answer": { "$ref": "#/components/schemas/EventAnswer" }
                }
              },
              "MessageDue": {
                "type": "object",
                "required": [
                  "app", "customer", "environment", "id", "kind", "about", "channel", "at", "until",
                  "lineage", "entitlements", "key", "arguments", "title", "message"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "id": { "$ref": "#/components/schemas/HappeningID" },
                  "kind": { "type": "string" },
                  "about": { "$ref": "#/components/schemas/MessageOccasion" },
                  "channel": { "$ref": "#/components/schemas/MessageChannel" },
                  "at": { "$ref": "#/components/schemas/Instant" },
                  "until": { "$ref": "#/components/schemas/Instant" },
                  "lineage": { "$ref": "#/components/schemas/Lineage" },
                  "productId": { "type": "string" },
                  "entitlements": { "type": "array", "items": { "type": "string" } },
                  "key": { "$ref": "#/components/schemas/WordsKey" },
                  "arguments": { "$ref": "#/components/schemas/Arguments" },
                  "title": { "type": "string" },
                  "message": { "type": "string" },
                  "label": { "type": "string" },
                  "experiment": { "$ref": "#/components/schemas/AssignedArm" },
                  "answer": { "$ref": "#/components/schemas/EventAnswer" }
                }
              },
              "PlannedMessage": {
                "type": "object",
                "description": "A message that the customer should be shown or sent from `at` until `until`",
                "required": [
                  "id", "about", "channel", "at", "until", "entitlements", "key", "arguments"
                ],
                "properties": {
                  "id": { "$ref": "#/components/schemas/HappeningID" },
                  "about": { "$ref": "#/components/schemas/MessageOccasion" },
                  "channel": { "$ref": "#/components/schemas/MessageChannel" },
                  "at": { "$ref": "#/components/schemas/Instant" },
                  "until": { "$ref": "#/components/schemas/Instant" },
                  "entitlements": { "type": "array", "items": { "type": "string" } },
                  "key": { "$ref": "#/components/schemas/WordsKey" },
                  "arguments": { "$ref": "#/components/schemas/Arguments" },
                  "experiment": { "$ref": "#/components/schemas/AssignedArm" }
                }
              },
              "MessageOccasion": {
                "type": "string",
                "enum": [
                  "trialEnding", "graceEntered", "graceEnding", "holdEntered", "recovered",
                  "priceConsent", "cleanupDue"
                ]
              },
              "MessageChannel": {
                "type": "string",
                "enum": ["app", "message"],
                "description": "Shown in the app, or sent by the back end"
              },
              "Correction": {
                "type": "object",
                "required": [
                  "app", "customer", "environment", "id", "kind", "undone"
                ],
                "properties": {
                  "app": { "type": "string" },
                  "customer": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "id": { "$ref": "#/components/schemas/HappeningID" },
                  "kind": { "type": "string" },
                  "undone": {
                    "type": "string",
                    "description": "The `data.id` of the event that did not happen after all"
                  },
                  "answer": { "$ref": "#/components/schemas/EventAnswer" }
                }
              },
              "EventAnswer": {
                "type": "object",
                "description": "What is answered at `customerVersion`, by entitlement. Absent from events that earlier versions stored: read the customer instead",
                "additionalProperties": { "$ref": "#/components/schemas/MirroredEntitlement" }
              },
              "MirroredEntitlement": {
                "type": "object",
                "description": "The members of the entitlement's answer that a mirror keeps",
                "required": [
                  "access", "state", "reason", "confidence", "productId", "store", "accessUntil",
                  "graceUntil", "willRenew"
                ],
                "properties": {
                  "access": { "type": "boolean" },
                  "state": { "$ref": "#/components/schemas/State" },
                  "reason": { "type": "string" },
                  "confidence": { "$ref": "#/components/schemas/Confidence" },
                  "productId": { "type": ["string", "null"] },
                  "store": { "type": ["string", "null"] },
                  "accessUntil": {
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "graceUntil": {
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "willRenew": { "type": ["boolean", "null"] }
                }
              },
              "Lineage": {
                "type": "object",
                "required": ["store", "environment", "id", "ownership"],
                "properties": {
                  "store": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "id": { "type": "string" },
                  "ownership": { "type": "string", "enum": ["purchased", "familyShared"] }
                }
              },
              "EventID": { "type": "string", "description": "Its place in the feed" },
              "HappeningID": {
                "type": "string",
                "description": "The same whenever the same happening is reported"
              },
              "CustomerVersion": {
                "type": "integer",
                "description": "The version of the customer's answer that the event was stored with. A greater one is newer"
              },
              "Environment": { "type": "string", "enum": ["production", "sandbox", "simulated"] },
              "State": { "type": "string", "enum": ["active", "grace", "hold", "expired", "never"] },
              "Confidence": { "type": "string", "enum": ["confirmed", "presumed", "unknown"] },
              "Milliunits": {
                "type": "object",
                "required": ["milliunits", "currency"],
                "properties": {
                  "milliunits": {
                    "type": "integer", "description": "Thousandths of the currency's unit"
                  },
                  "currency": { "type": "string" }
                }
              },
              "Entitlement": {
                "type": "object",
                "required": [
                  "state", "reason", "access", "confidence", "rule", "productId", "store", "accessUntil",
                  "graceUntil", "willRenew", "trial", "pending", "nextChange", "keepArtifactsUntil", "advice",
                  "words", "trialOffer", "chargedTwice"
                ],
                "properties": {
                  "state": {
                    "type": "string",
                    "enum": ["active", "grace", "hold", "expired", "never"]
                  },
                  "reason": {
                    "type": "string",
                    "description": "Why the state is what it is; more may be added",
                    "examples": [
                      "trial", "introductory", "offer", "paid", "prepaid", "lifetime", "granted",
                      "renewalDue", "billingIssue", "keptByPolicy", "billingRetry",
                      "accountHold", "paused", "cancelled", "billingError", "priceIncrease",
                      "productUnavailable", "ended", "refunded", "familyAccessRemoved",
                      "assignmentRemoved", "revoked", "changedProduct", "replaced",
                      "unconfirmed", "unlinked", "notStarted", "pending", "calledOff",
                      "notEntitled", "unknown", "unknownProduct"
                    ]
                  },
                  "access": {
                    "type": "boolean",
                    "description": "The one member that an app must obey"
                  },
                  "confidence": {
                    "type": "string",
                    "description": "`presumed` is assumed within a stated bound; `unknown` could not be found out",
                    "enum": ["confirmed", "presumed", "unknown"]
                  },
                  "rule": {
                    "type": "string",
                    "description": "The rule that decided; more may be added",
                    "examples": [
                      "no-facts", "pending", "called-off", "unlinked", "not-started", "replaced",
                      "revoked", "prepaid", "cancelled", "in-term", "superseded",
                      "renewed-unseen", "ended-stated", "in-grace", "grace-unstated",
                      "grace-presumed", "retry-kept", "in-retry", "not-renewed", "on-hold",
                      "hold-presumed", "paused", "resume-due", "renewal-due", "silent-grace",
                      "store-unreachable", "unconfirmed", "expired", "ended"
                    ]
                  },
                  "productId": { "type": ["string", "null"] },
                  "store": { "type": ["string", "null"], "examples": ["appStore", "googlePlay"] },
                  "accessUntil": {
                    "description": "The end of unbroken confirmed access; null with access is for ever",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "graceUntil": {
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "willRenew": {
                    "type": ["boolean", "null"],
                    "description": "Null when the store has not said"
                  },
                  "trial": {
                    "description": "While one runs",
                    "oneOf": [{ "$ref": "#/components/schemas/Trial" }, { "type": "null" }]
                  },
                  "pending": {
                    "type": "array",
                    "description": "Purchases not paid for yet",
                    "items": { "$ref": "#/components/schemas/PendingPurchase" }
                  },
                  "nextChange": {
                    "description": "When the answer next differs if the store says nothing more",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "keepArtifactsUntil": {
                    "description": "Where access has ended: until when to keep what the customer downloaded or made",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "advice": {
                    "description": "What the customer can do; null when there is nothing",
                    "oneOf": [{ "$ref": "#/components/schemas/Advice" }, { "type": "null" }]
                  },
                  "words": {
                    "description": "For a screen on this entitlement; null when all is well",
                    "oneOf": [{ "$ref": "#/components/schemas/Words" }, { "type": "null" }]
                  },
                  "trialOffer": {
                    "description": "The free trial that the products offer; null when none does",
                    "oneOf": [{ "$ref": "#/components/schemas/TrialOffer" }, { "type": "null" }]
                  },
                  "chargedTwice": {
                    "type": "array",
                    "description": "The purchases that each charge for it, when there are two",
                    "items": { "$ref": "#/components/schemas/Charge" }
                  }
                }
              },
              "PendingPurchase": {
                "type": "object",
                "required": ["productId", "store", "since"],
                "properties": {
                  "productId": { "type": "string" },
                  "store": { "type": "string" },
                  "since": { "$ref": "#/components/schemas/Instant" },
                  "until": { "$ref": "#/components/schemas/Instant" }
                }
              },
              "Advice": {
                "type": "object",
                "required": ["kind", "productId", "price", "chargedAt", "url"],
                "properties": {
                  "kind": {
                    "type": "string",
                    "enum": ["reEnableRenewal", "fixPayment", "purchase", "resume", "wait"],
                    "description": "On `wait` offer no purchase: the store has not reported everything"
                  },
                  "productId": { "type": ["string", "null"] },
                  "price": {
                    "description": "What is charged next, where known",
                    "oneOf": [{ "$ref": "#/components/schemas/Price" }, { "type": "null" }]
                  },
                  "chargedAt": {
                    "description": "When; null for at once",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "url": {
                    "type": ["string", "null"],
                    "description": "Where the store lets the customer do it"
                  }
                }
              },
              "Words": {
                "type": "object",
                "required": ["key", "arguments", "title", "message", "label"],
                "properties": {
                  "key": { "$ref": "#/components/schemas/WordsKey" },
                  "arguments": { "$ref": "#/components/schemas/Arguments" },
                  "title": { "type": "string" },
                  "message": { "type": "string" },
                  "label": {
                    "type": ["string", "null"],
                    "description": "For the button that does what is advised"
                  }
                }
              },
              "WordsKey": {
                "type": "string",
                "description": "For translations of the app's own; these never change, more may be added",
                "examples": [
                  "trial.offer", "trial.offer.unpriced", "trial.running", "trial.running.unpriced",
                  "trial.ending", "trial.ending.unpriced", "trial.cancelled", "cancelled",
                  "grace.soft", "grace.soft.undated", "grace.shared", "hold.hard", "hold.shared",
                  "hold.paused", "expired", "expired.unpriced", "expired.shared", "pending",
                  "unconfirmed", "charged.twice", "recovered", "price.consent"
                ]
              },
              "Arguments": {
                "type": "object",
                "description": "The values of a text's placeholders; each key always has the same ones",
                "properties": {
                  "until": { "$ref": "#/components/schemas/Instant" },
                  "endsAt": { "$ref": "#/components/schemas/Instant" },
                  "cancelBy": { "$ref": "#/components/schemas/Instant" },
                  "daysLeft": { "type": "integer" },
                  "trial": { "type": "string", "description": "A length in ISO 8601" },
                  "price": { "$ref": "#/components/schemas/Price" }
                }
              },
              "Price": {
                "type": "object",
                "required": ["milliunits", "currency", "period"],
                "properties": {
                  "milliunits": {
                    "type": "integer",
                    "description": "Thousandths of the currency's unit"
                  },
                  "currency": { "type": "string", "description": "ISO 4217" },
                  "period": {
                    "type": ["string", "null"],
                    "description": "How often, in ISO 8601; null for once"
                  }
                }
              },
              "TrialOffer": {
                "type": "object",
                "required": ["eligibility", "store", "productId", "length", "price"],
                "properties": {
                  "eligibility": {
                    "type": "string",
                    "enum": ["eligible", "used", "unknown"],
                    "description": "In this store, one introductory offer in a subscription group; on `unknown` ask the store"
                  },
                  "store": { "type": "string", "enum": ["appStore", "googlePlay"] },
                  "productId": { "type": "string" },
                  "length": { "type": "string", "description": "ISO 8601" },
                  "price": {
                    "description": "What follows, where the catalogue says",
                    "oneOf": [{ "$ref": "#/components/schemas/Price" }, { "type": "null" }]
                  }
                }
              },
              "Charge": {
                "type": "object",
                "required": ["store", "productId", "state", "url"],
                "properties": {
                  "store": { "type": "string" },
                  "productId": { "type": ["string", "null"] },
                  "state": { "type": "string", "enum": ["active", "grace", "hold"] },
                  "url": {
                    "type": ["string", "null"],
                    "description": "Where the customer can cancel it"
                  }
                }
              },
              "Trial": {
                "type": "object",
                "required": ["startedAt", "endsAt", "cancelBy", "daysLeft", "urgent"],
                "properties": {
                  "startedAt": { "$ref": "#/components/schemas/Instant" },
                  "endsAt": { "$ref": "#/components/schemas/Instant" },
                  "cancelBy": { "$ref": "#/components/schemas/Instant" },
                  "daysLeft": { "type": "integer" },
                  "urgent": { "type": "boolean", "description": "Whether `cancelBy` has passed" }
                }
              },
              "Prompt": {
                "type": "object",
                "description": "What to show a customer with a failed payment; only `kind` if it is `none`",
                "required": ["kind"],
                "properties": {
                  "kind": { "type": "string", "enum": ["none", "soft", "hard"] },
                  "entitlement": { "type": "string" },
                  "key": { "$ref": "#/components/schemas/WordsKey" },
                  "arguments": { "$ref": "#/components/schemas/Arguments" },
                  "title": { "type": "string" },
                  "message": { "type": "string" },
                  "action": {
                    "type": "object",
                    "required": ["label", "url"],
                    "properties": {
                      "label": { "type": "string" },
                      "url": { "type": "string", "format": "uri" }
                    }
                  },
                  "alternatives": {
                    "type": "array", "items": { "type": "string", "enum": ["openApp"] },
                    "description": "Other ways to fix the payment. `openApp`, for purchases on Google Play: open the app, which calls `BillingClient.showInAppMessages`; Google Play then shows its own message"
                  },
                  "experiment": { "$ref": "#/components/schemas/AssignedArm" }
                }
              },
              "SignedPayload": {
                "type": "object",
                "required": ["signedPayload"],
                "properties": {
                  "signedPayload": { "type": "string", "description": "A JWS in compact form" }
                }
              },
              "Keys": {
                "type": "object",
                "required": ["keys"],
                "properties": {
                  "keys": { "type": "array", "items": { "$ref": "#/components/schemas/Key" } }
                }
              },
              "Key": {
                "type": "object",
                "required": ["id", "kind", "apps", "name", "createdAt", "revokedAt"],
                "properties": {
                  "id": { "type": "string" },
                  "kind": { "type": "string", "enum": ["public", "secret", "viewer", "admin"] },
                  "apps": {
                    "type": "array",
                    "description": "The apps that it allows; empty for all apps",
                    "items": { "type": "string" }
                  },
                  "name": { "type": "string" },
                  "createdAt": { "$ref": "#/components/schemas/Instant" },
                  "revokedAt": {
                    "description": "When it was revoked; null while it is valid",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  }
                }
              },
              "NewKey": {
                "type": "object",
                "required": ["id", "kind", "apps", "name", "createdAt", "revokedAt", "key"],
                "properties": {
                  "id": { "type": "string" },
                  "kind": { "type": "string", "enum": ["public", "secret", "viewer", "admin"] },
                  "apps": {
                    "type": "array",
                    "description": "The apps that it allows; empty for all apps",
                    "items": { "type": "string" }
                  },
                  "name": { "type": "string" },
                  "createdAt": { "$ref": "#/components/schemas/Instant" },
                  "revokedAt": {
                    "description": "When it was revoked; null while it is valid",
                    "oneOf": [{ "$ref": "#/components/schemas/Instant" }, { "type": "null" }]
                  },
                  "key": { "type": "string", "description": "What `Authorization: Bearer` takes" }
                }
              },
              "KeyWish": {
                "type": "object",
                "required": ["kind"],
                "additionalProperties": false,
                "properties": {
                  "kind": { "type": "string", "enum": ["public", "secret", "viewer", "admin"] },
                  "apps": {
                    "type": "array",
                    "description": "Configured apps; all where it is left out or empty, as it must be for `admin`",
                    "items": { "type": "string" },
                    "uniqueItems": true
                  },
                  "name": { "type": "string", "maxLength": 100, "description": "For people" }
                }
              },
              "Receipt": {
                "type": "object",
                "required": ["status"],
                "properties": {
                  "status": {
                    "type": "string", "enum": ["committed", "duplicate", "ignored"],
                    "description": "`ignored`: of Google Play, and of an environment that the app does not serve"
                  },
                  "newFacts": { "type": "integer", "description": "With `committed`" }
                }
              },
              "Health": {
                "type": "object",
                "required": ["status", "version", "time"],
                "properties": {
                  "status": { "type": "string", "enum": ["ok"] },
                  "version": { "type": "string" },
                  "time": { "$ref": "#/components/schemas/Instant" }
                }
              },
              "Readiness": {
                "type": "object",
                "required": ["status", "checks"],
                "properties": {
                  "status": { "type": "string", "enum": ["ready"] },
                  "checks": {
                    "type": "object",
                    "required": ["storage"],
                    "properties": {
                      "storage": { "type": "string", "enum": ["ok"] },
                      "configuration": {
                        "type": "string",
                        "enum": ["same", "differs"],
                        "description": "Of several servers on one database: whether all have the same configuration"
                      },
                      "workers": {
                        "type": "string",
                        "enum": ["ok", "failing"],
                        "description": "Whether all background workers complete their rounds"
                      }
                    }
                  },
                  "workers": {
                    "type": "array",
                    "description": "The workers that do not; absent if there are none",
                    "items": { "$ref": "#/components/schemas/WorkerFinding" }
                  }
                }
              },
              "WorkerFinding": {
                "type": "object",
                "required": ["worker", "state", "seconds"],
                "properties": {
                  "worker": { "type": "string", "description": "The kind of work; more may be added" },
                  "app": { "type": "string" },
                  "environment": { "$ref": "#/components/schemas/Environment" },
                  "store": { "type": "string", "enum": ["appStore", "googlePlay"] },
                  "state": {
                    "type": "string",
                    "enum": ["failing", "stuck"],
                    "description": "`failing`: it failed and has not completed a round since. `stuck`: its round takes longer than one may"
                  },
                  "seconds": { "type": "integer", "description": "For how long" }
                }
              },
              "ProblemType": {
                "type": "object",
                "required": ["code", "status", "title", "meaning", "action"],
                "properties": {
                  "code": { "type": "string", "description": "The last segment of `type`" },
                  "status": { "type": "integer", "description": "The status of responses with it" },
                  "title": { "type": "string" },
                  "meaning": { "type": "string", "description": "What is wrong" },
                  "action": { "type": "string", "description": "What to do about it" }
                }
              },
              "Problem": {
                "type": "object",
                "description": "RFC 9457; further members depend on the type",
                "required": ["type", "title", "status"],
                "properties": {
                  "type": {
                    "type": "string",
                    "format": "uri-reference",
                    "description": "The URL of the problem's description, relative to the server. Its last segment is what a client may act on; these never change, more may be added",
                    "examples": [
                      "/problems/malformed-json",
                      "/problems/duplicate-key",
                      "/problems/too-deep",
                      "/problems/too-large",
                      "/problems/missing-member",
                      "/problems/malformed",
                      "/problems/unrecognised-content",
                      "/problems/not-a-notification",
                      "/problems/ambiguous-content",
                      "/problems/not-compact-jws",
                      "/problems/not-base64url",
                      "/problems/header-not-json",
                      "/problems/header-not-object",
                      "/problems/algorithm",
                      "/problems/forbidden-header",
                      "/problems/signature-length",
                      "/problems/signature",
                      "/problems/chain-missing",
                      "/problems/chain-malformed",
                      "/problems/chain-length",
                      "/problems/certificate-too-large",
                      "/problems/certificate-not-base64",
                      "/problems/certificate-malformed",
                      "/problems/untrusted-root",
                      "/problems/leaf-not-issued",
                      "/problems/certificate-algorithm",
                      "/problems/critical-extension",
                      "/problems/key-usage",
                      "/problems/marker-missing",
                      "/problems/not-an-authority",
                      "/problems/leaf-is-an-authority",
                      "/problems/authority-key",
                      "/problems/leaf-key",
                      "/problems/certificate-path",
                      "/problems/certificate-not-valid",
                      "/problems/certificate-revoked",
                      "/problems/wrong-bundle",
                      "/problems/wrong-app",
                      "/problems/environment-not-vouched-for",
                      "/problems/wrong-environment",
                      "/problems/nested-mismatch",
                      "/problems/too-old",
                      "/problems/signer-expired",
                      "/problems/signed-in-the-future",
                      "/problems/push-token-missing",
                      "/problems/push-token-malformed",
                      "/problems/push-token-algorithm",
                      "/problems/push-token-key-missing",
                      "/problems/push-token-key-unknown",
                      "/problems/push-token-signature",
                      "/problems/push-token-issuer",
                      "/problems/push-token-audience",
                      "/problems/push-token-sender",
                      "/problems/push-token-sender-unverified",
                      "/problems/push-token-undated",
                      "/problems/push-token-expired",
                      "/problems/push-token-future",
                      "/problems/wrong-package",
                      "/problems/push-keys-unavailable",
                      "/problems/store-not-asked",
                      "/problems/store-answer-not-understood",
                      "/problems/unknown-version",
                      "/problems/nothing-to-check",
                      "/problems/missing-authorization",
                      "/problems/wrong-authorization",
                      "/problems/missing-signature",
                      "/problems/malformed-signature",
                      "/problems/wrong-signature",
                      "/problems/untimely-signature",
                      "/problems/key-missing",
                      "/problems/key-unknown",
                      "/problems/key-not-allowed",
                      "/problems/unknown-key",
                      "/problems/unusable-configuration",
                      "/problems/nothing-to-reload",
                      "/problems/bad-key-request",
                      "/problems/unknown-webhook",
                      "/problems/unknown-event",
                      "/problems/bad-webhook-request",
                      "/problems/webhooks-not-sent",
                      "/problems/bad-reconcile-request",
                      "/problems/bad-prompt-report",
                      "/problems/unknown-member",
                      "/problems/too-many-items",
                      "/problems/bad-lookup",
                      "/problems/purchase-not-found",
                      "/problems/purchase-unclaimed",
                      "/problems/several-holders",
                      "/problems/bad-grant",
                      "/problems/bad-idempotency-key",
                      "/problems/idempotency-key-reused",
                      "/problems/too-many-grants",
                      "/problems/bad-store-action",
                      "/problems/idempotency-key-needed",
                      "/problems/unknown-purchase",
                      "/problems/store-rejected",
                      "/problems/store-action-not-sent",
                      "/problems/store-outcome-unknown",
                      "/problems/store-action-under-way",
                      "/problems/unknown-grant",
                      "/problems/grant-ended",
                      "/problems/bad-alias",
                      "/problems/alias-refused",
                      "/problems/bad-move",
                      "/problems/move-refused",
                      "/problems/store-did-not-answer",
                      "/problems/not-found",
                      "/problems/method-not-allowed",
                      "/problems/unknown-app",
                      "/problems/unknown-parameter",
                      "/problems/repeated-parameter",
                      "/problems/bad-flag",
                      "/problems/store-cannot-be-asked",
                      "/problems/app-store-not-configured",
                      "/problems/google-play-not-configured",
                      "/problems/revenuecat-not-configured",
                      "/problems/bad-import",
                      "/problems/app-needed",
                      "/problems/never-answered",
                      "/problems/bad-customer",
                      "/problems/unknown-environment",
                      "/problems/unknown-store",
                      "/problems/environment-not-served",
                      "/problems/bad-instant",
                      "/problems/bad-dimension",
                      "/problems/bad-report-parameter",
                      "/problems/bad-deadline-kind",
                      "/problems/bad-policy",
                      "/problems/bad-knowledge",
                      "/problems/bad-cursor",
                      "/problems/events-removed",
                      "/problems/bad-limit",
                      "/problems/too-many-changes",
                      "/problems/too-many-refusals",
                      "/problems/malformed-request",
                      "/problems/request-too-slow",
                      "/problems/body-too-large",
                      "/problems/content-encoding",
                      "/problems/head-too-large",
                      "/problems/too-many-fields",
                      "/problems/transfer-coding",
                      "/problems/internal",
                      "/problems/storage-unavailable",
                      "/problems/overloaded",
                      "/problems/reports-busy",
                      "/problems/backup-running",
                      "/problems/backup-unavailable",
                      "/problems/customer-changing",
                      "/problems/draining",
                      "/problems/not-ready",
                      "/problems/interrupted"
                    ]
                  },
                  "title": { "type": "string", "description": "The same for all of one type" },
                  "status": { "type": "integer" },
                  "detail": { "type": "string", "description": "What is wrong this time" }
                },
                "additionalProperties": true
              },
              "ImportPlace": {
                "type": "object", "required": ["mark", "lines"],
                "properties": {
                  "mark": { "type": ["string", "null"] },
                  "lines": { "type": "integer" }
                }
              },
              "Imported": {
                "type": "object", "required": ["read", "known", "refused", "newFacts", "lines"],
                "properties": {
                  "read": { "type": "integer", "description": "Lines that were understood" },
                  "known": { "type": "integer", "description": "Of these, those that were stored before" },
                  "refused": { "type": "integer" },
                  "newFacts": { "type": "integer" },
                  "lines": {
                    "type": "array",
                    "description": "Lines with a finding",
                    "items": {
                      "type": "object", "required": ["line", "verdict", "detail"],
                      "properties": {
                        "line": { "type": "integer", "description": "From 1" },
                        "verdict": { "type": "string", "enum": ["refused", "noted"] },
                        "reason": { "type": "string" },
                        "detail": { "type": "string" }
                      }
                    }
                  }
                }
              },
              "CustomerShadow": {
                "type": "object",
                "required": ["customer", "answers", "answeredAt", "evidence", "differences"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "app": { "type": "string" },
                  "environment": { "type": "string" },
                  "customer": { "type": "string" },
                  "answers": { "type": "integer", "description": "The number of stored RevenueCat responses" },
                  "answeredAt": { "$ref": "#/components/schemas/Instant" },
                  "evidence": { "type": "string", "description": "The answer compared" },
                  "lockoutMinutes": { "type": "number" },
                  "entitledMinutes": { "type": "number" },
                  "differences": {
                    "type": "array", "items": { "$ref": "#/components/schemas/ShadowDifference" }
                  }
                }
              },
              "ShadowDifference": {
                "type": "object",
                "required": ["entitlement", "kind", "rule", "detail", "lockoutMinutes", "evidence"],
                "properties": {
                  "entitlement": { "type": "string" },
                  "kind": {
                    "type": "string",
                    "enum": ["denied-here", "denied-there", "other-end", "not-in-catalogue", "other-environment"]
                  },
                  "rule": { "type": ["string", "null"], "description": "Ours that decided" },
                  "detail": { "type": "string" },
                  "lockoutMinutes": { "type": "number" },
                  "theirs": { "type": ["object", "null"] },
                  "ours": { "type": ["object", "null"] },
                  "evidence": {
                    "type": "array", "items": { "type": "string" },
                    "description": "What ours rests on"
                  }
                }
              },
              "ShadowReport": {
                "type": "object",
                "required": ["asOf", "app", "environment", "customers", "differing", "differences", "next", "more"],
                "properties": {
                  "asOf": { "$ref": "#/components/schemas/Instant" },
                  "app": { "type": "string" },
                  "environment": { "type": "string" },
                  "customers": { "type": "integer", "description": "Compared on this page" },
                  "differing": { "type": "integer" },
                  "lockoutMinutes": { "type": "number" },
                  "entitledMinutes": { "type": "number" },
                  "differences": {
                    "type": "array", "items": { "$ref": "#/components/schemas/CustomerShadow" }
                  },
                  "next": { "type": ["string", "null"] },
                  "more": { "type": "boolean" }
                }
              },
              "Instant": { "type": "string", "format": "date-time" }
            }
          }
        }
        """#
}
