import TideoverCore

extension CustomerID {
    /// Reads the account id that an app gave a purchase. Anyone can buy with a changed app, so an
    /// id that nothing can be stored under counts as none.
    init?(ofAccount text: String) {
        guard text.isStorableName else { return nil }
        self.init(text)
    }
}
