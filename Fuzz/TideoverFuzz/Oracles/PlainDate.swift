import CTideoverFuzzing

/// The C library's reading of the date of an HTTP header.
enum PlainDate {
    /// In seconds since 1970; nil for what is no such date. The weekday's name is not looked at.
    static func seconds(_ text: String) -> Int64? {
        guard let space = text.firstIndex(of: " ") else { return nil }
        var seconds: Int64 = 0
        return tideover_read_date(String(text[space...]), &seconds) == 1 ? seconds : nil
    }
}
