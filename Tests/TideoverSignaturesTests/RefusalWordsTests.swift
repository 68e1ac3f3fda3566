import Testing
import TideoverASN1
import TideoverJSON
import TideoverSignatures

struct RefusalWordsTests {
    @Test func `every reason has a code of its own and one sentence`() throws {
        let refusals = try Self.all()
        #expect(Set(refusals.map(\.code)).count == refusals.count)
        for refusal in refusals {
            let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-")
            #expect(refusal.code.allSatisfy(allowed.contains), "\(refusal.code)")
            #expect(refusal.description.first?.isUppercase == true)
            #expect(refusal.description.last != ".")
            #expect(!refusal.description.contains("\n"))
        }
    }

    @Test func `each sentence contains what was found`() {
        #expect(
            SignatureRefusal.algorithm(found: "none").description
                == #"The header names the algorithm "none", which is not the one believed here"#
        )
        #expect(
            SignatureRefusal.certificateNotValidAt(
                .leaf,
                notBefore: 1_758_311_091_000,
                notAfter: 1_823_449_643_000,
                at: 1_823_449_643_001
            ).description
                == "The leaf certificate is valid from 2025-09-19T19:44:51Z "
                + "to 2027-10-13T17:47:23Z, not at 2027-10-13T17:47:23.001Z"
        )
    }

    @Test func `a chain of one certificate is explained by Xcode's test store`() {
        #expect(
            SignatureRefusal.chainLength(1).description
                == "The certificate chain has 1 certificate instead of 3, "
                + "as in Xcode's test store"
        )
        #expect(
            SignatureRefusal.chainLength(2).description
                == "The certificate chain has 2 certificates instead of 3"
        )
    }

    @Test func `header content cannot break a line or fill a log`() {
        let hostile = "none\r\n\u{1B}[31m\"\u{202E}" + String(repeating: "x", count: 10_000)
        let sentence = SignatureRefusal.algorithm(found: hostile).description
        #expect(sentence.utf8.count < 200)
        #expect(sentence.hasPrefix(#"The header names the algorithm "none[31mxxx"#))
        #expect(sentence.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    }

    private static func all() throws -> [SignatureRefusal] {
        let error = try #require(throws: JSONError.self) { try JSONDocument("{") }
        return [
            .tooLarge(70_000), .notCompactJWS(segments: 2), .notBase64URL(.payload),
            .headerNotJSON(error), .headerNotObject, .algorithm(found: nil),
            .type(found: nil), .unknownKey(found: "k"), .forbiddenHeader("crit"),
            .signatureLength(63), .badSignature, .missingChain,
            .malformedChain, .chainLength(2), .certificateTooLarge(.leaf, 5000),
            .certificateNotBase64(.leaf), .certificateMalformed(.leaf), .untrustedRoot,
            .leafNotIssued, .certificateAlgorithm(.leaf),
            .unhandledCriticalExtension(.leaf, "1.2.3"), .markerMissing(.leaf), .notAnAuthority,
            .leafIsAnAuthority, .keyUsage(.leaf), .authorityKeyUnsupported, .leafKeyNotP256,
            .pathNotStrict("a word"), .signedDataTooLarge(300_000),
            .malformedSignedData(.truncated), .notSignedData("1.2.3"), .signedDataVersion(3),
            .contentMissing, .signerCount(2), .certificateCount(9), .certificateMissing(.leaf),
            .digestAlgorithm("1.2.3"), .signatureAlgorithm("1.2.3"),
            .signedAttribute("messageDigest"), .contentDigest, .leafKeyNotRSA,
            .certificateNotValidAt(.leaf, notBefore: 0, notAfter: 1, at: 2),
            .certificateRevoked(.leaf, at: 0),
        ]
    }
}
