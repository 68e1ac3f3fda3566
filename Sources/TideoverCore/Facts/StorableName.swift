extension String {
    /// The maximum length of a new id in bytes of UTF-8. Ids of stores and relays are shorter.
    package static let longestStorableName = 256

    /// Whether data can be stored under the text as an id: an index of PostgreSQL contains no long
    /// text, and no path of a route names an id with a NUL character.
    package var isStorableName: Bool {
        utf8.count <= Self.longestStorableName && !utf8.contains(0)
    }
}
