/// Every problem type, in the order of docs/problems.md.
extension ProblemType {
    /// Every problem type, in the order of docs/problems.md.
    package static let all =
        notifications + pushes + webhooks + keys + customers + requests + failures

    /// Rejected signed data.
    private static let notifications: [ProblemType] = [
        ProblemType(
            "malformed-json",
            status: 400,
            title: "The document cannot be read.",
            meaning: "The body or the signed payload is not strict JSON.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "duplicate-key",
            status: 400,
            title: "The document cannot be read.",
            meaning: "A JSON object has a key twice, so two readers could read two values.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "too-deep",
            status: 400,
            title: "The document cannot be read.",
            meaning: "The JSON is nested deeper than 32 levels.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "too-large",
            status: 413,
            title: "The document cannot be read.",
            meaning: "The signed document is larger than 64 KiB.",
            action: "Send one notification or transaction per document."
        ),
        ProblemType(
            "missing-member",
            status: 400,
            title: "The notification cannot be read.",
            meaning: "A required member is absent; `detail` names it.",
            action:
                "Send the whole document. In App Store Connect, choose version 2 of notifications."
        ),
        ProblemType(
            "malformed",
            status: 400,
            title: "The notification cannot be read.",
            meaning: "A known field has the wrong type or is out of range; `detail` names it.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "unrecognised-content",
            status: 400,
            title: "The notification cannot be read.",
            meaning: "The content is signed, but is of no kind the App Store is known to send.",
            action: "Check what is sent to this URL."
        ),
        ProblemType(
            "not-a-notification",
            status: 400,
            title: "The notification cannot be read.",
            meaning: "The App Store signed it, but it is not a notification.",
            action: "Send transactions to `reconcile` instead."
        ),
        ProblemType(
            "ambiguous-content",
            status: 400,
            title: "The notification cannot be read.",
            meaning: "The notification is about more than one thing.",
            action: "Check what is sent to this URL."
        ),
        ProblemType(
            "not-compact-jws",
            status: 400,
            title: "The document cannot be read.",
            meaning: "The signed document is not a compact JWS: three parts separated by dots.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "not-base64url",
            status: 400,
            title: "The document cannot be read.",
            meaning: "A part of the signed document is not base64url.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "header-not-json",
            status: 400,
            title: "The document cannot be read.",
            meaning: "The header of the signed document is not JSON.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "header-not-object",
            status: 400,
            title: "The document cannot be read.",
            meaning: "The header of the signed document is not a JSON object.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "algorithm",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The signature uses an algorithm other than ES256.",
            action: "Check who sends this; the store does not."
        ),
        ProblemType(
            "forbidden-header",
            status: 401,
            title: "The signature is not valid.",
            meaning:
                "A header parameter would change which key to trust or how to read the document.",
            action: "Check who sends this; the store does not."
        ),
        ProblemType(
            "signature-length",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The signature does not have the length of an ES256 signature.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "signature",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The signature does not match the key and the content.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "chain-missing",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The document carries no certificates.",
            action: "Check who sends this; the App Store always adds them."
        ),
        ProblemType(
            "chain-malformed",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The list of certificates is not a list of strings.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "chain-length",
            status: 401,
            title: "The signature is not valid.",
            meaning: "There are not exactly three certificates.",
            action: "Check who sends this: the App Store sends three, Xcode's test store one."
        ),
        ProblemType(
            "certificate-too-large",
            status: 401,
            title: "The signature is not valid.",
            meaning: "A certificate is too large.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "certificate-not-base64",
            status: 401,
            title: "The signature is not valid.",
            meaning: "A certificate is not base64.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "certificate-malformed",
            status: 401,
            title: "The signature is not valid.",
            meaning: "A certificate is not X.509 version 3 in strict DER.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "untrusted-root",
            status: 401,
            title: "The signature is not valid.",
            meaning: "No pinned root signed the intermediate certificate.",
            action: "Xcode and other stores sign so; for a simulated store configure its root."
        ),
        ProblemType(
            "leaf-not-issued",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The intermediate certificate did not sign the leaf certificate.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "certificate-algorithm",
            status: 401,
            title: "The signature is not valid.",
            meaning: "A certificate is signed with an algorithm that is not accepted.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "critical-extension",
            status: 401,
            title: "The signature is not valid.",
            meaning: "A certificate has a critical extension that is not understood.",
            action: "Check for a newer version of Tideover."
        ),
        ProblemType(
            "key-usage",
            status: 401,
            title: "The signature is not valid.",
            meaning: "A certificate's key may not be used to sign this.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "marker-missing",
            status: 401,
            title: "The signature is not valid.",
            meaning: "A certificate lacks the extension that marks the App Store's signers.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "not-an-authority",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The intermediate certificate is not a certificate authority.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "leaf-is-an-authority",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The leaf certificate is a certificate authority.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "authority-key",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The key of a certificate authority is of an unexpected kind.",
            action: "Check for a newer version of Tideover."
        ),
        ProblemType(
            "leaf-key",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The key of the leaf certificate is of an unexpected kind.",
            action: "Check for a newer version of Tideover."
        ),
        ProblemType(
            "certificate-path",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The chain breaks another rule of RFC 5280; `detail` has OpenSSL's message.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "certificate-not-valid",
            status: 401,
            title: "The signature is not valid.",
            meaning: "A certificate was not valid when the message was signed.",
            action: "Check who sends this; the App Store does not."
        ),
        ProblemType(
            "certificate-revoked",
            status: 401,
            title: "The signature is not valid.",
            meaning: "The issuer revoked a certificate of the signer.",
            action: "Check who sends this; run `tideover doctor`."
        ),
        ProblemType(
            "wrong-bundle",
            status: 422,
            title: "The notification is not for this app.",
            meaning: "The message is signed for another bundle id.",
            action: "Correct the URL in App Store Connect, or `appStore.bundleId`."
        ),
        ProblemType(
            "wrong-app",
            status: 422,
            title: "The notification is not for this app.",
            meaning: "The message is signed for another App Store app id.",
            action: "Correct the URL in App Store Connect, or `appStore.appAppleId`."
        ),
        ProblemType(
            "environment-not-vouched-for",
            status: 422,
            title: "The notification is not for this app.",
            meaning: "The signer does not vouch for the environment that the message claims.",
            action: "Check who sends this; the store does not."
        ),
        ProblemType(
            "wrong-environment",
            status: 422,
            title: "The notification is not for this app.",
            meaning: "The app is not served in the message's environment.",
            action: "Add it to `environments`, or correct the URL in the console."
        ),
        ProblemType(
            "nested-mismatch",
            status: 422,
            title: "The notification is not for this app.",
            meaning:
                "A signed part disagrees with its surroundings on app, environment or subscription.",
            action: "Send what the store sent, unchanged."
        ),
        ProblemType(
            "too-old",
            status: 410,
            title: "The notification is too old.",
            meaning: "The message is older than anything the App Store repeats or lists.",
            action: "None is needed: the store has newer messages."
        ),
        ProblemType(
            "signer-expired",
            status: 410,
            title: "The signing certificate has expired.",
            meaning:
                "Over 7 days old, not known by its id, and its signing certificate has expired.",
            action: "Run `tideover backfill`: it finds what is missing."
        ),
        ProblemType(
            "signed-in-the-future",
            status: 503,
            title: "The notification is dated in the future.",
            meaning: "The message is dated over five minutes ahead of the server's clock.",
            action: "Correct the server's clock; the store retries."
        ),
    ]

    /// Rejected pushes of Google Play.
    private static let pushes: [ProblemType] = [
        ProblemType(
            "push-token-missing",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The push carries no token.",
            action: "Enable authentication in the Pub/Sub push subscription."
        ),
        ProblemType(
            "push-token-malformed",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The token is not a JSON Web Token.",
            action: "Check who sends this; Pub/Sub does not."
        ),
        ProblemType(
            "push-token-algorithm",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The token is not signed with RS256.",
            action: "Check who sends this; Pub/Sub does not."
        ),
        ProblemType(
            "push-token-key-missing",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The token does not name its key.",
            action: "Check who sends this; Pub/Sub does not."
        ),
        ProblemType(
            "push-token-key-unknown",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The token names a key that Google does not publish.",
            action: "Check who sends this; Pub/Sub does not."
        ),
        ProblemType(
            "push-token-signature",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The token's signature does not match Google's key.",
            action: "Check who sends this; Pub/Sub does not."
        ),
        ProblemType(
            "push-token-issuer",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "Google did not issue the token.",
            action: "Check who sends this; Pub/Sub does not."
        ),
        ProblemType(
            "push-token-audience",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The token has another audience than `googlePlay.push.audience`.",
            action: "Make the two equal."
        ),
        ProblemType(
            "push-token-sender",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The token is of another account than `googlePlay.push.email`.",
            action: "Make the two equal."
        ),
        ProblemType(
            "push-token-sender-unverified",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "Google has not verified the sender's address.",
            action: "Use a service account for the push subscription."
        ),
        ProblemType(
            "push-token-undated",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The token has no time of issue or expiry.",
            action: "Check who sends this; Pub/Sub does not."
        ),
        ProblemType(
            "push-token-expired",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The token has expired.",
            action: "Check the server's clock."
        ),
        ProblemType(
            "push-token-future",
            status: 401,
            title: "The push is not authenticated.",
            meaning: "The token is not valid yet.",
            action: "Check the server's clock."
        ),
        ProblemType(
            "wrong-package",
            status: 422,
            title: "The notification is not for this app.",
            meaning: "The notification is for another package.",
            action: "Correct the push subscription, or `googlePlay.packageName`."
        ),
        ProblemType(
            "push-keys-unavailable",
            status: 503,
            title: "The push cannot be verified now.",
            meaning: "Google's public keys cannot be fetched.",
            action: "Check the network; Pub/Sub sends the push again."
        ),
        ProblemType(
            "store-not-asked",
            status: 503,
            title: "Google Play did not answer.",
            meaning: "The Play Developer API did not answer; `detail` says why.",
            action: "See `tideover doctor`; Pub/Sub sends the push again."
        ),
        ProblemType(
            "store-answer-not-understood",
            status: 503,
            title: "Google Play's response is not understood.",
            meaning: "The Play Developer API's response lacks something; `detail` says what.",
            action: "Check for a newer version of Tideover."
        ),
    ]

    /// Rejected webhooks of RevenueCat.
    private static let webhooks: [ProblemType] = [
        ProblemType(
            "unknown-version",
            status: 400,
            title: "The notification cannot be read.",
            meaning: "The event has a version that this version of Tideover does not know.",
            action: "Check for a newer version of Tideover."
        ),
        ProblemType(
            "nothing-to-check",
            status: 401,
            title: "The webhook is not authenticated.",
            meaning: "Neither `webhookAuthorizationFile` nor `signatureSecretFile` is set.",
            action: "Set one of them under `revenueCat`."
        ),
        ProblemType(
            "missing-authorization",
            status: 401,
            title: "The webhook is not authenticated.",
            meaning: "The `Authorization` header is absent.",
            action: "Set it for the webhook in RevenueCat."
        ),
        ProblemType(
            "wrong-authorization",
            status: 401,
            title: "The webhook is not authenticated.",
            meaning: "The `Authorization` header is not the configured one, or is repeated.",
            action: "Make `webhookAuthorizationFile` and RevenueCat's setting equal."
        ),
        ProblemType(
            "missing-signature",
            status: 401,
            title: "The webhook is not authenticated.",
            meaning: "A signature secret is configured, and the webhook is not signed.",
            action: "Enable signing in RevenueCat."
        ),
        ProblemType(
            "malformed-signature",
            status: 401,
            title: "The webhook is not authenticated.",
            meaning: "The signature header is malformed.",
            action: "Check who sends this; RevenueCat does not."
        ),
        ProblemType(
            "wrong-signature",
            status: 401,
            title: "The webhook is not authenticated.",
            meaning: "The webhook is not signed with the configured secret.",
            action: "Make `signatureSecretFile` and RevenueCat's secret equal."
        ),
        ProblemType(
            "untimely-signature",
            status: 401,
            title: "The webhook is not authenticated.",
            meaning: "The signature is more than three hours away from the server's clock.",
            action: "Check the server's clock."
        ),
    ]

    /// API keys and the configuration.
    private static let keys: [ProblemType] = [
        ProblemType(
            "key-missing",
            status: 401,
            title: "Missing API key.",
            meaning: "The request has no API key.",
            action: "Send `Authorization: Bearer KEY`; `tideover keys add` creates keys."
        ),
        ProblemType(
            "key-unknown",
            status: 401,
            title: "Invalid API key.",
            meaning: "The key is malformed, unknown or revoked; the response does not say which.",
            action: "Create one with `tideover keys add`."
        ),
        ProblemType(
            "key-not-allowed",
            status: 403,
            title: "API key not allowed here.",
            meaning: "The key is of another kind than the route takes, or is for another app.",
            action: "Use a key of one of `kinds`, made for this app."
        ),
        ProblemType(
            "unknown-key",
            status: 404,
            title: "There is no such key.",
            meaning: "No key has this id.",
            action: "List the ids with `tideover keys list`."
        ),
        ProblemType(
            "unusable-configuration",
            status: 422,
            title: "The configuration was not reloaded.",
            meaning: "The configuration was not reloaded; `detail` says why.",
            action: "Correct the file and reload; the former one is in effect."
        ),
        ProblemType(
            "nothing-to-reload",
            status: 409,
            title: "There is no configuration to reload.",
            meaning: "The service has no configuration file.",
            action: "Reload only what `tideover serve` runs."
        ),
        ProblemType(
            "bad-key-request",
            status: 400,
            title: "Invalid key request.",
            meaning: "No key can be created from this body; `detail` says why.",
            action: "Correct the body."
        ),
        ProblemType(
            "unknown-webhook",
            status: 404,
            title: "Unknown webhook.",
            meaning: "The app has no webhook with this id.",
            action: "List the ids with `tideover webhooks list`."
        ),
        ProblemType(
            "configured-webhook",
            status: 409,
            title: "The webhook is configured.",
            meaning: "The webhook is in the configuration, so a request cannot remove it.",
            action: "Remove it from `webhooks` in the configuration and reload."
        ),
        ProblemType(
            "unknown-event",
            status: 404,
            title: "Unknown event.",
            meaning: "The event was removed, or the webhook does not receive events of its kind.",
            action: "Check the id, and the webhook's `events`."
        ),
        ProblemType(
            "bad-webhook-request",
            status: 400,
            title: "Invalid webhook request.",
            meaning: "The body cannot be used; `detail` says why.",
            action: "Correct the body."
        ),
        ProblemType(
            "webhooks-not-sent",
            status: 503,
            title: "No webhooks are sent.",
            meaning: "This process sends no messages.",
            action: "Send the request to a running server."
        ),
    ]

    /// Customers and their purchases.
    private static let customers: [ProblemType] = [
        ProblemType(
            "bad-reconcile-request",
            status: 400,
            title: "Invalid reconcile request.",
            meaning: "The body is not an object of lists, or has `nothing` beside items.",
            action: "Correct the body; `detail` says how."
        ),
        ProblemType(
            "bad-prompt-report",
            status: 400,
            title: "Invalid prompt report.",
            meaning: "The report of a prompt is invalid, or the customer has no answer yet.",
            action: "Correct the body; `detail` says how."
        ),
        ProblemType(
            "unknown-member",
            status: 400,
            title: "The body has an unknown member.",
            meaning: "The body has an unknown member, at `found`; nothing was stored.",
            action: "Correct the name; `detail` has the closest one."
        ),
        ProblemType(
            "too-many-items",
            status: 413,
            title: "Too many items in one request.",
            meaning: "There are over 32 items, or over 16 purchases of Google Play.",
            action: "Send several requests, in any order."
        ),
        ProblemType(
            "bad-lookup",
            status: 400,
            title: "Invalid lookup.",
            meaning: "The query has not exactly one of `order`, `transaction`, `token`, or no "
                + "store has such order numbers.",
            action: "Send one of them, an order number as the receipt has it."
        ),
        ProblemType(
            "purchase-not-found",
            status: 404,
            title: "Unknown purchase.",
            meaning: "No such purchase is stored.",
            action: "Check the number; `lookup` also asks the stores."
        ),
        ProblemType(
            "purchase-unclaimed",
            status: 404,
            title: "No customer has claimed the purchase.",
            meaning: "No customer has claimed the purchase.",
            action: "Have the app restore purchases; see `lookup`."
        ),
        ProblemType(
            "several-holders",
            status: 409,
            title: "Several customers have such purchases.",
            meaning: "Several customers have such purchases.",
            action: "Ask about one of `customers`."
        ),
        ProblemType(
            "bad-grant",
            status: 400,
            title: "Invalid grant.",
            meaning: "The grant is invalid; `detail` says why.",
            action: "Correct the body."
        ),
        ProblemType(
            "bad-idempotency-key",
            status: 400,
            title: "Invalid idempotency key.",
            meaning: "`Idempotency-Key` is not one line of 1 to 100 visible ASCII characters.",
            action: "Send a shorter key, such as a UUID."
        ),
        ProblemType(
            "idempotency-key-reused",
            status: 409,
            title: "The idempotency key was used for another request.",
            meaning: "The key was used for another request.",
            action: "Make a new key for each request."
        ),
        ProblemType(
            "too-many-grants",
            status: 409,
            title: "Too many grants.",
            meaning: "The customer has 100 grants, ended and revoked ones included.",
            action: "Grant a longer period instead of many."
        ),
        ProblemType(
            "bad-store-action",
            status: 400,
            title: "Invalid store action.",
            meaning: "The change is malformed, or its store does not offer it; `detail` says why.",
            action: "Correct the body."
        ),
        ProblemType(
            "idempotency-key-needed",
            status: 400,
            title: "An idempotency key is needed.",
            meaning: "A change of a purchase needs an `Idempotency-Key`.",
            action: "Send one, or ask for a dry run."
        ),
        ProblemType(
            "unknown-purchase",
            status: 404,
            title: "Unknown purchase.",
            meaning: "No purchase of this name is stored in this environment.",
            action: "Find its name with `lookup`."
        ),
        ProblemType(
            "store-rejected",
            status: 409,
            title: "The store rejected the request.",
            meaning: "The store rejected the change; nothing was changed.",
            action: "See `code` for the store's reason."
        ),
        ProblemType(
            "store-action-not-sent",
            status: 503,
            title: "The store made no change.",
            meaning: "The change did not reach the store, or the store did not process it now.",
            action: "Send it again with the same key."
        ),
        ProblemType(
            "store-outcome-unknown",
            status: 409,
            title: "The outcome is unknown.",
            meaning: "The store's response was lost.",
            action: "See `repeatable` for whether to send it again with the same key."
        ),
        ProblemType(
            "store-action-under-way",
            status: 409,
            title: "The request is being sent.",
            meaning: "Another request with the same key is not answered yet.",
            action: "Wait, then send it again with the same key."
        ),
        ProblemType(
            "unknown-grant",
            status: 404,
            title: "Unknown grant.",
            meaning: "The customer has no grant of this id.",
            action: "List the customer's grants."
        ),
        ProblemType(
            "grant-ended",
            status: 409,
            title: "The grant has ended.",
            meaning: "The grant has ended already.",
            action: "None is needed: it gives no access."
        ),
        ProblemType(
            "bad-alias",
            status: 400,
            title: "Invalid alias.",
            meaning: "The alias is invalid; `detail` says why.",
            action: "Correct the body."
        ),
        ProblemType(
            "alias-refused",
            status: 409,
            title: "The two ids cannot be one customer.",
            meaning: "The ids cannot be one customer.",
            action:
                "See `reason`: `same-id`, `alias-of-another`, `has-aliases` or `too-many-aliases`."
        ),
        ProblemType(
            "bad-move",
            status: 400,
            title: "Invalid move of a purchase.",
            meaning: "The move of a purchase is malformed; `detail` says why.",
            action: "Correct the body."
        ),
        ProblemType(
            "move-refused",
            status: 409,
            title: "The purchase cannot be moved.",
            meaning: "The purchase cannot be moved; `detail` says why.",
            action: "See `reason`: `another-owner`, `relayed` or `too-soon`."
        ),
        ProblemType(
            "store-did-not-answer",
            status: 503,
            title: "The store did not answer.",
            meaning: "The store could not be asked about the order; `detail` says why.",
            action: "Try again; see `tideover doctor`."
        ),
    ]

    /// Requests of any kind.
    private static let requests: [ProblemType] = [
        ProblemType(
            "not-found",
            status: 404,
            title: "There is nothing at this path.",
            meaning: "There is nothing at this path.",
            action: "Compare the path with `/openapi.json`."
        ),
        ProblemType(
            "method-not-allowed",
            status: 405,
            title: "Method not allowed.",
            meaning: "The path does not take this method.",
            action: "Use a method in `Allow`."
        ),
        ProblemType(
            "unknown-app",
            status: 404,
            title: "Unknown app.",
            meaning: "No app with this id is configured.",
            action: "Use an id in `apps[].id`, or add the app."
        ),
        ProblemType(
            "unknown-parameter",
            status: 400,
            title: "Unknown query parameter.",
            meaning: "The query has a parameter that the route does not take.",
            action: "Correct the name; `detail` has the closest one."
        ),
        ProblemType(
            "repeated-parameter",
            status: 400,
            title: "Repeated query parameter.",
            meaning: "The query has a parameter twice.",
            action: "Send it once."
        ),
        ProblemType(
            "bad-flag",
            status: 400,
            title: "Invalid flag.",
            meaning: "A parameter is neither `true` nor `false`; `parameter` names it.",
            action: "Send `true` or `false`."
        ),
        ProblemType(
            "store-cannot-be-asked",
            status: 409,
            title: "The stores cannot be asked.",
            meaning: "No store can be asked about the app in this environment.",
            action: "Configure a store key, or `simulatedStore.url`."
        ),
        ProblemType(
            "app-store-not-configured",
            status: 404,
            title: "The App Store is not configured.",
            meaning: "The app has no `appStore` in its configuration.",
            action: "Set `appStore.bundleId`."
        ),
        ProblemType(
            "google-play-not-configured",
            status: 404,
            title: "Google Play is not configured.",
            meaning: "The app has no `googlePlay` in its configuration.",
            action: "Set `googlePlay.packageName`."
        ),
        ProblemType(
            "revenuecat-not-configured",
            status: 404,
            title: "RevenueCat is not configured.",
            meaning: "The app has no `revenueCat` in its configuration.",
            action: "Set `revenueCat`."
        ),
        ProblemType(
            "bad-import",
            status: 400,
            title: "Invalid import.",
            meaning: "The query of an import is invalid; `detail` says why.",
            action: "Correct the query."
        ),
        ProblemType(
            "app-needed",
            status: 400,
            title: "The report is about one app.",
            meaning: "The report is about one app.",
            action: "Name it as `?app=`."
        ),
        ProblemType(
            "never-answered",
            status: 404,
            title: "No stored response of RevenueCat.",
            meaning: "No response of RevenueCat about this customer is stored.",
            action: "Import responses with `tideover import revenuecat`."
        ),
        ProblemType(
            "bad-customer",
            status: 400,
            title: "Invalid customer id.",
            meaning: "The customer id is empty, the all-zero UUID, with a NUL, or over 256 bytes.",
            action: "Send your own id of a signed-in customer."
        ),
        ProblemType(
            "unknown-environment",
            status: 400,
            title: "Unknown environment.",
            meaning: "`environment` is unknown.",
            action: "Send production, sandbox or simulated."
        ),
        ProblemType(
            "unknown-store",
            status: 400,
            title: "Unknown store.",
            meaning: "`store` is unknown.",
            action: "Send appStore or googlePlay."
        ),
        ProblemType(
            "environment-not-served",
            status: 400,
            title: "The app is not served in this environment.",
            meaning: "The app is not served in this environment.",
            action: "Ask with one of `served`, or add it to `environments`."
        ),
        ProblemType(
            "bad-instant",
            status: 400,
            title: "Invalid time.",
            meaning: "A parameter is not an RFC 3339 time, or `from` is not before `to` and now.",
            action: "Send a time such as 2026-05-06T10:00:00Z, with `+` written `%2B`."
        ),
        ProblemType(
            "bad-dimension",
            status: 400,
            title: "Unknown dimension.",
            meaning: "`by` names an unknown dimension.",
            action: "Send a list of product, store and country, separated by commas."
        ),
        ProblemType(
            "bad-report-parameter",
            status: 400,
            title: "Invalid report parameter.",
            meaning: "`each`, `currency` or `rates` of the portfolio report is not valid.",
            action: "Send what `detail` describes."
        ),
        ProblemType(
            "bad-deadline-kind",
            status: 400,
            title: "Unknown kind of deadline.",
            meaning: "`kind` names an unknown kind of deadline.",
            action: "Send one of the kinds in `detail`, or leave `kind` out for all."
        ),
        ProblemType(
            "bad-policy",
            status: 400,
            title: "Invalid policy.",
            meaning: "The policy cannot be tried; `problems` lists why.",
            action: "Send a policy, or its settings, in the form of `policy` in the configuration."
        ),
        ProblemType(
            "bad-knowledge",
            status: 400,
            title: "Unknown knowledge.",
            meaning: "`knowledge` is unknown.",
            action: "Send `then` or `now`."
        ),
        ProblemType(
            "bad-cursor",
            status: 400,
            title: "Invalid cursor.",
            meaning: "The cursor is invalid.",
            action: "Send `next` of the page before, unchanged."
        ),
        ProblemType(
            "events-removed",
            status: 410,
            title: "Expired cursor.",
            meaning: "Events after the cursor were removed by `retention.told`.",
            action: "Continue without it, and read your customers' answers again."
        ),
        ProblemType(
            "bad-limit",
            status: 400,
            title: "Invalid limit.",
            meaning: "`limit` is not a whole number in its range; `detail` has the greatest.",
            action: "Send a number from 1 to that."
        ),
        ProblemType(
            "too-many-changes",
            status: 429,
            title: "Too many changes.",
            meaning: "This address sent too many changes without a new purchase.",
            action: "Try again after `Retry-After`."
        ),
        ProblemType(
            "too-many-refusals",
            status: 429,
            title: "Too many refused requests.",
            meaning: "Too many requests of this kind from this address were refused.",
            action: "Try again after `Retry-After`; accepted requests never count."
        ),
        ProblemType(
            "malformed-request",
            status: 400,
            title: "The request is malformed.",
            meaning: "The request line, a header field or the query is malformed.",
            action: "Correct the request; `detail` says what is wrong."
        ),
        ProblemType(
            "request-too-slow",
            status: 408,
            title: "The request took too long to arrive.",
            meaning: "A part of the request did not arrive in time.",
            action: "Send it again."
        ),
        ProblemType(
            "body-too-large",
            status: 413,
            title: "The request's body is too large.",
            meaning: "The body is over 256 KiB, or 2 MiB where SDKs of RevenueCat are served.",
            action: "Send several requests."
        ),
        ProblemType(
            "content-encoding",
            status: 415,
            title: "Encoded bodies are not accepted.",
            meaning: "The body is compressed.",
            action: "Send it without `Content-Encoding`."
        ),
        ProblemType(
            "head-too-large",
            status: 431,
            title: "The request's header fields are too large.",
            meaning: "The header fields are too large.",
            action: "Send fewer or shorter ones."
        ),
        ProblemType(
            "too-many-fields",
            status: 431,
            title: "Too many header fields.",
            meaning: "There are too many header fields.",
            action: "Send fewer."
        ),
        ProblemType(
            "transfer-coding",
            status: 501,
            title: "Only the transfer coding chunked is understood.",
            meaning: "The transfer coding is not `chunked`.",
            action: "Send `chunked`, or a `Content-Length`."
        ),
    ]

    /// Failures of the server.
    private static let failures: [ProblemType] = [
        ProblemType(
            "internal",
            status: 500,
            title: "The server failed to handle the request.",
            meaning: "The server has a fault.",
            action: "Find `requestId` in the log, and report it."
        ),
        ProblemType(
            "storage-unavailable",
            status: 503,
            title: "The storage is not available.",
            meaning: "The storage cannot be read or written; the log says why.",
            action: "Try again after `Retry-After`."
        ),
        ProblemType(
            "overloaded",
            status: 503,
            title: "Too many notifications arrived at once.",
            meaning: "Too many notifications arrived at once; this one was not looked at.",
            action: "None is needed: the store retries."
        ),
        ProblemType(
            "reports-busy",
            status: 503,
            title: "Too many reports at once.",
            meaning: "A report of this app is being made, and four more wait.",
            action: "Try again after `Retry-After`."
        ),
        ProblemType(
            "backup-running",
            status: 409,
            title: "A backup is already running.",
            meaning: "The server is copying its database already.",
            action: "Read the progress with `GET /v1/backup`."
        ),
        ProblemType(
            "backup-unavailable",
            status: 501,
            title: "No backup can be made here.",
            meaning: "This service cannot copy its database.",
            action: "Ask a running server, or run `tideover backup`."
        ),
        ProblemType(
            "customer-changing",
            status: 503,
            title: "The customer is changing.",
            meaning: "New facts arrived during each attempt to erase the customer.",
            action: "Try again after `Retry-After`."
        ),
        ProblemType(
            "draining",
            status: 503,
            title: "The server is about to stop.",
            meaning: "The server is about to stop; only `/readyz` says so.",
            action: "Send requests to another server, or wait."
        ),
        ProblemType(
            "not-ready",
            status: 503,
            title: "The server is not ready.",
            meaning: "The storage cannot be read and written; only `/readyz` says so.",
            action: "Find the reason in the log."
        ),
        ProblemType(
            "interrupted",
            status: 503,
            title: "The server stopped before the request was done.",
            meaning: "The server stopped before the request was done; nothing half-done is stored.",
            action: "Send it again."
        ),
    ]
}
