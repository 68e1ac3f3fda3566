/// A value from one of a store's lists, as written. The lists grow without notice.
public struct OpenEnum<Known>: Hashable, Sendable
where Known: RawRepresentable & Hashable & Sendable, Known.RawValue: Hashable & Sendable {
    /// The value that the store wrote.
    public let raw: Known.RawValue
    /// The recognised meaning; nil if this version does not recognise the value.
    public let known: Known?

    @inlinable
    public init(_ raw: Known.RawValue) {
        self.raw = raw
        known = Known(rawValue: raw)
    }
}

extension Optional {
    /// Returns a record for the counter of unrecognised values, if this version does not recognise
    /// it.
    @inlinable
    package func unrecognised<Known>(
        as field: String
    ) -> Unrecognised? where Wrapped == OpenEnum<Known> {
        guard let self, self.known == nil else { return nil }
        return Unrecognised(field: field, value: "\(self.raw)")
    }
}
