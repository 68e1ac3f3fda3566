import Foundation
import Testing
import TideoverCommandLine
import TideoverTestProcesses

@testable import tideover

/// What the log states at the start about the webhooks of RevenueCat.
@Suite final class RevenueCatNoticeTests: SuiteWithFolder {
    /// The notices about an app with a section of RevenueCat.
    private func notices(_ section: String, _ authorization: String = "") throws -> [String] {
        try write(authorization, to: "rc.txt")
        try write("signature", to: "secret.txt")
        try write(
            """
            { apps: [{ id: "cards", environments: ["production"],
              appStore: { bundleId: "com.example.cards", appAppleId: 1 },
              revenueCat: { \(section) } }] }
            """,
            to: "tideover.json"
        )
        let configuration = try ConfigurationFile.load(
            folder.path + "/tideover.json",
            variables: [:],
            telling: Output(capturingAs: .plain)
        )
        return try StoreConnections(configuration).notices.filter {
            $0.lowercased().contains("revenuecat")
        }
    }

    @Test(arguments: ["hunter2", "Bearer hunter2", "Bearer 123456789012345"])
    func `a header of webhooks that can be guessed is warned of`(header: String) throws {
        let found = try notices(#"webhookAuthorizationFile: "rc.txt""#, "\(header)\n")
        #expect(found.count == 1)
        #expect(found.first?.contains("the app cards can be guessed") == true)
        #expect(found.first?.contains("hunter2") == false)
    }

    @Test func `a long header, and one beside a signature, are not`() throws {
        let long = "Bearer 0123456789abcdef"
        #expect(try notices(#"webhookAuthorizationFile: "rc.txt""#, long).isEmpty)
        let both = #"webhookAuthorizationFile: "rc.txt", signatureSecretFile: "secret.txt""#
        #expect(try notices(both, "hunter2").isEmpty)
    }

    @Test func `webhooks without a check are reported as rejected`() throws {
        let found = try notices("")
        #expect(found.contains { $0.contains("are rejected") })
    }
}
