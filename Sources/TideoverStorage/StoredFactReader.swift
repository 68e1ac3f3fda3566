package import TideoverCore
import TideoverJSON

/// Reads stored facts. Each form begins with the fact's lineage, so that of the facts of one lineage
/// is read once.
package struct StoredFactReader {
    /// The latest lineage, and the beginning of its facts' forms until its end.
    private var latest: (beginning: ArraySlice<UInt8>, lineage: Lineage)?

    private static let beginning = Array(#"{"lineage":"#.utf8)

    package init() {}

    /// Reads a fact from its form, as it was stored.
    ///
    /// - Throws: the `JSONError` or the `FormError`.
    package mutating func fact(_ form: [UInt8]) throws -> Fact {
        if let latest, form.count > latest.beginning.count,
            form[latest.beginning.count] == UInt8(ascii: ","),
            form[..<latest.beginning.count] == latest.beginning
        {
            var rest = form
            rest.replaceSubrange(1...latest.beginning.count, with: EmptyCollection())
            return try Fact(json: JSONDocument(rest, limits: .local).root, of: latest.lineage)
        }
        let json = try JSONDocument(form, limits: .local).root
        let fact = try Fact(json: json)
        if let lineage = json["lineage"], lineage.offset == Self.beginning.count,
            form[..<Self.beginning.count] == Self.beginning[...]
        {
            let end = lineage.offset + lineage.source.count
            latest = (form[..<end], fact.lineage)
        }
        return fact
    }
}
