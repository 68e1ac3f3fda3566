import TideoverCore
import TideoverJSON

extension AuditEntry {
    /// Reads an entry from its stored form.
    ///
    /// - Throws: `corrupt` if it cannot be read.
    package static func read(
        stored form: [UInt8],
        place: String
    ) throws(StorageError) -> AuditEntry {
        guard let document = try? JSONDocument(form, limits: .local),
            let entry = try? AuditEntry(form: document.root, "audit")
        else {
            throw StorageError(
                .corrupt,
                place: place,
                detail: "a line of the audit cannot be read"
            )
        }
        return entry
    }

    /// The stored form of an entry.
    package var storedForm: [UInt8] { JSONWriter.object { writeFields(to: &$0) } }
}
