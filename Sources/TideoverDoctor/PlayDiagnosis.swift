package import TideoverConfiguration
package import TideoverCore
import TideoverGooglePlay

// Findings from the checks of Google Play.

extension Finding {
    private static func subject(_ app: String) -> String { "\(app) googlePlay" }

    // MARK: The service account

    /// Reports an app without credentials to query Google Play.
    package static func playKey(missingOf app: Configuration.App) -> Finding {
        Finding(
            .storeKey,
            of: subject(app.id),
            .warning,
            "it is not set, so answers are presumed from notification types and from the "
                + "product that a device names",
            advice: "Set googlePlay.serviceAccountFile: then purchases are verified."
        )
    }

    /// Reports whether Google Play accepts the service account, and whether the clocks agree.
    package static func play(
        _ knock: PlayLook.Knock,
        skew: Milliseconds?,
        of app: Configuration.App,
        email: String?
    ) -> [Finding] {
        let subject = subject(app.id)
        let clock = skew.map { storeSkew(subject, $0) }
        switch knock {
        case .answered:
            let key = Finding(
                .storeKey,
                of: subject,
                .ok,
                "Google Play answers the service account"
            )
            return [key, clock].compactMap(\.self)
        case .refused(let failure):
            return [key(subject, failure, email), clock].compactMap(\.self)
        }
    }

    private static func key(
        _ subject: String,
        _ failure: PlayAPIFailure,
        _ email: String?
    ) -> Finding {
        var detail = failure.sentence
        if detail.hasSuffix(".") { detail.removeLast() }
        let (verdict, advice) = advice(failure, email ?? "the service account's address")
        return Finding(.storeKey, of: subject, verdict, detail, advice: advice)
    }

    private static func advice(
        _ failure: PlayAPIFailure,
        _ account: String
    ) -> (Verdict, String?) {
        switch failure.reason {
        case .noAccess(.refused("invalid_grant", _)):
            (.problem, "Set this machine's clock, or create a key of \(account) in Google Cloud.")
        case .noAccess(let reason) where !reason.isRetryable:
            (.problem, "Create a key of \(account) in Google Cloud, and name its file.")
        case .unauthorised, .forbidden:
            (
                .problem,
                "In the Play Console, Users and permissions, invite \(account) and let it view "
                    + "financial data, orders and subscriptions of the app; that takes effect "
                    + "within a day. In Google Cloud the Google Play Android Developer API must "
                    + "be enabled."
            )
        case .throttled:
            (.warning, "Find other programs that query this app: it has a daily quota.")
        case .noAccess, .unreachable, .malformedJSON, .malformed, .endless:
            (.warning, "Try again; if it persists, check that this machine can connect to it.")
        case .status(let status, _) where status >= 500: (.warning, "Try again later.")
        case .unaskable, .notFound, .gone, .conflict, .status: (.problem, nil)
        }
    }

    // MARK: Pushes

    /// Reports whether the push subscription is the configured one, and whether a notification
    /// arrives.
    package static func play(_ reading: PlayLook, of app: Configuration.App) -> [Finding] {
        [pushSubscription(reading.arrivals, of: app), arrival(reading, of: app)]
            .compactMap(\.self)
    }

    private static func pushSubscription(
        _ arrivals: PlayArrivals,
        of app: Configuration.App
    ) -> Finding? {
        let subject = subject(app.id)
        guard let push = arrivals.misdirected, push.at > arrivals.lastArrivedAt ?? .distantPast
        else {
            guard let last = arrivals.lastArrivedAt else { return nil }
            return Finding(
                .pushSubscription,
                of: subject,
                .ok,
                "the push at \(last.rfc3339) came from the configured one"
            )
        }
        guard let audience = push.audience, let email = push.email else {
            return Finding(
                .pushSubscription,
                of: subject,
                .warning,
                "the push at \(push.at.rfc3339) has no token of Google",
                advice: "If Pub/Sub sent it, let the push subscription authenticate with a "
                    + "service account and an audience."
            )
        }
        return Finding(
            .pushSubscription,
            of: subject,
            .problem,
            "the push at \(push.at.rfc3339) was refused (\(push.reason)): its token is for the "
                + "audience \(audience), of \(email)",
            advice: "Anyone can send a push with a token of Google. If the account is yours, set "
                + "googlePlay.push.audience and email to these values, or change the push "
                + "subscription; otherwise change nothing."
        )
    }

    private static func arrival(_ reading: PlayLook, of app: Configuration.App) -> Finding {
        let subject = subject(app.id)
        switch reading.test {
        case .notNeeded:
            return Finding(
                .testNotification,
                of: subject,
                .ok,
                "no test is needed, because notifications arrive"
            )
        case .arrived: return Finding(.testNotification, of: subject, .ok, "one arrived")
        case .missing(let waited):
            return Finding(
                .testNotification,
                of: subject,
                .warning,
                "none arrived within \(waited.count / 1_000) s",
                advice: "Run this again, with --wait and more seconds, and meanwhile send one "
                    + PlayTrial.whereToClick + ". If you sent one, check that its topic "
                    + "allows google-play-developer-notifications@system.gserviceaccount.com "
                    + "to publish, and that its subscription pushes to this server."
            )
        }
    }

    /// Returns a placeholder of `tideover init` that was not replaced.
    private static func pushPlaceholder(_ play: Configuration.GooglePlay) -> String? {
        ["YOUR-HOST", "YOUR-PROJECT"].first { placeholder in
            [play.audience, play.email].contains { $0?.contains(placeholder) == true }
        }
    }

    /// Reports the push endpoint to set in Pub/Sub; nil for an app that receives no notifications.
    package static func pushEndpoint(
        of app: Configuration.App,
        under publicURL: String?
    ) -> Finding? {
        guard let play = app.googlePlay, app.environments != [.simulated] else { return nil }
        if let placeholder = pushPlaceholder(play) {
            return Finding(
                .notificationURL,
                of: subject(app.id),
                publicURL == nil ? .warning : .problem,
                "googlePlay.push still has `\(placeholder)`, so every push is refused",
                advice: "Set googlePlay.push.audience and email to those of the push subscription."
            )
        }
        guard let publicURL else { return nil }
        let base = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
        let url = "\(base)/v1/apps/\(app.id)/notifications/google-play"
        guard url.hasPrefix("https://") else {
            return Finding(
                .notificationURL,
                of: subject(app.id),
                .problem,
                "\(url) is not https",
                advice: "Pub/Sub pushes to https only: run a proxy with TLS in front of the server."
            )
        }
        return Finding(
            .notificationURL,
            of: subject(app.id),
            .ok,
            "set the endpoint of the push subscription to \(url)"
        )
    }
}
