import Testing
import TideoverASN1
import TideoverSignatures

/// Certificates that are changed and then signed again by the correct issuer.
struct CertificateFormTests {
    /// A change of a certificate, before or after it is signed.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var isBeforeSigning = true
        let apply: @Sendable (inout TestCertificate) throws -> Void

        init(
            _ name: String,
            isBeforeSigning: Bool = true,
            _ apply: @escaping @Sendable (inout TestCertificate) throws -> Void
        ) {
            testDescription = name
            self.isBeforeSigning = isBeforeSigning
            self.apply = apply
        }
    }

    private let rootKey = P256PrivateKey.generate()
    private let intermediateKey = P256PrivateKey.generate()
    private let chain: TestChain

    init() throws {
        let keys = (rootKey, intermediateKey)
        chain = try TestChain {
            $0.rootKey = CertificateKey(keys.0)
            $0.intermediateKey = CertificateKey(keys.1)
        }
    }

    @Test(arguments: ChainPosition.allCases.filter { $0 != .anchor }, refused)
    func `a certificate with another structure is refused`(
        position: ChainPosition,
        change: Change
    ) throws {
        #expect(try found(position, change) == .certificateMalformed(position))
    }

    @Test(arguments: ChainPosition.allCases.filter { $0 != .anchor }, accepted)
    func `a certificate with the right structure is accepted`(
        position: ChainPosition,
        change: Change
    ) throws {
        #expect(try found(position, change) == nil)
    }

    @Test func `a malformed certificate causes no public-key operation`() throws {
        var certificate = try TestCertificate(chain.intermediate.certificate)
        certificate[.version].parts[0].contents = [3]
        certificate.sign(by: rootKey)
        let verifier = try chain.verifier()
        let certificates = [chain.leaf, certificate.bytes, []]
        #expect(
            try refusal { _ = try verifier.verifyChain(der: certificates, at: TestChain.instant) }
                == .certificateMalformed(.intermediate)
        )
        #expect(verifier.publicKeyOperationCount == 0)
    }

    /// Returns the refusal of the chain after one certificate is changed and signed again.
    private func found(_ position: ChainPosition, _ change: Change) throws -> SignatureRefusal? {
        let index = position == .leaf ? 0 : 1
        var certificates = chain.certificates
        var certificate = try TestCertificate(certificates[index])
        if change.isBeforeSigning { try change.apply(&certificate) }
        certificate.sign(by: position == .leaf ? intermediateKey : rootKey)
        if !change.isBeforeSigning { try change.apply(&certificate) }
        certificates[index] = certificate.bytes
        let verifier = try chain.verifier()
        return try refusal {
            _ = try verifier.verifyChain(der: certificates, at: TestChain.instant)
        }
    }

    // MARK: Tables

    private static let accepted = [
        Change("unchanged") { _ in },
        Change("serial number of 20 bytes") {
            $0[.serial].contents = [0x7F] + [UInt8](repeating: 0, count: 19)
        },
        Change("marker of any value") {
            $0[.marker].parts[1].contents = [0xFF, 0x00, 0x80]
        },
        Change("extensions as the App Store has them") {
            $0.extensions += [authorityAccess, revocationLists, policies].map(\.der)
        },
    ]

    private static let refused = form + fields + names + extensions + extensionValues

    /// The encoding (X.690 section 10.1).
    private static let form = [
        Change("length that is longer than need be", isBeforeSigning: false) { $0.length = .long },
        Change("length that is left open", isBeforeSigning: false) { $0.length = .open },
        Change("long length of a name") { $0[.subject].length = .long },
        Change("open length of a name") { $0[.subject].length = .open },
        Change("open length of the extensions") { $0[.extensions].parts[0].length = .open },
        Change("a value behind the signature", isBeforeSigning: false) {
            $0.parts.append(TestDER(BERValue.null, [] as [UInt8]))
        },
        Change("unused bits in the signature", isBeforeSigning: false) {
            $0.parts[2].contents[0] = 1
        },
    ]

    private static let fields = plainFields + algorithmParameters

    private static let plainFields = [
        Change("version 1") { $0[.version].parts[0].contents = [0] },
        Change("version 2") { $0[.version].parts[0].contents = [1] },
        Change("version 4") { $0[.version].parts[0].contents = [3] },
        Change("version 3 in two bytes") { $0[.version].parts[0].contents = [0, 2] },
        Change("version that is 259") { $0[.version].parts[0].contents = [1, 3] },
        Change("two versions") { certificate in
            certificate[.version].parts.append(certificate[.version].parts[0])
        },
        Change("no version") { $0.statement.parts.remove(at: 0) },
        Change("serial number zero") { $0[.serial].contents = [0] },
        Change("negative serial number") { $0[.serial].contents = [0x80] },
        Change("serial number with a zero in front") { $0[.serial].contents = [0, 5] },
        Change("serial number without bytes") { $0[.serial].contents = [] },
        Change("serial number of 21 bytes") {
            $0[.serial].contents = [UInt8](repeating: 1, count: 21)
        },
        Change("other algorithm outside", isBeforeSigning: false) {
            $0.parts[1].parts.append(TestDER(BERValue.null, [] as [UInt8]))
        },
        Change("validity of three instants") { certificate in
            certificate[.validity].parts.append(certificate[.validity].parts[1])
        },
        Change("instant without seconds") {
            $0[.validity].parts[0].contents = Array("2601010000Z".utf8)
        },
        Change("instant with an offset") {
            $0[.validity].parts[0].contents = Array("260101000000+0000".utf8)
        },
        Change("instant with a fraction") {
            $0[.validity].parts[1] = TestDER(
                BERValue.generalizedTime,
                Array("20270101000000.5Z".utf8)
            )
        },
        Change("instant of another tag") { $0[.validity].parts[0].identifier = BERValue.ia5String },
        Change("unused bits in the key") { $0[.key].parts[1].contents[0] = 1 },
        Change("nine unused bits in the key") { $0[.key].parts[1].contents[0] = 9 },
        Change("a value behind the key") {
            $0[.key].parts.append(TestDER(BERValue.null, [] as [UInt8]))
        },
        Change("a unique identifier") {
            $0.statement.parts.insert(TestDER(0x81, [0, 1]), at: 7)
        },
        Change("a value behind the extensions") {
            $0.statement.parts.append(TestDER(BERValue.null, [] as [UInt8]))
        },
    ]

    /// ECDSA has no parameters; the same ones are used inside and outside.
    private static let algorithmParameters = [
        ("a number", TestDER(BERValue.integer, [1])),
        ("NULL", TestDER(BERValue.null, [] as [UInt8])),
        ("a NULL of one byte", TestDER(BERValue.null, [0])),
        ("an object identifier", TestDER(BERValue.objectIdentifier, [0x2A, 0x03])),
        ("a sequence", TestDER(BERValue.sequence, [] as [TestDER])),
    ].map { name, parameters in
        Change("algorithm with \(name)") { certificate in
            certificate[.algorithm].parts.append(parameters)
            certificate.parts[1].parts.append(parameters)
        }
    }

    /// Changes only the subject: the issuer's name must remain correct.
    private static let names = [
        Change("name that is no sequence") { $0[.subject].identifier = BERValue.set },
        Change("name of sequences") { $0[.subject].parts[0].identifier = BERValue.sequence },
        Change("empty set in a name") { $0[.subject].parts[0].parts = [] },
        Change("attribute that is a set") { $0[.subject].parts[0].parts[0].identifier = 0x31 },
        Change("attribute of three values") {
            $0[.subject].parts[0].parts[0].parts.append(TestDER(BERValue.utf8String, [0x61]))
        },
        Change("text of an unknown tag") {
            $0[.subject].parts[0].parts[0].parts[1].identifier = 0x0D
        },
        Change("text that is a number") {
            $0[.subject].parts[0].parts[0].parts[1] = TestDER(BERValue.integer, [1])
        },
        Change("text that is no UTF-8") {
            $0[.subject].parts[0].parts[0].parts[1].contents = [0xC3]
        },
        Change("PrintableString with an asterisk") {
            $0[.subject].parts[0].parts[0].parts[1] = TestDER(BERValue.printableString, [0x2A])
        },
        Change("IA5String beyond ASCII") {
            $0[.subject].parts[0].parts[0].parts[1] = TestDER(BERValue.ia5String, [0x80])
        },
        Change("object identifier with a zero in front") {
            $0[.subject].parts[0].parts[0].parts[0].contents = [0x55, 0x80, 0x03]
        },
        Change("attributes out of order") { certificate in
            var other = certificate[.subject].parts[0].parts[0]
            other.parts[0].contents = [0x55, 0x04, 0x02]
            certificate[.subject].parts[0].parts.append(other)
        },
    ]

    private static let extensions = [
        Change("no extensions") { $0.statement.parts.removeLast() },
        Change("empty list of extensions") { $0.extensions = [] },
        Change("two lists of extensions") { certificate in
            certificate[.extensions].parts.append(certificate[.extensions].parts[0])
        },
        Change("extension twice") { $0.extensions.append($0[.marker]) },
        Change("criticality of 1") { $0[.basicConstraints].parts[1].contents = [1] },
        Change("criticality in two bytes") {
            $0[.basicConstraints].parts[1].contents = [0xFF, 0xFF]
        },
        Change("criticality that is written although it is false") {
            $0[.marker].parts.insert(TestDER(BERValue.boolean, [0]), at: 1)
        },
        Change("extension without a value") { $0[.marker].parts.removeLast() },
        Change("extension with a value of another tag") { $0[.marker].parts[1].identifier = 0x0C },
        Change("a value behind an extension's") {
            $0[.marker].parts.append(TestDER(BERValue.null, [] as [UInt8]))
        },
    ]

    private static let extensionValues = plainExtensionValues + longerExtensionValues

    private static let plainExtensionValues = [
        Change("constraints with a value behind") {
            try $0.change(.basicConstraints) {
                $0.parts.append(TestDER(BERValue.null, [] as [UInt8]))
            }
        },
        Change("constraints with bytes behind") {
            $0[.basicConstraints].parts[2].contents += [0]
        },
        Change("constraints of 1") {
            try $0.change(.basicConstraints) { $0.parts = [TestDER(BERValue.boolean, [1])] }
        },
        Change("constraints with a written default") {
            try $0.change(.basicConstraints) { $0.parts = [TestDER(BERValue.boolean, [0])] }
        },
        Change("constraints with a long path length") {
            try $0.change(.basicConstraints) {
                $0.parts = [
                    TestDER(BERValue.boolean, [0xFF]), TestDER(BERValue.integer, [0, 0]),
                ]
            }
        },
        Change("constraints of an open length") {
            try $0.change(.basicConstraints) { $0.length = .open }
        },
        Change("key usage with padding that is not zero") {
            try $0.change(.keyUsage) { $0.contents[1] |= 1 }
        },
        Change("key usage with too few unused bits") {
            try $0.change(.keyUsage) { $0.contents[0] -= 1 }
        },
        Change("key usage with an empty byte") {
            try $0.change(.keyUsage) { $0.contents += [0] }
        },
        Change("key usage with eight unused bits") {
            try $0.change(.keyUsage) { $0.contents[0] = 8 }
        },
        Change("key usage without bytes") { try $0.change(.keyUsage) { $0.contents = [] } },
        Change("key usage with bytes behind") { $0[.keyUsage].parts[2].contents += [0] },
        Change("identifier of a key with bytes behind") {
            $0[.subjectKey].parts[1].contents += [0]
        },
        Change("identifier of a key that is a text") {
            try $0.change(.subjectKey) { $0.identifier = BERValue.utf8String }
        },
        Change("identifier of the issuer's key and a value behind") {
            try $0.change(.authorityKey) {
                $0.parts.append(TestDER(BERValue.null, [] as [UInt8]))
            }
        },
        Change("identifier of the issuer's key of a long length") {
            try $0.change(.authorityKey) { $0.parts[0].length = .long }
        },
        Change("extension of a standard that is not known") {
            $0.extensions.append(StandardExtension([0x55, 0x1D, 0x12], []).der)
        },
        Change("purposes that are numbers") {
            let number = TestDER(BERValue.integer, [1])
            $0.extensions.append(StandardExtension([0x55, 0x1D, 0x25], [number]).der)
        },
        Change("host with a space") {
            let host = TestDER(0x82, Array("a b".utf8))
            $0.extensions.append(StandardExtension([0x55, 0x1D, 0x11], [host]).der)
        },
    ]

    private static let longerExtensionValues = [authorityAccess, revocationLists, policies].map {
        known in
        Change("extension \(known.identifier) with a value behind") {
            var longer = known
            longer.parts.append(TestDER(BERValue.null, [] as [UInt8]))
            $0.extensions.append(longer.der)
        }
    }

    // MARK: Further extensions (RFC 5280 sections 4.2.1 and 4.2.2)

    private struct StandardExtension {
        let identifier: [UInt8]
        var parts: [TestDER]

        init(_ identifier: [UInt8], _ parts: [TestDER]) {
            (self.identifier, self.parts) = (identifier, parts)
        }

        var der: TestDER {
            TestDER(
                BERValue.sequence,
                [
                    TestDER(BERValue.objectIdentifier, identifier),
                    TestDER(
                        BERValue.octetString,
                        TestDER(BERValue.sequence, parts).bytes
                    ),
                ]
            )
        }
    }

    private static let page = TestDER(0x86, Array("http://example.com/a".utf8))

    private static let authorityAccess = StandardExtension(
        [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x01],
        [
            TestDER(
                BERValue.sequence,
                [
                    TestDER(
                        BERValue.objectIdentifier,
                        [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01]
                    ), page,
                ]
            )
        ]
    )

    private static let revocationLists = StandardExtension(
        [0x55, 0x1D, 0x1F],
        [TestDER(BERValue.sequence, [TestDER(0xA0, [TestDER(0xA0, [page])])])]
    )

    private static let policies = StandardExtension(
        [0x55, 0x1D, 0x20],
        [
            TestDER(
                BERValue.sequence,
                [
                    TestDER(BERValue.objectIdentifier, [0x2A, 0x03]),
                    TestDER(
                        BERValue.sequence,
                        [
                            qualifier(2, TestDER(BERValue.sequence, [notice])),
                            qualifier(1, TestDER(BERValue.ia5String, Array("http://a".utf8))),
                        ]
                    ),
                ]
            )
        ]
    )

    private static let notice = TestDER(BERValue.utf8String, Array("A notice".utf8))

    private static func qualifier(_ number: UInt8, _ value: TestDER) -> TestDER {
        TestDER(
            BERValue.sequence,
            [
                TestDER(
                    BERValue.objectIdentifier,
                    [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x02, number]
                ), value,
            ]
        )
    }
}
