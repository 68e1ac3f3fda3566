import TideoverJSON

// The parts of a step for offers, and for faults in the traffic to and from a store.

extension StepReader {
    func redemption(
        of product: String,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> AppStoreAction {
        let offers = products.first { $0.id == product }?.subscription?.offers ?? []
        let names = offers.compactMap(\.identifier)
        let offer = try reader.required("offer") { (node) throws(ScenarioError) in
            try named(node, .offer, names) { $0 }
        }
        return .redeem(product: product, offer: offer)
    }

    func wireFault(_ reader: ObjectReader) throws(ScenarioError) -> AppStoreWireFaultRule {
        let delay = try reader.optional("by", readSpan)?.end(of: 1, from: 0) ?? 60_000
        let faults: [(name: String, fault: AppStoreWireFault)] = [
            ("lose", .lose), ("noAnswer", .noAnswer), ("duplicate", .duplicate),
            ("delay", .delay(delay)), ("reorder", .reorder), ("truncate", .truncate),
            ("corrupt", .corrupt), ("wrongEnvironment", .wrongEnvironment),
            ("unknownType", .unknownType), ("rotateKey", .rotateKey),
            ("expiredCertificate", .expiredCertificate),
        ]
        let chosen = try reader.required("fault") { (node) throws(ScenarioError) in
            try named(node, .fault, faults) { $0.name }
        }
        return AppStoreWireFaultRule(
            chosen.fault,
            times: try times(reader),
            percent: try percent(reader)
        )
    }

    func playWireFault(_ reader: ObjectReader) throws(ScenarioError) -> PlayWireFaultRule {
        let delay = try reader.optional("by", readSpan)?.end(of: 1, from: 0) ?? 60_000
        let faults: [(name: String, fault: PlayWireFault)] = [
            ("lose", .lose), ("noAnswer", .noAnswer), ("duplicate", .duplicate),
            ("delay", .delay(delay)), ("reorder", .reorder), ("truncate", .truncate),
            ("corrupt", .corrupt), ("wrongPackage", .wrongPackage),
            ("unknownType", .unknownType), ("rotateKey", .rotateKey),
            ("unknownKey", .unknownKey), ("expiredToken", .expiredToken),
            ("wrongAudience", .wrongAudience), ("wrongAccount", .wrongAccount),
        ]
        let chosen = try reader.required("fault") { (node) throws(ScenarioError) in
            try named(node, .fault, faults) { $0.name }
        }
        return PlayWireFaultRule(
            chosen.fault,
            times: try times(reader),
            percent: try percent(reader)
        )
    }

    func serverAPIFault(_ reader: ObjectReader) throws(ScenarioError) -> AppStoreFaultRule {
        let length = try reader.optional("by", readSpan)?.end(of: 1, from: 0) ?? 60_000
        let status = try reader.wholeNumber("status") ?? 503
        guard (400...599).contains(status) else {
            throw fault(.expected(.status, for: "status"), reader.node)
        }
        let faults: [(name: String, fault: AppStoreFault)] = [
            ("rateLimited", .rateLimited(for: length)), ("unauthorized", .unauthorized),
            ("unavailable", .unavailable(status: Int(status))), ("slow", .slow(length)),
            ("noAnswer", .noAnswer(after: length)), ("truncated", .truncated),
            ("stale", .stale(by: min(length, AppStoreMachine.longestLag))),
        ]
        let chosen = try reader.required("fault") { (node) throws(ScenarioError) in
            try named(node, .fault, faults) { $0.name }
        }
        let operation = try reader.optional("operation") { (node) throws(ScenarioError) in
            try named(node, .operation, AppStoreOperation.allCases) { $0.rawValue }
        }
        return AppStoreFaultRule(
            chosen.fault,
            on: operation,
            times: try times(reader),
            percent: try percent(reader)
        )
    }

    /// Once, unless the step states a count or a percentage.
    private func times(_ reader: ObjectReader) throws(ScenarioError) -> Int? {
        let times = try reader.wholeNumber("times").map { Int($0) }
        return times ?? (reader.node["percent"] == nil ? 1 : nil)
    }

    private func percent(_ reader: ObjectReader) throws(ScenarioError) -> Int {
        guard let percent = try reader.wholeNumber("percent") else { return 100 }
        guard percent <= 100 else {
            throw fault(.expected(.percent, for: "percent"), reader.node)
        }
        return Int(percent)
    }
}
