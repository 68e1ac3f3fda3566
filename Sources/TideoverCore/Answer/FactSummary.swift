extension Assertion {
    /// The content in a few words for a table; times are RFC 3339.
    public var summary: String {
        switch self {
        case .term(let term): term.summary
        case .outlook(let outlook): outlook.summary
        case .condition(let condition):
            [condition.status?.word, condition.notice?.rawValue].compactMap(\.self)
                .joined(separator: ", ")
        case .revocation(let revocation):
            revocation.summary
        case .reversal: "the refund is taken back"
        case .grant(let grant): grant.summary
        case .move(let move): move.summary
        case .inferredOwner(let inferred):
            "from \(inferred.from.rfc3339) the owner of the expired one: \(inferred.customer.text)"
        case .inquiry(let inquiry): "asked, \(inquiry.outcome.word)"
        case .pending(let pending): pending.summary
        case .playSubscription(let read): read.summary
        case .playPurchase(let read): read.summary
        case .playVoidedOrder(let void): void.summary
        case .playReplacement(let replacement):
            "replaced from \(replacement.from.rfc3339)"
        case .playNotice(let notice):
            [notice.productId, notice.kind.word].compactMap(\.self).joined(separator: ", ")
        case .unrecognised(let unknown): "\(unknown.field) \(unknown.value)"
        }
    }
}

extension Term {
    fileprivate var summary: String {
        let marks = [
            offer?.discount?.word ?? offer?.kind.word, isUpgraded ? "upgraded away" : nil,
            isRevoked ? "revoked" : nil,
            commitment.flatMap(\.summary),
        ].compactMap(\.self)
        let unstated = plan == .autoRenewable ? "an unknown end" : "no end"
        let span = "\(start.rfc3339) to \(end?.rfc3339 ?? unstated)"
        return ([productId, span] + marks).joined(separator: ", ")
    }
}

extension Outlook {
    fileprivate var summary: String {
        [
            willRenew.map { $0 ? "renews" : "does not renew" },
            renewalDate.map { "at \($0.rfc3339)" },
            isRetrying == true ? "payment is retried" : nil,
            graceEnd.map { "grace until \($0.rfc3339)" },
            lapse.map { "lapsed: \($0.word)" },
            resumesAt.map { "resumes \($0.rfc3339)" },
            priceIncreasePending == true ? "a higher price awaits consent" : nil,
        ].compactMap(\.self).joined(separator: ", ")
    }
}

extension Term.Commitment {
    fileprivate var summary: String? {
        guard let payment, let payments else { return nil }
        return "payment \(payment) of \(payments)"
    }
}

extension Grant {
    fileprivate var summary: String {
        let span = "\(start.rfc3339) to \(end?.rfc3339 ?? "no end")"
        return [entitlement, span, why, by.map { "by \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}

extension OwnershipMove {
    fileprivate var summary: String {
        let moved = "moved to \(customer.text)"
        return [
            former.first.map { "\(moved) from \($0.text)" } ?? moved, why, by.map { "by \($0)" },
        ]
        .compactMap(\.self).joined(separator: ", ")
    }
}

extension Revocation {
    fileprivate var summary: String {
        ["\(cause.word), from \(date.rfc3339)", why, by.map { "by \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}

extension PendingPurchase {
    fileprivate var summary: String {
        "\(productId), \(isOver ? "not pending any more" : "pending")"
    }
}

extension PlaySubscription {
    fileprivate var summary: String {
        let about = [
            state.word, resumesAt.map { "resumes \($0.rfc3339)" },
            cancellation.map { "cancelled by: \($0.word)" },
            replaces == nil ? nil : "replaces another purchase",
            follows == nil ? nil : "follows an expired purchase", isTest ? "a test" : nil,
        ].compactMap(\.self)
        return (items.map(\.summary) + about).joined(separator: ", ")
    }
}

extension PlayItem {
    fileprivate var summary: String {
        [
            productId, expiresAt.map { "until \($0.rfc3339)" }, plan.summary,
            phase.flatMap { $0 == .base ? nil : $0.word },
            replacement.map { "becomes \($0)" }, isRemovedAtExpiry ? "to be removed" : nil,
        ].compactMap(\.self).joined(separator: " ")
    }
}

extension PlayItem.Plan {
    fileprivate var summary: String? {
        switch self {
        case .autoRenewing(let isOn): isOn ? "renews" : "does not renew"
        case .prepaid: "prepaid"
        case .unstated: nil
        }
    }
}

extension PlayPurchase {
    fileprivate var summary: String {
        let products = items.map { $0.isConsumed ? "\($0.productId) (consumed)" : $0.productId }
        let about = [state.word, completedAt?.rfc3339, isTest ? "a test" : nil]
        return (products + about.compactMap(\.self)).joined(separator: ", ")
    }
}

extension PlayVoidedOrder {
    fileprivate var summary: String {
        "\(isPartial ? "voided in part" : "voided"), from \(date.rfc3339)"
    }
}
