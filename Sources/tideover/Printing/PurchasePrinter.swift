import TideoverCommandLine
import TideoverJSON

/// Prints the purchases that `lookup` and `unclaimed` found, for a terminal.
struct PurchasePrinter {
    private let output: Output

    init(_ output: Output) {
        self.output = output
    }

    /// Prints one purchase per line.
    func table(_ purchases: JSONNode) {
        var table = Table([
            .init("bought (UTC)"), .init("price", .trailing), .init("order or transaction"),
            .init("product"),
        ])
        for purchase in purchases.elements {
            table.add(
                .init(Self.minute(purchase["purchasedAt"])),
                .init(text(purchase["price"])),
                .init(Self.number(of: purchase)),
                .init(text(purchase["productId"]))
            )
        }
        output.print(table)
    }

    /// Prints each store's answer about an order, one per line.
    func asked(_ stores: JSONNode) {
        for asked in stores.elements {
            let store = asked["store"]?.string == "googlePlay" ? "Google Play" : "App Store"
            let environment = asked["environment"]?.string.map { ", \($0)" } ?? ""
            output.message(
                "  \(store)\(environment): \(Self.sentence(of: asked["outcome"]?.string ?? ""))"
            )
        }
    }

    private static func sentence(of outcome: String) -> String {
        switch outcome {
        case "found": "found"
        case "noSuchOrder": "no such order"
        case "notReadable": "the response could not be read"
        case "noOrdersThere": "not asked: orders exist only in production"
        case "notConfigured": "not asked: no key is configured; see `tideover doctor`"
        default: outcome
        }
    }

    /// Prints one purchase with its owner and the suggested reply.
    func details(_ purchase: JSONNode) {
        output.print(
            TextLayout.visible(
                ["productId", "price", "store", "environment"]
                    .compactMap { purchase[$0]?.string }.joined(separator: ", ")
            )
        )
        row("bought", Self.minute(purchase["purchasedAt"]) + " UTC")
        row("order", Self.number(of: purchase))
        row("purchase", text(purchase["lineage"]))
        row("customer", purchase["customer"]?.string ?? "unclaimed")
        let owners = purchase["owners"]?.elements.compactMap { $0["customer"]?.string } ?? []
        for owner in owners where owner != purchase["customer"]?.string { row("formerly", owner) }
        if let how = purchase["claim"]?["how"]?.string { row("to claim", how) }
        row("reply", text(purchase["reply"]))
    }

    /// Prints each distinct reply to the customer once.
    func replies(_ purchases: JSONNode) {
        var seen: [String] = []
        for reply in purchases.elements.compactMap({ $0["reply"]?.string })
        where !seen.contains(reply) {
            seen.append(reply)
            output.print("\nFor a reply to the customer")
            for line in TextLayout.wrapped(TextLayout.visible(reply), to: 78) {
                output.print("  \(line)")
            }
        }
    }

    private func row(_ name: String, _ value: String) {
        let lines = TextLayout.wrapped(TextLayout.visible(value), to: 68)
        for (number, line) in lines.enumerated() {
            let head = number == 0 ? name : ""
            output.print("  \(head)" + String(repeating: " ", count: 10 - head.count) + line)
        }
    }

    /// Returns Google Play's order, or the App Store's transaction.
    private static func number(of purchase: JSONNode) -> String {
        purchase["orderId"]?.string ?? purchase["transactionId"]?.string ?? ""
    }

    static func minute(_ instant: JSONNode?) -> String {
        let text = instant?.string ?? ""
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }

    private func text(_ node: JSONNode?) -> String { node?.string ?? "" }
}
