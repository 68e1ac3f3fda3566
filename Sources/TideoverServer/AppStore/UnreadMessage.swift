import TideoverCore

extension Unrecognised {
    /// The fields that an App Store message needs to be understood: its type, the object that it is
    /// about, and the ownership of the purchase. Without them it contains no facts, and the store
    /// is queried.
    private static let decisiveFields = ["notificationType", "content", "inAppOwnershipType"]

    /// Whether the message with this value contains no facts.
    var leavesMessageUnread: Bool { Self.decisiveFields.contains(field) }
}
