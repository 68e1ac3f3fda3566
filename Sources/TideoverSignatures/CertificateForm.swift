import TideoverASN1

/// The required form of a sender's certificate: X.509 version 3 (RFC 5280) in DER.
///
/// libcrypto also decodes certificates that break the rules of DER, even if their signature is
/// valid. Other libraries reject such certificates, so this check rejects them too. It consists of
/// comparisons only and runs before any public-key operation.
enum CertificateForm {
    /// Throws unless the bytes are exactly one certificate.
    static func check(_ der: [UInt8]) throws(BERError) {
        let certificate = try BERReader.only(der[...], rules: .distinguished)
        var parts = try certificate.elements(of: BERValue.sequence)
        let statement = try parts.next(BERValue.sequence)
        let algorithm = try parts.next(BERValue.sequence)
        try checkWholeBytes(parts.next(BERValue.bitString))
        try parts.end()
        try checkSignatureAlgorithm(algorithm)
        try checkStatement(statement, signedBy: algorithm)
    }

    /// `TBSCertificate`, without the unique identifiers that RFC 5280 forbids.
    private static func checkStatement(
        _ statement: BERValue,
        signedBy algorithm: BERValue
    ) throws(BERError) {
        var fields = statement.elements
        try checkVersion(fields.next(BERValue.field(0)))
        try checkSerialNumber(fields.next(BERValue.integer))
        guard try fields.next(BERValue.sequence).encoding == algorithm.encoding else {
            throw .objectIdentifier
        }
        try checkName(fields.next(BERValue.sequence))
        try checkValidity(fields.next(BERValue.sequence))
        try checkName(fields.next(BERValue.sequence))
        try checkKey(fields.next(BERValue.sequence))
        try checkExtensions(fields.next(BERValue.field(3)))
        try fields.end()
    }
}

extension Certificate {
    /// Decodes a certificate enclosed by a sender, after checking its form.
    static func received(
        _ der: [UInt8],
        _ position: ChainPosition
    ) throws(SignatureRefusal) -> Certificate {
        do {
            try CertificateForm.check(der)
        } catch {
            throw .certificateMalformed(position)
        }
        guard let certificate = Certificate(der: der) else { throw .certificateMalformed(position) }
        return certificate
    }
}

// MARK: - Fields

extension CertificateForm {
    private static let longestSerialNumber = 20

    private static func checkVersion(_ field: BERValue) throws(BERError) {
        var fields = field.elements
        let version = try fields.next(BERValue.integer).integer()
        try fields.end()
        // Version 3 is encoded as 2.
        guard version == 2 else { throw .integer }
    }

    private static func checkSerialNumber(_ value: BERValue) throws(BERError) {
        let bytes = try value.integerBytes()
        guard let first = bytes.first, first & 0x80 == 0, bytes.count <= longestSerialNumber,
            bytes.contains(where: { $0 != 0 })
        else { throw .integer }
    }

    /// `AlgorithmIdentifier` of a signature. ECDSA has no parameters (RFC 5758 section 3.2). RSA
    /// has NULL (RFC 4055 section 5), although RSA without parameters is also in use.
    private static func checkSignatureAlgorithm(_ value: BERValue) throws(BERError) {
        let (identifier, parameters) = try algorithm(value)
        guard let parameters else { return }
        guard identifier.hasPrefix(rsaArc) else { throw .trailingBytes }
        try checkNull(parameters)
    }

    /// `AlgorithmIdentifier` of a key. An RSA key has NULL; an elliptic curve key names its curve.
    /// `SubjectKey` rejects explicit curve parameters.
    private static func checkKeyAlgorithm(_ value: BERValue) throws(BERError) {
        let (identifier, parameters) = try algorithm(value)
        guard let parameters else { return }
        if identifier.hasPrefix(rsaArc) {
            try checkNull(parameters)
        } else if parameters.identifier != BERValue.sequence {
            _ = try parameters.objectIdentifier()
        }
    }

    private static let rsaArc = "1.2.840.113549.1.1."

    private static func algorithm(
        _ value: BERValue
    ) throws(BERError) -> (identifier: String, parameters: BERValue?) {
        var fields = value.elements
        let identifier = try fields.next(BERValue.objectIdentifier).objectIdentifier()
        let parameters = fields.isAtEnd ? nil : try fields.next()
        try fields.end()
        return (identifier, parameters)
    }

    private static func checkNull(_ value: BERValue) throws(BERError) {
        guard value.identifier == BERValue.null else { throw .unexpectedTag(value.identifier) }
        guard value.contents.isEmpty else { throw .trailingBytes }
    }

    /// `Name`: sets of attributes, each set in the order of its encodings (X.690 section 11.6).
    private static func checkName(_ value: BERValue) throws(BERError) {
        var sets = value.elements
        while !sets.isAtEnd {
            let set = try sets.next(BERValue.set)
            var attributes = set.elements
            var last = try checkedAttribute(&attributes)
            while !attributes.isAtEnd {
                let next = try checkedAttribute(&attributes)
                guard last.lexicographicallyPrecedes(next) else { throw .text }
                last = next
            }
        }
    }

    private static func checkedAttribute(
        _ attributes: inout BERReader
    ) throws(BERError) -> ArraySlice<UInt8> {
        let attribute = try attributes.next(BERValue.sequence)
        var fields = attribute.elements
        _ = try fields.next(BERValue.objectIdentifier).objectIdentifier()
        try checkText(
            fields.next(),
            of: [BERValue.utf8String, BERValue.printableString, BERValue.ia5String]
        )
        try fields.end()
        return attribute.encoding
    }

    private static func checkValidity(_ value: BERValue) throws(BERError) {
        var instants = value.elements
        for _ in 0..<2 {
            let instant = try instants.next()
            let milliseconds =
                switch instant.identifier {
                case BERValue.utcTime: CertificateTime.utcTime(instant.contents)
                case BERValue.generalizedTime: CertificateTime.generalizedTime(instant.contents)
                default: throw .unexpectedTag(instant.identifier)
                }
            guard milliseconds != nil else { throw .text }
        }
        try instants.end()
    }

    /// `SubjectPublicKeyInfo`
    private static func checkKey(_ value: BERValue) throws(BERError) {
        var fields = value.elements
        try checkKeyAlgorithm(fields.next(BERValue.sequence))
        try checkWholeBytes(fields.next(BERValue.bitString))
        try fields.end()
    }

    private static func checkWholeBytes(_ value: BERValue) throws(BERError) {
        let (bytes, unusedCount) = try value.bits()
        guard unusedCount == 0, !bytes.isEmpty else { throw .bitString }
    }

    private static func checkText(
        _ value: BERValue,
        of identifiers: Set<UInt8>
    ) throws(BERError) {
        guard identifiers.contains(value.identifier) else {
            throw .unexpectedTag(value.identifier)
        }
        let isText =
            switch value.identifier {
            case BERValue.utf8String: String(validating: value.contents, as: UTF8.self) != nil
            case BERValue.printableString: value.contents.allSatisfy(isPrintable)
            case BERValue.visibleString: value.contents.allSatisfy { (0x20..<0x7F).contains($0) }
            default: value.contents.allSatisfy { $0 < 0x80 }
            }
        guard isText, !value.contents.isEmpty else { throw .text }
    }

    /// The characters of PrintableString (X.680 section 41.4).
    private static func isPrintable(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: " '()+,-./:=?".utf8.contains(byte)
        }
    }
}

// MARK: - Extensions

extension CertificateForm {
    private static func checkExtensions(_ field: BERValue) throws(BERError) {
        var wrapper = field.elements
        var extensions = try wrapper.next(BERValue.sequence).elements
        try wrapper.end()
        var identifiers: Set<String> = []
        repeat {
            var fields = try extensions.next(BERValue.sequence).elements
            let identifier = try fields.next(BERValue.objectIdentifier).objectIdentifier()
            guard identifiers.insert(identifier).inserted else { throw .objectIdentifier }
            // DER omits default values.
            if let critical = try fields.nextIfPresent(BERValue.boolean) {
                guard try critical.boolean() else { throw .boolean }
            }
            let value = try fields.next(BERValue.octetString)
            try fields.end()
            try checkExtension(identifier, value.contents)
        } while !extensions.isAtEnd
    }

    /// Checks the value of a standard extension, and rejects one with an unknown form: another
    /// library may know the form and reject it. All other values may be any bytes.
    private static func checkExtension(
        _ identifier: String,
        _ bytes: ArraySlice<UInt8>
    ) throws(BERError) {
        guard let check = checks[identifier] else {
            guard !standardArcs.contains(where: identifier.hasPrefix) else {
                throw .objectIdentifier
            }
            return
        }
        try check(BERReader.only(bytes, rules: .distinguished))
    }

    /// The arcs in which RFC 5280, its registries, certificate transparency, Windows and ISIS-MTT
    /// define extensions.
    private static let standardArcs = [
        "2.5.29.", "1.3.6.1.5.5.7.", "1.3.6.1.4.1.11129.2.4.", "1.3.6.1.4.1.311.", "1.3.36.8.3.",
    ]

    private typealias Check = @Sendable (BERValue) throws(BERError) -> Void

    private static let checks: [String: Check] = [
        "2.5.29.14": checkKeyIdentifier,
        "2.5.29.15": checkKeyUsage,
        "2.5.29.17": checkHosts,
        "2.5.29.19": checkBasicConstraints,
        "2.5.29.30": checkNameConstraints,
        "2.5.29.31": checkRevocationLists,
        "2.5.29.32": checkPolicies,
        "2.5.29.35": checkAuthorityKeyIdentifier,
        "2.5.29.37": checkExtendedKeyUsage,
        "1.3.6.1.5.5.7.1.1": checkAuthorityAccess,
    ]

    private static func checkBasicConstraints(_ value: BERValue) throws(BERError) {
        var fields = try value.elements(of: BERValue.sequence)
        if let authority = try fields.nextIfPresent(BERValue.boolean) {
            guard try authority.boolean() else { throw .boolean }
        }
        if let length = try fields.nextIfPresent(BERValue.integer) {
            guard try length.integer() >= 0 else { throw .integer }
        }
        try fields.end()
    }

    /// A list of named bits ends with the last one that is set (X.690 section 11.2.2).
    private static func checkKeyUsage(_ value: BERValue) throws(BERError) {
        let (bytes, unusedCount) = try value.bits()
        guard bytes.count <= 2, bytes.last.map({ $0.trailingZeroBitCount }) ?? 0 == unusedCount
        else { throw .bitString }
    }

    private static func checkKeyIdentifier(_ value: BERValue) throws(BERError) {
        guard value.identifier == BERValue.octetString else {
            throw .unexpectedTag(value.identifier)
        }
        guard !value.contents.isEmpty else { throw .string }
    }

    /// Accepts only a key identifier: stores do not include issuer and serial number.
    private static func checkAuthorityKeyIdentifier(_ value: BERValue) throws(BERError) {
        var fields = try value.elements(of: BERValue.sequence)
        guard try !fields.next(BERValue.plainField(0)).contents.isEmpty else { throw .string }
        try fields.end()
    }

    private static func checkExtendedKeyUsage(_ value: BERValue) throws(BERError) {
        try value.forEachElement { purpose throws(BERError) in
            _ = try purpose.objectIdentifier()
        }
    }

    private static func checkHosts(_ value: BERValue) throws(BERError) {
        try value.forEachElement(checkGeneralName)
    }

    /// Accepts a mail address, a host or a URL: the kinds that every library reads alike.
    private static func checkGeneralName(_ name: BERValue) throws(BERError) {
        guard [1, 2, 6].map(BERValue.plainField).contains(name.identifier) else {
            throw .unexpectedTag(name.identifier)
        }
        guard !name.contents.isEmpty, name.contents.allSatisfy({ (0x21..<0x7F).contains($0) })
        else { throw .text }
    }

    private static func checkNameConstraints(_ value: BERValue) throws(BERError) {
        var fields = try value.elements(of: BERValue.sequence)
        var isEmpty = true
        for number in [0, 1] as [UInt8] {
            guard let subtrees = try fields.nextIfPresent(BERValue.field(number)) else { continue }
            isEmpty = false
            try subtrees.forEachElement(identifiedBy: BERValue.field(number)) {
                subtree throws(BERError) in
                var parts = try subtree.elements(of: BERValue.sequence)
                try checkGeneralName(parts.next())
                try parts.end()
            }
        }
        try fields.end()
        guard !isEmpty else { throw .truncated }
    }

    /// `CRLDistributionPoints`, each with full names only.
    private static func checkRevocationLists(_ value: BERValue) throws(BERError) {
        try value.forEachElement { point throws(BERError) in
            var fields = try point.elements(of: BERValue.sequence)
            var names = try fields.next(BERValue.field(0)).elements
            try fields.end()
            try names.next(BERValue.field(0))
                .forEachElement(identifiedBy: BERValue.field(0), checkGeneralName)
            try names.end()
        }
    }

    private static func checkAuthorityAccess(_ value: BERValue) throws(BERError) {
        try value.forEachElement { description throws(BERError) in
            var fields = try description.elements(of: BERValue.sequence)
            _ = try fields.next(BERValue.objectIdentifier).objectIdentifier()
            try checkGeneralName(fields.next())
            try fields.end()
        }
    }

    private static func checkPolicies(_ value: BERValue) throws(BERError) {
        try value.forEachElement { policy throws(BERError) in
            var fields = try policy.elements(of: BERValue.sequence)
            _ = try fields.next(BERValue.objectIdentifier).objectIdentifier()
            if let qualifiers = try fields.nextIfPresent(BERValue.sequence) {
                try qualifiers.forEachElement(checkQualifier)
            }
            try fields.end()
        }
    }

    /// Accepts the address of a statement, or a notice with text only.
    private static func checkQualifier(_ value: BERValue) throws(BERError) {
        var fields = try value.elements(of: BERValue.sequence)
        let identifier = try fields.next(BERValue.objectIdentifier).objectIdentifier()
        switch identifier {
        case "1.3.6.1.5.5.7.2.1": try checkText(fields.next(), of: [BERValue.ia5String])
        case "1.3.6.1.5.5.7.2.2":
            var notice = try fields.next(BERValue.sequence).elements
            try checkText(
                notice.next(),
                of: [BERValue.utf8String, BERValue.ia5String, BERValue.visibleString]
            )
            try notice.end()
        default: throw .objectIdentifier
        }
        try fields.end()
    }
}

extension BERValue {
    /// Returns the elements, if the value has this identifier.
    fileprivate func elements(of identifier: UInt8) throws(BERError) -> BERReader {
        guard self.identifier == identifier else { throw .unexpectedTag(self.identifier) }
        return elements
    }

    /// Calls `body` with each element; there must be at least one.
    fileprivate func forEachElement(
        identifiedBy identifier: UInt8 = BERValue.sequence,
        _ body: (BERValue) throws(BERError) -> Void
    ) throws(BERError) {
        var elements = try elements(of: identifier)
        repeat {
            try body(elements.next())
        } while !elements.isAtEnd
    }
}
