import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverSignatures

/// The end of a certificate that App Store data of one environment is verified with, or of an
/// answer about it.
struct CertificateEnd: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
        /// A root that is built in or configured.
        case root
        /// A certificate that signed data since the server started.
        case signing
        /// The last answer of an OCSP responder that no longer answers.
        case revocationAnswer
    }

    let subject: Subject
    /// Such as `apple`, or `leaf certificate 0a3f`.
    let certificate: String
    let at: Instant
}

extension AppStoreTrust {
    /// Returns the ends that the server knows. Signing certificates and answers are remembered only
    /// while revocation is checked.
    func certificateEnds(in environment: Environment) -> [CertificateEnd] {
        let roots = trustedRoots.filter { $0.value.certifies(environment) }.map(\.key)
        let seen = rememberedCertificates.filter { roots.contains($0.certificate.anchor) }
        return roots.map { root in
            CertificateEnd(
                subject: .root,
                certificate: root.name,
                at: Instant(millisecondsSince1970: root.validity.upperBound)
            )
        } + seen.flatMap(\.ends)
    }
}

extension Authority {
    /// Whether its signatures can be about an environment.
    fileprivate func certifies(_ environment: Environment) -> Bool {
        switch self {
        case .appStore: environment == .production || environment == .sandbox
        case .simulated: environment == .simulated
        case .pinned(let own): environment == own
        }
    }
}

extension RevocationTable.Entry {
    fileprivate var ends: [CertificateEnd] {
        let serial = Hexadecimal.text(certificate.serialNumber)
        let name = "\(certificate.position.name) \(serial)"
        let end = CertificateEnd(
            subject: .signing,
            certificate: name,
            at: Instant(millisecondsSince1970: certificate.notAfter)
        )
        // A responder that answers is asked again in time, so its answers are no deadline.
        guard failures > 0, let statement, case .good = statement.status else { return [end] }
        let answer = CertificateEnd(
            subject: .revocationAnswer,
            certificate: name,
            at: Instant(millisecondsSince1970: statement.validUntil)
        )
        return [end, answer]
    }
}

extension ChainPosition {
    fileprivate var name: String {
        switch self {
        case .leaf: "leaf certificate"
        case .intermediate: "intermediate certificate"
        case .anchor: "root certificate"
        }
    }
}
