extension [String] {
    /// Returns the path segments in place of each `*` of a pattern; nil for a path of another
    /// shape.
    func ids(matching pattern: String) -> [String]? {
        let parts = pattern.split(separator: "/")
        guard parts.count == count else { return nil }
        var ids: [String] = []
        for (part, segment) in zip(parts, self) {
            if part == "*" {
                ids.append(segment)
            } else if part != segment {
                return nil
            }
        }
        return ids
    }
}
