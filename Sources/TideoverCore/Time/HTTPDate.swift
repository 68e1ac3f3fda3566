extension Instant {
    /// Reads the date of an HTTP header in its preferred form, `Sun, 06 Nov 1994 08:49:37 GMT`
    /// (RFC 9110, 5.6.7). The name of the weekday is not compared with the date.
    package init?(httpDate text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.map(\.utf8.count) == Self.widths,
            words[0].hasSuffix(","), Self.weekdays.contains(words[0].dropLast()),
            let month = Self.months.firstIndex(of: words[2]), words[5] == "GMT"
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        self.init(rfc3339: "\(words[3])-\(number)-\(words[1])T\(words[4])Z")
    }

    /// The number of bytes of each word.
    private static let widths = [4, 2, 3, 4, 8, 3]
    private static let weekdays: [Substring] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
