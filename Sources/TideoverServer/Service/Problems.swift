import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// The problems of routes with their messages. The messages for rejected signed data are in the
/// modules that verify it.
extension Problem {
    static func unknownApp(_ id: String) -> Problem {
        Problem(
            "unknown-app",
            detail: "No app with this id is configured. Ids are in `apps[].id`.",
            members: ["app": .string(id)]
        )
    }

    static let keyMissing = Problem(
        "key-missing",
        detail: "Send `Authorization: Bearer KEY`; `tideover keys add` creates keys.",
        headers: challenge
    )

    /// The same message for a malformed, revoked or unknown key.
    static let keyUnknown = Problem(
        "key-unknown",
        detail: "It is unknown or revoked. Create one with `tideover keys add`.",
        headers: challenge
    )

    /// 403, with the same message whether or not the app is configured.
    static func keyNotAllowed(_ kinds: [KeyKind]) -> Problem {
        let names = kinds.map(\.rawValue)
        return Problem(
            "key-not-allowed",
            detail: "It takes a key of kind \(names.joined(separator: " or "))"
                + (kinds == [.admin] ? "." : " that is made for this app."),
            members: ["kinds": .array(names.map(JSONValue.string))]
        )
    }

    private static let challenge: Headers = ["WWW-Authenticate": "Bearer"]

    static let unknownKey = Problem(
        "unknown-key",
        detail: "Name a key by its id. List the ids with `tideover keys list`."
    )

    static func badKeyRequest(_ detail: String) -> Problem {
        Problem("bad-key-request", detail: detail)
    }

    static let nothingToReload = Problem(
        "nothing-to-reload",
        detail: "Only `tideover serve` has a configuration file to reload."
    )

    static func unusableConfiguration(_ reason: String) -> Problem {
        Problem(
            "unusable-configuration",
            detail: "The previous configuration stays in effect. \(reason)"
        )
    }

    static let badCustomer = Problem(
        "bad-customer",
        detail: "A customer id must not be empty, the all-zero UUID, contain a NUL character, or "
            + "be longer than \(String.longestStorableName) bytes of UTF-8."
    )

    static func unknownEnvironment(_ asked: String) -> Problem {
        Problem(
            "unknown-environment",
            detail: "`environment` must be one of production, sandbox, simulated.",
            members: ["found": .string(asked)]
        )
    }

    static func environmentNotServed(_ asked: Environment, app: App) -> Problem {
        let served = app.environments.map(\.rawValue)
        return Problem(
            "environment-not-served",
            detail: "Send `?environment=` with \(served.joined(separator: " or ")), "
                + "or add the environment to the app's configuration.",
            members: [
                "environment": .string(asked.rawValue),
                "served": .array(served.map(JSONValue.string)),
            ]
        )
    }

    static func badInstant(_ parameter: String, found: String) -> Problem {
        Problem(
            "bad-instant",
            detail: "`\(parameter)` must be an RFC 3339 time such as 2026-05-06T10:00:00Z; "
                + "in a query write the `+` of an offset as `%2B`.",
            members: ["parameter": .string(parameter), "found": .string(found)]
        )
    }

    /// A range that is empty, or has not begun yet.
    static func badRange(found: Instant) -> Problem {
        Problem(
            "bad-instant",
            detail: "`from` must be before `to`, and before now.",
            members: ["parameter": "from", "found": .string(found.rfc3339)]
        )
    }

    static func badCursor(_ parameter: String, found: String) -> Problem {
        Problem(
            "bad-cursor",
            detail: "Send `next` of the previous page as `\(parameter)`, unchanged.",
            members: ["parameter": .string(parameter), "found": .string(found)]
        )
    }

    static func badLimit(_ parameter: String, found: String, greatest: Int) -> Problem {
        Problem(
            "bad-limit",
            detail: "`\(parameter)` must be a whole number from 1 to \(greatest).",
            members: ["parameter": .string(parameter), "found": .string(found)]
        )
    }

    static func appStoreNotConfigured(_ app: String) -> Problem {
        Problem(
            "app-store-not-configured",
            detail: "Set `appStore.bundleId` in the app's configuration.",
            members: ["app": .string(app)]
        )
    }

    /// The app is not sold in the requested store.
    static func notConfigured(_ store: Store, _ app: String) -> Problem {
        store == .googlePlay ? googlePlayNotConfigured(app) : appStoreNotConfigured(app)
    }

    static func unknownStore(_ found: String) -> Problem {
        Problem(
            "unknown-store",
            detail: "`store` must be one of appStore, googlePlay.",
            members: ["found": .string(found)]
        )
    }

    static func googlePlayNotConfigured(_ app: String) -> Problem {
        Problem(
            "google-play-not-configured",
            detail: "Set `googlePlay`, with `push`, in the app's configuration.",
            members: ["app": .string(app)]
        )
    }

    static func revenueCatNotConfigured(_ app: String) -> Problem {
        Problem(
            "revenuecat-not-configured",
            detail: "Set `revenueCat` in the app's configuration.",
            members: ["app": .string(app)]
        )
    }

    /// 503, so that Pub/Sub delivers it again: nothing is accepted without querying the store.
    static func storeNotAsked(_ failure: PlayAPIFailure, at now: Instant) -> Problem {
        let wait = failure.retryAt.map { max(1, ($0 - now).count / 1000) }
        return Problem(
            "store-not-asked",
            detail: failure.sentence,
            retryAfter: Int(min(wait ?? 10, 3600))
        )
    }

    /// 503, so that Pub/Sub delivers it again to a version that understands the response.
    static func answerNotUnderstood(_ refusal: PlayRefusal) -> Problem {
        Problem(
            "store-answer-not-understood",
            detail: refusal.sentence,
            retryAfter: 60
        )
    }

    /// 503, so that Pub/Sub delivers it again: the push cannot be verified now.
    static func pushKeysUnavailable(_ failure: PushKeysFailure) -> Problem {
        Problem(
            "push-keys-unavailable",
            detail: failure.sentence,
            retryAfter: 10
        )
    }

    /// 503, so that the store tries again: our clock may be wrong.
    static func signedInTheFuture(by ahead: Milliseconds) -> Problem {
        Problem(
            "signed-in-the-future",
            detail: "It was signed \(ahead.count / 1000) s ahead of this server's clock.",
            retryAfter: 60
        )
    }

    static let tooOld = Problem(
        "too-old",
        detail: "The App Store repeats notifications for days and lists them for 180 days."
    )

    static let signerExpired = Problem(
        "signer-expired",
        detail: "The App Store no longer repeats a notification this old, and its certificate is "
            + "not valid today. Run `tideover backfill`: what the App Store lists is accepted."
    )

    /// 503: the storage failed; the store tries again and nothing is lost.
    static let storageUnavailable = Problem("storage-unavailable", retryAfter: 30)

    /// 503: the limits of concurrent and waiting verifications are reached.
    static let overloaded = Problem("overloaded", retryAfter: 1)

    /// 503: a report of the app is running, and the queue is full.
    static let reportsBusy = Problem(
        "reports-busy",
        detail: "Reports are made one at a time. Try again later.",
        retryAfter: 30
    )

    static let customerChanging = Problem(
        "customer-changing",
        detail: "New facts arrived during each attempt; not all data is erased. Retry.",
        retryAfter: 10
    )

    /// 409: one copy of the database is made at a time.
    static let backupRunning = Problem(
        "backup-running",
        detail: "Read its progress with `GET /v1/backup`. Start another one when it has ended."
    )

    /// 501: the service runs in a command, or over another storage.
    static let backupUnavailable = Problem(
        "backup-unavailable",
        detail: "Ask a running server, or run `tideover backup`."
    )

    /// 410: events after the requested cursor were removed, so the page would have a gap.
    static func eventsRemoved(_ name: String) -> Problem {
        Problem(
            "events-removed",
            detail: "Events after it were removed by `retention.told`. Continue without `\(name)`, "
                + "from the oldest stored event, and read the answers of your customers again."
        )
    }

    /// 429: too many of this sender's requests were rejected; this one is not verified.
    static func tooManyRefusals(retryAfter seconds: Int) -> Problem {
        Problem(
            "too-many-refusals",
            detail: "This request was not processed. Try again later.",
            retryAfter: seconds
        )
    }

    /// 429: this sender has stored too many changes without a new purchase.
    static func tooManyChanges(retryAfter seconds: Int) -> Problem {
        Problem(
            "too-many-changes",
            detail: "This request changed nothing. Purchases that are not known yet are always "
                + "accepted.",
            retryAfter: seconds
        )
    }

    /// 503: the server runs, but cannot do its work.
    static let notReady = Problem(
        "not-ready",
        detail: "The storage cannot be read and written; the log says why.",
        members: ["checks": .object(["storage": "failed"])],
        retryAfter: 1
    )

    static let draining = Problem(
        "draining",
        detail: "Send requests to another server, or wait.",
        retryAfter: 1
    )
}
