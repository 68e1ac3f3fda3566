import TideoverCore

extension Message {
    private var type: AppStoreNotification.NotificationType? {
        notification?.notificationType?.known
    }

    /// Whether this version knows what kind of message it is and whose. One that it does not know
    /// changes nothing, however much in it could be read.
    private var isUnderstood: Bool {
        (notification == nil || type != nil)
            && (transaction == nil || transaction?.ownership != nil)
    }

    /// The renewal info, if it can state anything.
    private var completeRenewalInfo: AppStoreRenewalInfo? {
        renewalInfo.flatMap { $0.missing.isEmpty ? $0 : nil }
    }

    /// What the message is about. A renewal info does not say whose it is: the transaction beside
    /// it does.
    private var lineage: Lineage? {
        if let transaction {
            guard transaction.missing.isEmpty else { return nil }
            return lineage(transaction.originalTransactionId, transaction.ownership ?? .purchased)
        }
        return lineage(completeRenewalInfo?.originalTransactionId, .purchased)
    }

    private func lineage(_ id: String?, _ ownership: Ownership) -> Lineage? {
        id.map { id in
            Lineage(store: .appStore, environment: environment, id: id, ownership: ownership)
        }
    }

    // MARK: Statements

    /// Everything the message asserts.
    var statements: [Statement] {
        if receipt != nil || receiptAnswer != nil {
            return signedDate.map(receiptStatements) ?? []
        }
        guard let lineage else { return [] }
        let unknown = unrecognisedWords(of: lineage)
        guard isUnderstood else { return unknown }
        return transactionWords(of: lineage) + renewalWords(of: lineage) + unknown
    }

    private func transactionWords(of lineage: Lineage) -> [Statement] {
        guard let transaction, let term = transaction.term, let signed = transaction.signedDate
        else { return [] }
        var words = [Statement(lineage, .term(term), from: term.start, at: signed)]
        if let revocation = transaction.revocation(of: term, announcedBy: type) {
            let date = revocation.date
            words.append(Statement(lineage, .revocation(revocation), from: date, at: signed))
        }
        // It is the envelope that speaks of a reversal: the transaction in it is one that has no
        // refund, and may have been signed before there was one.
        if type == .refundReversed, let signed = notification?.signedDate {
            words.append(Statement(lineage, .reversal(Reversal(term: term.key)), at: signed))
        }
        return words
    }

    private func renewalWords(of lineage: Lineage) -> [Statement] {
        let renewal = completeRenewalInfo
        var words: [Statement] = []
        if let renewal, let signed = renewal.signedDate {
            words.append(Statement(lineage, .outlook(renewal.outlook), at: signed))
        }
        // Parts of one envelope are signed seconds apart: the condition takes the date of the
        // renewal info beside it, so that the two never outrun each other.
        if let condition = condition(renewalDate: renewal?.renewalDate),
            let signed = renewal?.signedDate ?? signedDate
        {
            words.append(Statement(lineage, .condition(condition), at: signed))
        }
        return words
    }

    private func condition(renewalDate: Instant?) -> Condition? {
        notification?.condition(renewalDate: renewalDate) ?? Condition(status, nil, renewalDate)
    }

    private func unrecognisedWords(of lineage: Lineage) -> [Statement] {
        guard let signedDate else { return [] }
        return unrecognised.map { Statement(lineage, .unrecognised($0), at: signedDate) }
    }

    /// The store's words that this version does not know, each once.
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

    /// What is worth saying of it.
    var notes: [AppStoreNote] {
        environmentNotes + contentNotes + transactionNotes + renewalNotes + receiptNotes
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
        }
        return notes
    }

    private var transactionNotes: [AppStoreNote] {
        guard let transaction else { return [] }
        var notes: [AppStoreNote] = []
        if !transaction.missing.isEmpty {
            notes.append(.incompleteTransaction(missing: transaction.missing))
        }
        if transaction.ownership == nil, let word = transaction.inAppOwnershipType {
            notes.append(.unknownOwnership(word.raw))
        }
        if transaction.ownership == .familyShared { notes.append(.familyShared) }
        if transaction.revocationDate != nil, transaction.isUpgraded == true {
            notes.append(.upgradedAway)
        }
        if let type, type == .refund || type == .revoke, !transaction.isRevoked {
            notes.append(.nothingTakenBack(type.rawValue))
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
