public import TideoverCore
import TideoverJSON
import TideoverSignatures

/// An intake in the form any storage keeps it, made by the caller before it waits for the writer.
package struct IntakeRows: Sendable {
    package let intake: Intake
    package let evidence: EvidenceRow?
    package let facts: [FactRow]

    /// - Throws: `refused` when the intake mixes environments, or when a fact cannot be read back from
    ///   its JSON form: stored, it would make every later derivation of its customer fail.
    package init(_ intake: Intake, place: String) throws(StorageError) {
        if let objection = intake.objection {
            throw StorageError(.refused, place: place, detail: objection)
        }
        var facts: [FactRow] = []
        for fact in intake.facts {
            let row = FactRow(fact)
            guard row.canBeReadBack else {
                throw StorageError(.refused, place: place, detail: "a fact has no JSON form")
            }
            facts.append(row)
        }
        self.intake = intake
        self.facts = facts
        evidence = intake.evidence.map(EvidenceRow.init)
    }
}

/// A piece of evidence, and the headers it is put together with.
package struct EvidenceRow: Sendable {
    package let evidence: Evidence
    package let form: [UInt8]
    package let headers: [HeaderFingerprint: [UInt8]]

    package init(_ evidence: Evidence) {
        var headers: [HeaderFingerprint: [UInt8]] = [:]
        self.evidence = evidence
        form = EvidenceForm(of: evidence.bytes, headers: &headers).encoded
        self.headers = headers
    }
}

/// A fact, its JSON form, and the digest that tells whether it is already known.
package struct FactRow: Sendable {
    package let fact: Fact
    package let form: [UInt8]
    /// Equal for two facts that say the same thing: lineage, assertion, `assertedAt`,
    /// `envelopeSignedAt` and rank count, not how and when it reached us. When the JSON form of
    /// facts gains a field, a fact told again may be stored again, which changes no answer.
    package let identity: [UInt8]

    package init(_ fact: Fact) {
        self.fact = fact
        form = fact.json
        var said = fact
        said.effectiveAt = fact.assertedAt
        said.learnedAt = fact.assertedAt
        said.source = .appStoreNotification
        said.evidence = EvidenceID(hex: "")
        identity = SHA256.hash(said.json)
    }

    fileprivate var canBeReadBack: Bool {
        guard let document = try? JSONDocument(form, limits: .local) else { return false }
        return (try? Fact(json: document.root)) == fact
    }
}

extension Fact {
    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

extension OwnershipEntry {
    /// The entry in its JSON form.
    package var form: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

extension Drift {
    /// The drift in its JSON form.
    package var form: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

extension EvidenceID {
    /// The id of evidence: the digest of what was received.
    public init(of received: some Collection<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        let hex = SHA256.hash(received).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        self.init(hex: String(decoding: hex, as: UTF8.self))
    }
}
