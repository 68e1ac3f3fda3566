package import TideoverCore
import TideoverJSON

/// Reads stored facts. Each form begins with the fact's lineage, so that of the facts of one lineage
/// is read once.
package struct StoredFactReader {
    /// The latest lineage, and the beginning of its facts' forms until its end.
    private var latest: (beginning: ArraySlice<UInt8>, lineage: Lineage)?

    package init() {}

    /// Reads a fact from its form, as it was stored.
    ///
    /// - Throws: the `JSONError` or the `FormError`.
    package mutating func fact(_ form: [UInt8]) throws -> Fact {
        if let fact = factOfLatest(form) ?? factOfOther(form) { return fact }
        return try Fact(json: JSONDocument(form, limits: .local).root)
    }

    private func factOfLatest(_ form: [UInt8]) -> Fact? {
        guard let latest, form.count > latest.beginning.count,
            form[..<latest.beginning.count] == latest.beginning
        else { return nil }
        return WrittenJSON.read(form, from: latest.beginning.count) {
            json throws(WrittenJSON.Mismatch) in
            try Fact(written: &json, of: latest.lineage)
        }
    }

    private mutating func factOfOther(_ form: [UInt8]) -> Fact? {
        let read = WrittenJSON.read(form) { json throws(WrittenJSON.Mismatch) in
            try json.beginObject()
            let lineage: Lineage = try json.required("lineage", nil)
            return (json.offset, try Fact(written: &json, of: lineage))
        }
        guard let (end, fact) = read else { return nil }
        latest = (form[..<end], fact.lineage)
        return fact
    }
}
