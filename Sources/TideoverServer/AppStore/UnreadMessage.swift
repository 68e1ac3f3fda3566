import TideoverCore

extension Unrecognised {
    /// The fields that an App Store message needs to be understood: its type, and the ownership of
    /// the purchase. Without them it contains no facts, and the store is queried.
    static let decisiveFields = ["notificationType", "inAppOwnershipType"]

    /// Whether the message with this value contains no facts.
    var leavesMessageUnread: Bool { Self.decisiveFields.contains(field) }
}

extension Metrics {
    /// Returns the number of notifications of an app that failed or could not be read; each counts
    /// as a gap.
    func gaps(of app: String) -> Int {
        Unrecognised.decisiveFields.reduce(value(.notifications, app, "failed")) {
            $0 + value(.unrecognisedWords, app, $1)
        }
    }
}
