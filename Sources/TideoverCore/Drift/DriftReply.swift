// Sentences on drift and lockouts for a reply to the customer: plain English, no IDs, days in UTC.

extension Drift {
    /// One sentence on the difference. While it is open, also the customer's remedy.
    public var reply: [String] {
        if let healing {
            return [
                "A difference between your device and our records was settled on "
                    + "\(MessageFormats.english.date(healing.at))."
            ]
        }
        let seen =
            switch direction {
            case .deviceDeniesServerAllows: "showed no access, although our records do"
            case .deviceAllowsServerDenies: "showed access that our records do not"
            case .untilDiffers: "showed another end date than our records do"
            }
        return ["On \(MessageFormats.english.date(openedAt)) your device \(seen).", cause.help]
    }
}

extension Drift.Cause {
    /// One sentence on the customer's remedy or the server's action.
    public var help: String {
        switch self {
        case .staleDeviceCache, .unfinishedTransaction:
            "Please open the app while you are online, so that it can catch up."
        case .missedNotification: "We are asking the store about it."
        case .unverifiedOnDevice:
            "Please update the app and your device, and open the app while you are online."
        case .otherCustomer:
            "The purchase is linked to another account in our app: please sign in with that one."
        case .environment: "The app seems to be a test version: please use the one from the store."
        case .clock: "Please let your device set its date and time automatically."
        case .unclaimedPurchase:
            "Please restore your purchases in the app, so that we know the purchase is yours."
        }
    }
}

extension Lockouts {
    /// Returns a sentence on how long the server denied access in total; nil if under a minute.
    public static func reply(denied: Milliseconds) -> String? {
        let minutes = denied.count / Milliseconds.minutes(1).count
        guard minutes > 0 else { return nil }
        let length =
            minutes < 120
            ? "\(minutes) minute\(minutes == 1 ? "" : "s")" : "\(minutes / 60) hours"
        return "By what the store says today, you were without access for \(length) in all "
            + "although you were entitled to it; we are sorry."
    }
}
