import TideoverCore

extension Message {
    private var type: AppStoreNotification.NotificationType? {
        notification?.notificationType?.known
    }

    /// Whether this version knows the message's type and ownership. Other messages change nothing,
    /// even if parts of them are readable.
    private var isUnderstood: Bool {
        (notification?.isUnderstood ?? true) && (transaction?.isUnderstood ?? true)
    }

    /// Whether there is a renewal info that is complete enough to state facts.
    private var hasCompleteRenewalInfo: Bool { renewalInfo?.missing.isEmpty ?? false }

    /// The lineage of the message. A renewal info has no ownership; the transaction beside it does.
    private var lineage: Lineage? {
        if let missing = transaction?.missing {
            guard missing.isEmpty else { return nil }
            return lineage(transaction?.originalTransactionId, transaction?.ownership ?? .purchased)
        }
        guard hasCompleteRenewalInfo else { return nil }
        return lineage(renewalInfo?.originalTransactionId, .purchased)
    }

    private func lineage(_ id: String?, _ ownership: Ownership) -> Lineage? {
        id.map { id in
            Lineage(store: .appStore, environment: environment, id: id, ownership: ownership)
        }
    }

    // MARK: Statements

    /// Returns all statements of the message, with those about its unrecognised words.
    func statements(with unrecognised: [Unrecognised]) -> [Statement] {
        if receipt != nil || receiptAnswer != nil {
            return signedDate.map(receiptStatements) ?? []
        }
        guard let lineage else { return [] }
        let unknown = statements(of: unrecognised, in: lineage)
        guard isUnderstood else { return unknown }
        return transactionWords(of: lineage) + renewalWords(of: lineage) + unknown
    }

    private func transactionWords(of lineage: Lineage) -> [Statement] {
        guard let term = transaction?.term, let signed = transaction?.signedDate else { return [] }
        var words = [Statement(lineage, .term(term), from: term.start, at: signed)]
        if let revocation = transaction?.revocation(of: term, announcedBy: type) {
            let date = revocation.date
            words.append(Statement(lineage, .revocation(revocation), from: date, at: signed))
        }
        // The envelope announces the reversal. Its transaction has no refund, and may have been
        // signed before the refund.
        if type == .refundReversed, let signed = notification?.signedDate {
            words.append(Statement(lineage, .reversal(Reversal(term: term.key)), at: signed))
        }
        return words
    }

    private func renewalWords(of lineage: Lineage) -> [Statement] {
        let signedRenewal = hasCompleteRenewalInfo ? renewalInfo?.signedDate : nil
        var words: [Statement] = []
        if let signedRenewal, let outlook = renewalInfo?.outlook {
            words.append(Statement(lineage, .outlook(outlook), at: signedRenewal))
        }
        // Parts of one envelope are signed seconds apart. The condition takes the date of the
        // renewal info beside it, so that both have the same date.
        let renewalDate = signedRenewal == nil ? nil : renewalInfo?.renewalDate
        if let condition = condition(renewalDate: renewalDate),
            let signed = signedRenewal ?? signedDate
        {
            words.append(Statement(lineage, .condition(condition), at: signed))
        }
        return words
    }

    private func condition(renewalDate: Instant?) -> Condition? {
        notification?.condition(renewalDate: renewalDate) ?? Condition(status, nil, renewalDate)
    }

    private func statements(
        of unrecognised: [Unrecognised],
        in lineage: Lineage
    ) -> [Statement] {
        guard let signedDate else { return [] }
        return unrecognised.map { Statement(lineage, .unrecognised($0), at: signedDate) }
    }

    /// The store's values that this version does not know, without duplicates.
    var unrecognised: [Unrecognised] {
        let all =
            (notification?.unrecognised ?? [])
            + [status.unrecognised(as: "status")].compactMap(\.self)
            + (transaction?.unrecognised ?? [])
            + (renewalInfo?.unrecognised ?? [])
            + unrecognisedInReceipt
        return all.indices.filter { !all[..<$0].contains(all[$0]) }.map { all[$0] }
    }

    // MARK: Notes

    /// Notes for operators who inspect the message.
    var notes: [AppStoreNote] {
        environmentNotes + contentNotes + (transaction?.notes(announcedBy: type) ?? [])
            + renewalNotes + receiptNotes
    }

    private var environmentNotes: [AppStoreNote] {
        let claim = claimedEnvironment.flatMap(StoreEnvironment.init)
        let said = claim ?? receipt?.type?.known?.environment
        guard let claimedEnvironment, said?.environment != environment
        else { return [] }
        return [.claimsEnvironment(claimedEnvironment, instead: environment)]
    }

    private var contentNotes: [AppStoreNote] {
        guard let notification else { return appTransaction == nil ? [] : [.appTransaction] }
        var notes: [AppStoreNote] = []
        if let word = notification.notificationType, word.known == nil {
            notes.append(.unknownType(word.raw))
        }
        switch notification.content {
        case .data, nil: if type == .test { notes.append(.test) }
        case .summary(let summary):
            let counts = (summary.succeededCount, summary.failedCount)
            notes.append(.extensionSummary(succeeded: counts.0, failed: counts.1))
        case .externalPurchaseToken: notes.append(.externalPurchaseToken)
        case .appData: if type == .rescindConsent { notes.append(.consentRescinded) }
        case .unknown(let object): notes.append(.unknownContent(object.name))
        }
        return notes
    }

    private var renewalNotes: [AppStoreNote] {
        guard let renewalInfo else { return [] }
        let missing = renewalInfo.missing
        if !missing.isEmpty { return [.incompleteRenewalInfo(missing: missing)] }
        return transaction == nil ? [.renewalInfoAlone] : []
    }
}
