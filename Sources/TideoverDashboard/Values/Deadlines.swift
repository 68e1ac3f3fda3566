import TideoverCore
package import TideoverJSON

/// The deadlines of an app in one environment, soonest first.
package struct Deadlines: Hashable, Sendable {
    let soonest: [Deadline]
    /// Whether there are further ones.
    let hasMore: Bool

    struct Deadline: Hashable, Sendable {
        let kind: String
        let at: Instant
        let customer: String?
        let product: String?
        let certificate: String?
        let sentence: String
    }

    /// The maximum number on a page.
    private static let most = 20

    /// Takes the deadlines of a place from the answer of the report.
    package init(of place: Place, _ report: JSONNode) throws(UnexpectedAnswer) {
        var found: [Deadline] = []
        var hasMore = false
        for row in report.list("rows") where try Place(row) == place {
            let all = row.list("deadlines")
            hasMore = all.count > Self.most
            for node in all.prefix(Self.most) {
                found.append(
                    Deadline(
                        kind: try node.needText("kind"),
                        at: try node.needInstant("at"),
                        customer: node.text("customer"),
                        product: node.text("product"),
                        certificate: node.text("certificate"),
                        sentence: try node.needText("sentence")
                    )
                )
            }
        }
        soonest = found
        self.hasMore = hasMore
    }
}
