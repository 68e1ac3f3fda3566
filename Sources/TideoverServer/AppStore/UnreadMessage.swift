import TideoverCore

extension Unrecognised {
    /// The fields that an App Store message is read by: its type, the object that it is about, and
    /// the ownership of the purchase. A message with an unknown value of one contains no facts, and
    /// the store is queried.
    private static let decisiveFields = ["notificationType", "content", "inAppOwnershipType"]

    /// Whether the message with this value contains no facts.
    var leavesMessageUnread: Bool { Self.decisiveFields.contains(field) }
}
