package import TideoverCore
import TideoverJSON
import TideoverSignatures

/// A commit request in the form any storage uses, prepared by the caller before it waits for the
/// writer.
package struct CommitRequestRows: Sendable {
    package let commitRequest: CommitRequest
    package let evidence: EvidenceRow?
    package let facts: [FactRow]

    /// - Throws: `refused` if the commit request mixes environments, or if a fact cannot be read
    ///   back from its JSON form. Such a fact would make every later derivation of its customer
    ///   fail.
    package init(_ commitRequest: CommitRequest, place: String) throws(StorageError) {
        if let objection = commitRequest.objection {
            throw StorageError(.refused, place: place, detail: objection)
        }
        var facts: [FactRow] = []
        var reader = StoredFactReader()
        for fact in commitRequest.facts {
            let row = FactRow(fact)
            guard (try? reader.fact(row.form)) == fact else {
                throw StorageError(.refused, place: place, detail: "a fact has no JSON form")
            }
            facts.append(row)
        }
        self.commitRequest = commitRequest
        self.facts = facts
        evidence = commitRequest.evidence.map(EvidenceRow.init)
    }

    /// Returns the rows of commit requests for one transaction.
    ///
    /// - Throws: `refused` if they differ in app, environment or instant.
    package static func batch(
        _ commitRequests: [CommitRequest],
        place: String
    ) throws(StorageError) -> [CommitRequestRows] {
        guard let first = commitRequests.first else { return [] }
        guard commitRequests.allSatisfy({ $0.scope == first.scope && $0.now == first.now }) else {
            let detail = "the requests of one commit differ in app, environment or instant"
            throw StorageError(.refused, place: place, detail: detail)
        }
        return try commitRequests.map { request throws(StorageError) in
            try CommitRequestRows(request, place: place)
        }
    }
}

/// A piece of evidence, and the headers needed to reassemble it.
package struct EvidenceRow: Sendable {
    package let evidence: Evidence
    package let form: [UInt8]
    package let headers: [HeaderFingerprint: [UInt8]]

    package init(_ evidence: Evidence) {
        var headers: [HeaderFingerprint: [UInt8]] = [:]
        self.evidence = evidence
        form = EvidenceForm.encode(evidence.bytes, evidence.decoded, headers: &headers)
        self.headers = headers
    }
}

/// A fact, its JSON form, and the digest that identifies duplicates.
package struct FactRow: Sendable {
    package let fact: Fact
    package let form: [UInt8]
    /// Equal for two facts with the same content: lineage, assertion, `assertedAt`,
    /// `envelopeSignedAt` and rank. The way and time of arrival do not count. When the JSON form
    /// gains a field, a repeated fact may be stored again, which changes no answer.
    package let identity: [UInt8]

    package init(_ fact: Fact) {
        self.fact = fact
        var said = fact
        said.effectiveAt = fact.assertedAt
        said.learnedAt = fact.assertedAt
        said.source = .appStoreNotification
        said.evidence = EvidenceID(hex: "")
        let forms = fact.forms(with: said)
        form = forms.own
        identity = SHA256.hash(forms.other)
    }
}

extension Fact {
    /// Whether the fact is about a purchase.
    package var isPurchase: Bool {
        switch assertion {
        case .term, .playSubscription, .playPurchase: true
        case .outlook, .condition, .revocation, .reversal, .grant, .move, .inferredOwner,
            .inquiry, .pending, .playVoidedOrder, .playReplacement, .playNotice, .unrecognised:
            false
        }
    }
}

extension OwnershipEntry {
    /// The entry in its JSON form.
    package var form: [UInt8] { JSONWriter.text { write(to: &$0) } }

    /// Reads an entry from its form, as it was stored.
    ///
    /// - Throws: the `JSONError` or the `FormError`.
    package init(stored form: [UInt8]) throws {
        let read = WrittenJSON.read(form) { json throws(WrittenJSON.Mismatch) in
            try OwnershipEntry(written: &json)
        }
        self = try read ?? OwnershipEntry(json: JSONDocument(form, limits: .local).root)
    }
}

extension Drift {
    /// The drift in its JSON form.
    package var form: [UInt8] { JSONWriter.text { write(to: &$0) } }
}

extension EvidenceID {
    /// Computes the id of evidence: the digest of the received bytes.
    package init(of received: [UInt8]) {
        self.init(hex: Hexadecimal.text(SHA256.hash(received)))
    }
}
