import TideoverCore
package import TideoverHTTP
import TideoverLocks
package import TideoverSignatures

/// What OCSP responders answered about the certificates that sign the App Store's data. It is kept
/// in memory only, for the whole process.
///
/// Verification reads it and never waits for the network. A certificate that it does not know is
/// accepted, and asked about in the background.
package final class RevocationList: Sendable {
    private let table: Locked<RevocationTable>

    /// Creates an empty list of at most `capacity` certificates.
    package init(capacity: Int = 128) {
        table = Locked(RevocationTable(capacity: capacity))
    }

    /// Records the use of the certificates of a verified signer, and rejects revoked ones.
    func check(_ signer: VerifiedSigner) throws(SignatureRefusal) {
        try table.withLock { table throws(SignatureRefusal) in
            try table.use(signer.certificates)
        }
    }

    /// Returns the number of certificates in each state.
    func counts(at now: Instant) -> [RevocationTable.State: Int] {
        table.withLock { $0.counts(at: now) }
    }

    func withTable<Answer: Sendable>(_ body: (inout RevocationTable) -> Answer) -> Answer {
        table.withLock { body(&$0) }
    }
}

/// The list of revocations with the connection to OCSP responders.
package struct RevocationChecks: Sendable {
    /// The result of a request to a responder.
    package enum Exchange: Sendable {
        case response(status: Int, body: [UInt8])
        /// The URL is not one that may be asked about certificates below the anchor.
        case forbidden
        /// No response arrived; carries the reason.
        case failure(String)
    }

    /// Sends a request to a responder that a certificate below an anchor names.
    package typealias Send =
        @Sendable (_ responder: String, _ anchor: TrustAnchor, _ request: Request) async -> Exchange

    let list: RevocationList
    let send: Send

    /// Creates checks that fill a list.
    package init(list: RevocationList, send: @escaping Send) {
        self.list = list
        self.send = send
    }
}
