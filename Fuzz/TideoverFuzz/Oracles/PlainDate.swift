import CTideoverFuzzing

/// The C library's parse of the date of an HTTP header.
enum PlainDate {
    /// Returns the seconds since 1970; nil for an invalid date. The weekday's name is ignored.
    static func seconds(_ text: String) -> Int64? {
        guard let space = text.firstIndex(of: " ") else { return nil }
        var seconds: Int64 = 0
        return tideover_read_date(String(text[space...]), &seconds) == 1 ? seconds : nil
    }
}
