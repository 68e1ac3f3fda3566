/// A word or number from one of a store's lists, as written: the lists grow without notice.
public struct Stated<Known>: Hashable, Sendable
where Known: RawRepresentable & Hashable & Sendable, Known.RawValue: Hashable & Sendable {
    /// What the store wrote.
    public let raw: Known.RawValue

    public init(_ raw: Known.RawValue) {
        self.raw = raw
    }

    /// What it means; nil for what this version does not know.
    public var known: Known? { Known(rawValue: raw) }
}

extension Optional {
    /// What is to be counted when a store wrote something that this version does not know.
    package func unrecognised<Known>(
        as field: String
    ) -> Unrecognised? where Wrapped == Stated<Known> {
        guard let self, self.known == nil else { return nil }
        return Unrecognised(field: field, value: "\(self.raw)")
    }
}
