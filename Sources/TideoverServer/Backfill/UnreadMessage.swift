import TideoverCore

extension Unrecognised {
    /// The fields without which nothing of a message of the App Store's is believed to be understood: what
    /// kind of message it is, and whose purchase it tells of. It states nothing then, and the store is asked.
    static let decisiveFields = ["notificationType", "inAppOwnershipType"]

    /// Whether the message that it stood in states nothing but that it was said.
    var leavesMessageUnread: Bool { Self.decisiveFields.contains(field) }
}

extension Metrics {
    /// Notifications of an app that we could not take in, or not read: each is a gap of our own making.
    func gaps(of app: String) -> Int {
        Unrecognised.decisiveFields.reduce(value(.notifications, app, "failed")) {
            $0 + value(.unrecognisedWords, app, $1)
        }
    }
}
