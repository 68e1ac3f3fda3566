import TideoverCore
import TideoverStorage

/// The content of a message that this version does not know or evaluate, and products missing in
/// the catalogue. It is stored and counted.
struct NotUnderstood: Sendable {
    let environment: Environment
    var words: [Unrecognised] = []
    /// The kind of a message that is stored without being evaluated.
    var rarity: String?
    /// The unknown products by the store's ids.
    var products: [String] = []

    /// The counts as they are stored.
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

extension AppContext {
    /// Logs unknown products; a change of the catalogue fixes them.
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

    /// Counts for `/metrics`, where values that others choose are never labels. A message that could
    /// not be read counts as missed.
    func count(_ unknown: NotUnderstood) {
        if unknown.words.contains(where: \.leavesMessageUnread) {
            arrivals.missed(of: .appStore, in: app.id)
        }
        for word in unknown.words { metrics.count(.unrecognisedWords, app.id, word.field) }
        if !unknown.products.isEmpty {
            metrics.count(.unknownProducts, app.id, by: unknown.products.count)
        }
    }
}
