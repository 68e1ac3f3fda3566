extension String {
    /// Whether the text can be stored as an id: an index of PostgreSQL holds no long text, and no
    /// route reaches an id with a NUL character. RevenueCat's own ids are shorter.
    package var isStorableName: Bool { utf8.count <= 256 && !utf8.contains(0) }
}
