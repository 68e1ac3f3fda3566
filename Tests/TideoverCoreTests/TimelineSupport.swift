import Testing
import TideoverCore
import TideoverLives

/// The last millisecond before an instant, and the instant itself.
func expectTurn(
    _ life: Life,
    at instant: Instant,
    from before: String,
    to after: String,
    _ location: SourceLocation = #_sourceLocation
) {
    #expect(life.told(instant.justBefore) == before, sourceLocation: location)
    #expect(life.told(instant) == after, sourceLocation: location)
}

extension Life {
    /// The only owner of the purchase, from the beginning.
    func owner(
        _ customer: CustomerID = SnapshotTests.anna,
        until: Instant? = nil,
        why: OwnershipEntry.Why = .accountToken
    ) -> OwnershipEntry {
        OwnershipEntry(
            lineage: lineage,
            customer: customer,
            from: .distantPast,
            until: until,
            why: why
        )
    }

    /// The purchase with its owners.
    func owned(by owners: [OwnershipEntry]) -> CustomerRecord.LineageRecord {
        CustomerRecord.LineageRecord(lineage: lineage, facts: facts, owners: owners)
    }

    /// Sets a customer on every term.
    mutating func name(_ customer: String) {
        for position in facts.indices {
            guard case .term(var term) = facts[position].assertion else { continue }
            term.accountToken = CustomerID(customer)
            facts[position].assertion = .term(term)
        }
    }

    /// Adds a term with its outlook and condition, as in one notification.
    mutating func pay(
        _ id: String,
        _ product: String = "monthly",
        from start: Instant,
        to end: Instant,
        price: String = "9.99 USD",
        signed: Instant? = nil,
        offer: Offer? = nil,
        origin: Term.Origin = .renewal
    ) {
        let signed = signed ?? start
        term(id, product, from: start, to: end, signed: signed, offer: offer, origin: origin)
        charge(price)
        outlook(end: end, signed: signed, product: product)
        condition(.active, end: end, signed: signed)
    }

    /// Adds a failed renewal of the term that ends at an instant, with grace if a date is given.
    mutating func fail(
        _ end: Instant,
        at signed: Instant? = nil,
        grace: Instant? = nil,
        product: String = "monthly"
    ) {
        let signed = signed ?? end
        outlook(end: end, signed: signed, retrying: true, grace: grace, product: product)
        condition(
            grace == nil ? .retry : .grace,
            notice: grace == nil ? .failedToRenew : .failedToRenewInGrace,
            end: end,
            signed: signed
        )
    }

    mutating func lapse(_ end: Instant, at signed: Instant, _ lapse: Outlook.Lapse) {
        outlook(end: end, signed: signed, renews: false, lapse: lapse)
        condition(.expired, notice: .expired, end: end, signed: signed)
    }

    /// Returns the spans for `premium`, one a line.
    func spans(until: Instant) -> [String] {
        told(until: until).timeline(of: "premium").spans.map(\.line)
    }

    /// Returns the events, one a line.
    func events(until: Instant) -> [String] {
        told(until: until).transitions.map(\.line)
    }
}

extension Instant {
    /// The day, and the time of day unless it is midnight.
    var short: String {
        let text = rfc3339
        let time = text.dropFirst(11).prefix(8)
        return time == "00:00:00" ? String(text.prefix(10)) : "\(text.prefix(10)) \(time)"
    }
}

extension Timeline.Span {
    var line: String {
        let renewal = willRenew.map { $0 ? " renews" : " ends" } ?? ""
        let doubt = confidence == .confirmed ? "" : " \(confidence.rawValue)"
        let product = productId.map { " \($0)" } ?? ""
        return "\(from.short) \(state.rawValue) \(reason.rawValue)\(product)\(renewal)\(doubt)"
    }
}

extension Transition {
    var line: String {
        let parts: [String?] = [
            at.short, kind.rawValue, from.map { "from \($0.rawValue)" },
            duration.map { "after \($0.text)" }, previousProductId.map { "from \($0)" },
            productId, money?.text, keepArtifactsUntil.map { "keep until \($0.short)" },
            recoveredBy.map { "by \($0.id)" }, isFamilyShared ? "shared" : nil,
        ]
        return parts.compactMap(\.self).joined(separator: " ")
    }
}
