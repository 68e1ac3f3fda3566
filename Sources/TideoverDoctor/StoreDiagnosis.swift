package import TideoverAppStore
package import TideoverConfiguration
package import TideoverCore
package import TideoverJSON

// Findings from the checks of the stores.

extension Finding {
    /// Reports the result of a store check: the key, the clocks, and the arrival of notifications.
    package static func store(_ reading: StoreReading) -> [Finding] {
        let subject = "\(reading.app) \(reading.environment.rawValue)"
        let clock = reading.skew.map { storeSkew(subject, $0) }
        switch reading.outcome {
        case .refused(let failure):
            return [key(subject, failure), clock, missingURL(subject, failure)].compactMap(\.self)
        case .answered:
            let untested = untested(subject, reading.environment)
            return [keyIsAccepted(subject), clock, untested].compactMap(\.self)
        case .tested(let test):
            return [keyIsAccepted(subject), clock, bundle(subject, test), arrival(subject, test)]
                .compactMap(\.self)
        }
    }

    /// Reports that no test notification was requested, and why.
    private static func untested(_ subject: String, _ environment: Environment) -> Finding {
        guard environment != .simulated else {
            return Finding(
                .testNotification,
                of: subject,
                .ok,
                "no test is requested from a simulated store, because its clock may be stopped"
            )
        }
        return Finding(
            .testNotification,
            of: subject,
            .ok,
            "no test was requested, because no server listens",
            advice: "Run this again while the server runs."
        )
    }

    // MARK: The key

    /// Reports an app without credentials to query its store.
    package static func storeKey(missingOf app: Configuration.App) -> Finding {
        Finding(
            .storeKey,
            of: app.id,
            app.environments == [.simulated] ? .ok : .warning,
            "it is not set, so missing notifications stay unknown and no test is possible",
            advice: "Set appStore.issuerId, keyId and privateKeyFile."
        )
    }

    /// Reports a key that cannot be read.
    package static func storeKey(unusable reason: String) -> Finding {
        Finding(.storeKey, .problem, reason)
    }

    private static func keyIsAccepted(_ subject: String) -> Finding {
        Finding(.storeKey, of: subject, .ok, "the App Store accepts it")
    }

    private static func key(_ subject: String, _ failure: AppStoreAPIFailure) -> Finding {
        let detail = String(failure.sentence.trimmingSuffix("."))
        switch failure.reason {
        // A store that reports a missing URL has accepted the key.
        case .refused where failure.knownCode == .notificationURLNotFound:
            return keyIsAccepted(subject)
        case .unreachable, .throttled, .malformedJSON, .malformed, .endless:
            return Finding(
                .storeKey,
                of: subject,
                .warning,
                detail,
                advice: "Try again; if it persists, check that this machine can connect to it."
            )
        case .status(let status) where status >= 500:
            return Finding(.storeKey, of: subject, .warning, detail, advice: "Try again later.")
        case .unauthorised(let skew) where skew.explainsRefusal:
            return Finding(.storeKey, of: subject, .problem, detail)
        case .unauthorised:
            return Finding(
                .storeKey,
                of: subject,
                .problem,
                detail,
                advice: "Compare appStore.issuerId, keyId, bundleId and privateKeyFile with App "
                    + "Store Connect, Users and Access, Integrations, In-App Purchase. If the "
                    + "sandbox accepts the key, wait for the app's first release."
            )
        case .unsigned:
            return Finding(
                .storeKey,
                of: subject,
                .problem,
                detail,
                advice: "Store the key from App Store Connect (.p8) in the file that "
                    + "appStore.privateKeyFile names."
            )
        case .unaskable, .refused, .status:
            return Finding(.storeKey, of: subject, .problem, detail)
        }
    }

    // MARK: Clocks

    /// Reports the difference of the store's clock and this machine's, accurate to about a second.
    static func storeSkew(_ subject: String, _ skew: Milliseconds) -> Finding {
        let seconds = (abs(skew.count) + 500) / 1_000
        guard seconds > 2 else {
            return Finding(.storeClock, of: subject, .ok, "it agrees with this machine's clock")
        }
        let side = skew > .zero ? "behind" : "ahead of"
        let detail = "this machine's clock is \(seconds) s \(side) the store's"
        let advice = "Set this machine's clock, and synchronize it by NTP."
        if Milliseconds.seconds(seconds) > .clockTolerance {
            return Finding(.storeClock, of: subject, .problem, detail, advice: advice)
        }
        if seconds > 30 {
            return Finding(.storeClock, of: subject, .warning, detail, advice: advice)
        }
        return Finding(.storeClock, of: subject, .ok, detail)
    }

    // MARK: The notification

    private static func missingURL(_ subject: String, _ failure: AppStoreAPIFailure) -> Finding? {
        guard failure.knownCode == .notificationURLNotFound else { return nil }
        return Finding(
            .testNotification,
            of: subject,
            .problem,
            "the App Store has no URL to send notifications to",
            advice: "Set it in App Store Connect, App Information, App Store Server Notifications; "
                + "production and sandbox have one each."
        )
    }

    private static func bundle(_ subject: String, _ test: StoreReading.Test) -> Finding? {
        if let disbelief = test.disbelief {
            return Finding(
                .storeBundle,
                of: subject,
                .problem,
                "the signed notification for this key is not valid: "
                    + disbelief.trimmingSuffix("."),
                advice: "Compare appStore.bundleId and appAppleId with App Store Connect."
            )
        }
        guard test.isOfApp else { return nil }
        return Finding(.storeBundle, of: subject, .ok, "the signed notification names this app")
    }

    private static func arrival(_ subject: String, _ test: StoreReading.Test) -> Finding {
        let attempt = test.attempts.last
        if let after = test.arrivedAfter {
            let detail = "it arrived \(tenths(after)) s after the request"
            guard let result = attempt?.sendAttemptResult, result.known != .success else {
                return Finding(.testNotification, of: subject, .ok, detail)
            }
            let (words, advice) = words(result)
            return Finding(
                .testNotification,
                of: subject,
                .problem,
                "\(detail), but \(words): the store repeats each notification, or gives up",
                advice: advice
            )
        }
        guard let attempt else {
            return Finding(
                .testNotification,
                of: subject,
                .warning,
                "the store sent none within \(test.waited.count / 1_000) s",
                advice: "Try again, with --wait and more seconds."
            )
        }
        if let silence = test.serverSilence {
            return Finding(
                .testNotification,
                of: subject,
                .warning,
                "the store sent one, and the server does not report whether it arrived: "
                    + silence
            )
        }
        let (detail, advice) = words(attempt.sendAttemptResult)
        return Finding(.testNotification, of: subject, .problem, detail, advice: advice)
    }

    private static func tenths(_ length: Milliseconds) -> String {
        let tenths = (length.count + 50) / 100
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Returns the result of the store's delivery attempt, and the fix on our side.
    package static func words(
        _ result: OpenEnum<SentNotification.Result>?
    ) -> (detail: String, advice: String) {
        guard let result else {
            return (
                "the store sent one and does not report the result",
                "Try again in a minute."
            )
        }
        guard let known = result.known else {
            return (
                "the store could not deliver one, for a reason that this version does not know: "
                    + result.raw,
                "Look it up under sendAttemptResult in Apple's documentation."
            )
        }
        switch known {
        case .success:
            return (
                "another server answered the store with success",
                "Check the URL in App Store Connect: another server, or a proxy that answers "
                    + "by itself, receives the notifications."
            )
        case .timedOut:
            return (
                "the answer took too long for the store",
                "Look for a slow proxy or an overloaded server: tideover_http_request_duration_"
                    + "seconds has its response times."
            )
        case .tlsIssue:
            return (
                "the store could not agree on TLS",
                "Check the certificate of the URL: it must be valid for that name and have its "
                    + "whole chain. Allow TLS 1.2 or later."
            )
        case .circularRedirect:
            return (
                "the URL redirects in a circle",
                "Register a URL that answers without a redirect."
            )
        case .noResponse:
            return (
                "no server answered the store",
                "Check that the URL's name resolves, and that no firewall blocks 17.0.0.0/8."
            )
        case .socketIssue:
            return (
                "the connection broke",
                "Check that the port is open to the internet (443, or 1024 and above), and read "
                    + "the log of the proxy."
            )
        case .unsupportedCharset:
            return (
                "the answer names a charset that the store does not know",
                "This server did not send it: check the proxy."
            )
        case .invalidResponse:
            return (
                "the store cannot read the answer as HTTP",
                "This server did not send it: check the proxy, and that the port is the one "
                    + "for HTTPS."
            )
        case .prematureClose:
            return (
                "the connection closed before the answer was complete",
                "Check the proxy and its time limits."
            )
        case .unsuccessfulStatus:
            return (
                "the store received an error status",
                "404 is a wrong path, 401 or 422 another app's key or bundle, 413 a limit of the "
                    + "proxy, 5xx a failing server: this server's log has a line for each request "
                    + "that reached it."
            )
        case .other:
            return (
                "the store could not deliver one, and does not report why",
                "Try again; if it persists, send a request to the URL from the internet."
            )
        }
    }
}

// MARK: - The URL to register

extension Finding {
    /// Checks the URL to register for an app's notifications; nil for an app that receives none.
    package static func notificationURL(
        of app: Configuration.App,
        under publicURL: String?
    ) -> Finding? {
        guard app.appStore != nil, app.environments != [.simulated] else { return nil }
        guard let publicURL else {
            return Finding(
                .notificationURL,
                of: app.id,
                .warning,
                "server.publicURL is not set, so the URL to register is unknown",
                advice: "Set it to the public URL of this server."
            )
        }
        let base = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
        let url = "\(base)/v1/apps/\(app.id)/notifications/app-store"
        guard url.hasPrefix("https://") else {
            return Finding(
                .notificationURL,
                of: app.id,
                .problem,
                "\(url) is not https",
                advice: "The App Store delivers to https only: run a proxy with TLS in front."
            )
        }
        guard !url.contains(where: { "?#".contains($0) }) else {
            return Finding(
                .notificationURL,
                of: app.id,
                .problem,
                "server.publicURL has a query or fragment, so no path can follow it",
                advice: "Remove the part that begins with ? or #."
            )
        }
        guard isPortReached(url) else {
            return Finding(
                .notificationURL,
                of: app.id,
                .problem,
                "the App Store does not connect to the port of \(url)",
                advice: "Use 443, or 1024 and above."
            )
        }
        return Finding(
            .notificationURL,
            of: app.id,
            .ok,
            "register \(url) in App Store Connect, for production and sandbox"
        )
    }

    /// https://developer.apple.com/documentation/appstoreservernotifications/enabling-app-store-server-notifications
    private static func isPortReached(_ url: String) -> Bool {
        let authority = url.dropFirst("https://".count).prefix { $0 != "/" }
        guard let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") else {
            return true
        }
        guard let port = Int(authority[colon...].dropFirst()) else { return false }
        return port == 443 || (1_024...65_535).contains(port)
    }
}

// MARK: - Missing notifications

extension Finding {
    /// Reports overdue notifications, from a response to `GET /v1/apps/{app}/arrivals`; nil if it
    /// is not one.
    package static func silence(_ answer: JSONNode) -> Finding? {
        guard let app = answer["app"]?.string, let environment = answer["environment"]?.string,
            let since = answer["since"]?.string
        else { return nil }
        let isPlay = answer["store"]?.string == Store.googlePlay.rawValue
        let subject = "\(app) \(environment)" + (isPlay ? " googlePlay" : "")
        let last = answer["lastArrivedAt"]?.string
        let heard = last.map { "the last arrived at \($0)" } ?? "none has arrived since \(since)"
        guard let raised = answer["alarmSince"]?.string else {
            return Finding(.silence, of: subject, last == nil ? .warning : .ok, heard)
        }
        return Finding(
            .silence,
            of: subject,
            .problem,
            "\(heard), although a renewal was due: raised at \(raised)",
            advice:
                "Read the finding about the test notification. Until notifications arrive, only "
                + "requests to the store find changes."
        )
    }

    /// Reports why the server could not be queried for arrivals.
    package static func silence(of app: String, unknown reason: String) -> Finding {
        Finding(.silence, of: app, .warning, "the server does not report it: \(reason)")
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
