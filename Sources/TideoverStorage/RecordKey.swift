import TideoverCore

/// The key of a record among those of its kind. Every storage reads the records of a kind in the
/// order of their keys.
package struct RecordKey: Hashable, Comparable, Sendable {
    /// Texts are ordered by their UTF-8 bytes, numbers by value.
    private enum Part: Hashable, Sendable {
        case bytes([UInt8])
        case number(Int64)

        static func text(_ text: String) -> Part { .bytes(Array(text.utf8)) }

        static func instant(_ instant: Instant) -> Part { .number(instant.millisecondsSince1970) }
    }

    private let parts: [Part]

    private init(_ parts: Part...) {
        self.parts = parts
    }

    package static func < (first: RecordKey, second: RecordKey) -> Bool {
        for pair in zip(first.parts, second.parts) where pair.0 != pair.1 {
            switch pair {
            case (.bytes(let first), .bytes(let second)):
                return first.lexicographicallyPrecedes(second)
            case (.number(let first), .number(let second)): return first < second
            default: preconditionFailure("keys of one kind have the same parts")
            }
        }
        return false
    }

    package init(of record: StoredRecord) {
        switch record {
        case .evidence(let evidence, _):
            self.init(.text(evidence.id.hex), .text(evidence.dedupeKey))
        case .fact(let fact):
            self.init(
                .text(fact.lineage.key),
                .instant(fact.assertedAt),
                .bytes(FactRow(fact).identity)
            )
        case .owner(let entry, let position):
            self.init(.text(entry.lineage.key), .number(Int64(position)))
        case .alias(let alias): self.init(.text(alias.alias.text))
        case .attribute(let record):
            self.init(.text(record.customer.text), .text(record.attribute.name))
        case .prompt(let record):
            self.init(.text(record.customer.text), .text(record.exposure.id))
        case .drift(let drift): self.init(.text(drift.customer.text), .text(drift.id))
        case .event(let event): self.init(.text(event.id.description))
        case .told(let told): self.init(.text(told.customer.text), .text(told.name))
        case .audit(let record): self.init(.text(record.id.description))
        case .bookmark(let bookmark): self.init(.text(bookmark.name))
        case .policy(let version): self.init(.instant(version.effectiveAt))
        case .customer(let row): self.init(.text(row.key.customer.text))
        }
    }
}
