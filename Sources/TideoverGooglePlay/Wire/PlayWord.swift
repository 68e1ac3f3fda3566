import TideoverCore

/// A word or number from one of Google's lists, as written: the lists grow without notice.
public struct PlayWord<Known>: Hashable, Sendable
where Known: RawRepresentable & Hashable & Sendable, Known.RawValue: Hashable & Sendable {
    /// What Google wrote.
    public let raw: Known.RawValue

    public init(_ raw: Known.RawValue) {
        self.raw = raw
    }

    /// What it means; nil for what this version does not know.
    public var known: Known? { Known(rawValue: raw) }
}

extension Optional {
    /// What is to be counted when Google wrote something that this version does not know.
    func unrecognised<Known>(as field: String) -> Unrecognised? where Wrapped == PlayWord<Known> {
        guard let self, self.known == nil else { return nil }
        return Unrecognised(field: field, value: "\(self.raw)")
    }
}
