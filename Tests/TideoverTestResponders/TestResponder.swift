import TideoverASN1
public import TideoverSignatures

/// A responder of tests: it writes OCSP responses (RFC 6960), well-formed or not, and signs them.
public struct TestResponder: Sendable {
    /// The status of a certificate.
    public enum Status: Sendable {
        case good, unknown
        /// Revoked since this instant, in milliseconds since 1970.
        case revoked(Int64)
    }

    /// The content of a response.
    public struct Plan: Sendable {
        public var status: Status
        /// Milliseconds since 1970.
        public var thisUpdate: Int64
        /// Milliseconds since 1970; nil omits it.
        public var nextUpdate: Int64?
        /// Whether it has an unknown critical extension.
        public var isCritical = false
        /// The contents of the signature algorithm's object identifier: ECDSA with SHA-256.
        public var algorithm: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]

        public init(_ status: Status, thisUpdate: Int64, nextUpdate: Int64?) {
            self.status = status
            self.thisUpdate = thisUpdate
            self.nextUpdate = nextUpdate
        }
    }

    private let subject: String
    private let key: P256PrivateKey
    private let certificates: [[UInt8]]

    /// Creates a responder with the common name of its certificate, its key, and the certificates
    /// that it encloses.
    public init(subject: String, key: P256PrivateKey, certificates: [[UInt8]] = []) {
        self.subject = subject
        self.key = key
        self.certificates = certificates
    }

    /// Returns the `CertID` in a request with one.
    public static func identifier(in request: [UInt8]) throws -> [UInt8] {
        var value = try BERReader.only(request[...])
        // OCSPRequest, TBSRequest, requestList, Request, CertID.
        for _ in 0..<4 {
            var elements = value.elements
            value = try elements.next()
        }
        return Array(value.encoding)
    }

    /// Returns the response about the certificate with this `CertID`.
    public func response(_ plan: Plan, about identifier: [UInt8]) -> [UInt8] {
        let statement = der(
            0x30,
            der(0xA1, name) + der(0x18, Self.time(plan.thisUpdate))
                + der(0x30, single(plan, identifier)) + (plan.isCritical ? Self.extensions : [])
        )
        let enclosed =
            certificates.isEmpty ? [] : der(0xA0, der(0x30, certificates.flatMap(\.self)))
        let basic = der(
            0x30,
            statement + der(0x30, der(0x06, plan.algorithm))
                + der(0x03, [0] + Self.encoded(key.sign(statement))) + enclosed
        )
        let type: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x01]
        return der(
            0x30,
            der(0x0A, [0]) + der(0xA0, der(0x30, der(0x06, type) + der(0x04, basic)))
        )
    }

    /// A response without a status, as a responder sends that wants a later request.
    public static let tryLater: [UInt8] = [0x30, 0x03, 0x0A, 0x01, 0x03]

    /// An extension of certificates that names the URL of a responder.
    public static func access(_ url: String) -> CertificateExtension {
        let method: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01]
        return CertificateExtension(
            "1.3.6.1.5.5.7.1.1",
            value: der(0x30, der(0x30, der(0x06, method) + der(0x86, Array(url.utf8))))
        )
    }

    /// An extension of certificates that allows to sign OCSP responses.
    public static let usage = CertificateExtension(
        "2.5.29.37",
        value: der(0x30, der(0x06, [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x09]))
    )

    private static let extensions = der(
        0xA1,
        der(
            0x30,
            der(0x30, der(0x06, [0x2A, 0x03, 0x04]) + der(0x01, [0xFF]) + der(0x04, [0x05, 0]))
        )
    )

    private var name: [UInt8] {
        let attribute = der(0x06, [0x55, 0x04, 0x03]) + der(0x0C, Array(subject.utf8))
        return der(0x30, der(0x31, der(0x30, attribute)))
    }

    private func single(_ plan: Plan, _ identifier: [UInt8]) -> [UInt8] {
        let status: [UInt8] =
            switch plan.status {
            case .good: der(0x80, [])
            case .unknown: der(0x82, [])
            case .revoked(let instant): der(0xA1, der(0x18, Self.time(instant)))
            }
        let next = plan.nextUpdate.map { der(0xA0, der(0x18, Self.time($0))) } ?? []
        return der(0x30, identifier + status + der(0x18, Self.time(plan.thisUpdate)) + next)
    }

    private static func time(_ milliseconds: Int64) -> [UInt8] {
        let text = CertificateTime.text(milliseconds / 1000 * 1000)
        return Array(text.utf8.filter { !"-:T".utf8.contains($0) })
    }

    /// Returns a signature of 64 bytes in DER.
    private static func encoded(_ signature: [UInt8]) -> [UInt8] {
        let numbers = [signature.prefix(32), signature.suffix(32)].map { half in
            let digits = Array(half.drop { $0 == 0 })
            return der(0x02, (digits.first ?? 0) & 0x80 == 0 ? digits : [0] + digits)
        }
        return der(0x30, numbers[0] + numbers[1])
    }
}

private func der(_ identifier: UInt8, _ contents: [UInt8]) -> [UInt8] {
    let count = contents.count
    let length: [UInt8] =
        switch count {
        case ..<0x80: [UInt8(count)]
        case ..<0x100: [0x81, UInt8(count)]
        default: [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        }
    return [identifier] + length + contents
}
