extension Instant {
    /// Reads the date of an HTTP header in its preferred form, `Sun, 06 Nov 1994 08:49:37 GMT`
    /// (RFC 9110, 5.6.7). The name of the weekday is not compared with the date.
    package init?(httpDate text: String) {
        let words = text.split(separator: " ")
        guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT",
            words[1].utf8.count == 2, words[3].utf8.count == 4,
            let month = Self.months.firstIndex(of: String(words[2]))
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        self.init(rfc3339: "\(words[3])-\(number)-\(words[1])T\(words[4])Z")
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
