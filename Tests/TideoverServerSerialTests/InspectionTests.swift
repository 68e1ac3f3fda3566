import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// Every signed vector of Apple's own test suites, with the verdict of its suite.
@Suite(.enabled(if: Vectors.present, "vectors are not beside the project"))
struct InspectionTests {
    struct Expected: Sendable, CustomTestStringConvertible {
        var file: String
        var bundle = "com.example"
        var appAppleId: Int64?
        var environment = Environment.sandbox
        /// Nil if accepted.
        var refusal: String?

        var testDescription: String { "\(file) as \(environment.rawValue) of \(bundle)" }
    }

    static let expected: [Expected] = [
        Expected(file: "mock_signed_data/testNotification"),
        Expected(file: "mock_signed_data/transactionInfo"),
        Expected(file: "mock_signed_data/renewalInfo"),
        Expected(
            file: "mock_signed_data/testNotification",
            appAppleId: 1234,
            environment: .production,
            refusal: "environment-not-vouched-for"
        ),
        Expected(
            file: "mock_signed_data/testNotification",
            appAppleId: 1235,
            environment: .production,
            refusal: "wrong-app"
        ),
        Expected(
            file: "mock_signed_data/wrongBundleId",
            bundle: "com.examplex",
            refusal: "wrong-bundle"
        ),
        Expected(file: "mock_signed_data/wrongBundleId", refusal: "wrong-bundle"),
        Expected(file: "mock_signed_data/missingX5CHeaderClaim", refusal: "chain-missing"),
        Expected(file: "mock_signed_data/legacyTransaction", refusal: "unreadable-input"),
        Expected(file: "xcode/xcode-signed-transaction", refusal: "chain-length"),
        Expected(
            file: "xcode/xcode-signed-transaction",
            environment: .production,
            refusal: "chain-length"
        ),
        Expected(file: "xcode/xcode-signed-renewal-info", refusal: "chain-length"),
        Expected(
            file: "xcode/xcode-signed-renewal-info",
            environment: .production,
            refusal: "chain-length"
        ),
        Expected(file: "xcode/xcode-signed-app-transaction", refusal: "chain-length"),
        Expected(
            file: "xcode/xcode-signed-app-transaction",
            environment: .production,
            refusal: "chain-length"
        ),
        // Signed by a certificate of their own, which no trusted root certifies.
        Expected(file: "xcode/xcode-app-receipt-empty", refusal: "certificate-missing"),
        Expected(
            file: "xcode/xcode-app-receipt-with-transaction",
            refusal: "certificate-missing"
        ),
    ]

    private func inspect(_ expected: Expected, root: [UInt8]) throws -> Inspection {
        let trust = AppStoreTrust(
            identity: AppStoreIdentity(
                bundleId: expected.bundle,
                appAppleId: expected.appAppleId,
                environments: [expected.environment]
            ),
            authorities: [
                try TrustAnchor(name: "given", der: root): .pinned(expected.environment)
            ]
        )
        return Inspection(
            try Vectors.bytes("apple/\(expected.file)"),
            trust: trust,
            catalogue: Catalogue(),
            policy: Policy(),
            at: "2026-05-01"
        )
    }

    @Test(arguments: expected)
    func `a signed vector gets the verdict of its suite`(expected: Expected) throws {
        let inspection = try inspect(
            expected,
            root: Vectors.bytes("apple/certs/testCA.der")
        )
        switch inspection.verdict {
        case .accepted: #expect(expected.refusal == nil)
        case .refused(let code, _): #expect(code == expected.refusal)
        case .unsigned: Issue.record("it was read as if it were unsigned")
        }
    }

    @Test func `Apple's root does not verify the signatures of the test suite`() throws {
        let inspection = try inspect(Self.expected[0], root: AppStoreSigning.appleRoot)
        guard case .refused(let code, _) = inspection.verdict else {
            Issue.record("it was accepted")
            return
        }
        #expect(code == "untrusted-root")
    }

    @Test func `the inspection names the type and states that a test changes nothing`() throws {
        let inspection = try inspect(
            Self.expected[0],
            root: Vectors.bytes("apple/certs/testCA.der")
        )
        var writer = JSONWriter()
        inspection.write(to: &writer)
        let root = try JSONDocument(writer.bytes).root
        #expect(root["verdict"]?.string == "accepted")
        #expect(root["notificationType"]?.string == "TEST")
        #expect(root["signedAt"]?.string == "2023-04-12T15:45:24.000Z")
        #expect(root["facts"]?.count == 0)
    }
}
