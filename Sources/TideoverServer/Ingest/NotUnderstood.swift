import TideoverCore
import TideoverStorage

/// What of a message this version does not know or does not look into, and products that the catalogue
/// does not have: kept and counted.
struct NotUnderstood: Sendable {
    let environment: Environment
    var words: [Unrecognised] = []
    /// What is kept without being looked into, by its kind.
    var rarity: String?
    /// By the store's ids.
    var products: [String] = []

    /// As it is stored.
    var tallies: [Tally: Int64] {
        let names =
            words.map { ("unrecognised", "\($0.field)=\($0.value)") }
            + [rarity].compactMap(\.self).map { ("rare", $0) }
            + products.map { ("unknown-product", $0) }
        return names.reduce(into: [:]) { counts, name in
            counts[Tally(environment: environment, kind: name.0, name: name.1), default: 0] += 1
        }
    }
}

extension Ingest {
    /// Names the products in the log: they heal when the catalogue changes.
    func warn(of unknown: NotUnderstood) {
        for product in unknown.products {
            log(
                LogLine(
                    .warning,
                    "product is not in the catalogue",
                    app: app.id,
                    environment: unknown.environment,
                    code: "unknown-product",
                    detail: product
                )
            )
        }
    }

    /// Counts for `/metrics`, where a value that somebody else chose is no label.
    func count(_ unknown: NotUnderstood) {
        for word in unknown.words { metrics.count(.unrecognisedWords, app.id, word.field) }
        if !unknown.products.isEmpty {
            metrics.count(.unknownProducts, app.id, by: unknown.products.count)
        }
    }
}
