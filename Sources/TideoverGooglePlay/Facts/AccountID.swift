import TideoverCore

extension CustomerID {
    /// The texts that languages write for a missing value. An app passes them as the account of a
    /// customer who is not signed in.
    private static let missing: Set<String> = [
        "null", "(null)", "<null>", "nil", "undefined", "NaN", "[object Object]",
    ]

    /// Reads the account id that an app gave a purchase. Anyone can buy with a changed app, so an
    /// id that nothing can be stored under counts as none. So does the text of a missing value: it
    /// would make all purchases with it those of one customer, and refuse them to their buyers.
    init?(ofAccount text: String) {
        guard text.isStorableName, !Self.missing.contains(text) else { return nil }
        self.init(text)
    }
}
