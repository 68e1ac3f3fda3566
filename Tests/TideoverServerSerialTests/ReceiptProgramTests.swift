import Foundation
import Testing
import TideoverAppStore
import TideoverConfiguration
import TideoverJSON
import TideoverSandbox
import TideoverServer
import TideoverSignatures
import TideoverTestProcesses

@testable import TideoverTestServer

/// Receipts as used by an operator: in the configuration, and in `tideover inspect`.
struct ReceiptConfigurationTests: ConfigurationSuite {
    private func text(_ stores: String, _ environments: String) -> String {
        """
        { storage: "sqlite:x.db", apps: [{ id: "cards", environments: ["\(environments)"],
          \(stores) }] }
        """
    }

    @Test func `the configuration reads the roots of receipts from files`() throws {
        let root = try ReceiptStore.authority.get().root
        let other = try ReceiptStore.stranger.get().root
        let stores = """
            appStore: { bundleId: "a.b", receiptRoot: "apple.cer" },
            simulatedStore: { root: "root.der", receiptRoot: "other.der" }
            """
        let files = [
            "etc/apple.cer": root, "etc/other.der": other, "etc/root.der": try Self.certificate(),
        ]
        let app = try #require(load(text(stores, "simulated"), files: files).app("cards"))
        #expect(app.appStore?.receiptRoot?.der == root)
        #expect(app.simulatedStore?.receiptRoot?.der == other)
        let none = try load(text(#"appStore: { bundleId: "a.b" }"#, "sandbox"))
        #expect(none.app("cards")?.appStore?.receiptRoot == nil)
    }

    @Test func `a root of receipts needs an RSA key`() throws {
        let stores = #"appStore: { bundleId: "a.b", receiptRoot: "root.der" }"#
        let files = ["etc/root.der": try Self.certificate()]
        #expect(
            reasons(text(stores, "sandbox"), files: files)
                == [.unusableCertificate(path: "etc/root.der", .unsupportedKey)]
        )
        #expect(
            problems(text(stores, "sandbox")).first?.contains(
                "apps[0].appStore.receiptRoot: the file etc/root.der cannot be read"
            ) == true
        )
    }
}

@Suite(.withExecutable) final class ReceiptProgramTests: SuiteWithFolder {
    private func file(_ bytes: [UInt8], _ name: String) throws -> String {
        let file = folder.appending(path: name)
        try Data(bytes).write(to: file)
        return file.path
    }

    private func inspect(_ path: String, root: [UInt8]) throws -> (code: Int32, root: JSONValue) {
        let said = try Executable.run([
            "inspect", path, "--root", file(root, "root.der"), "--bundle", ReceiptStore.bundleId,
            "--environment", "simulated", "--at", "2026-05-01T00:00:00Z", "--json",
        ])
        return (said.code, JSONValue(try JSONDocument(Array(said.results.utf8)).root))
    }

    @Test func `inspect prints the same changes for a receipt and for an answer`() throws {
        let store = try ReceiptStore.nine()
        let inputs: [(String, [UInt8])] = [
            ("receipt.der", try store.container(.der)), ("receipt.ber", try store.container(.ber)),
            ("receipt.txt", Base64.encode(try store.container(.der), .standard)),
            ("answer.json", try store.answer()),
        ]
        var facts: [JSONValue?] = []
        for (name, bytes) in inputs {
            let (code, root) = try inspect(file(bytes, name), root: store.authority.root)
            #expect(code == 0, "\(name)")
            #expect(root["verdict"]?.string == "accepted", "\(name)")
            #expect(root["kind"]?.string == "receipt")
            #expect(root["signedAt"]?.string == "2026-04-01T00:00:00.000Z")
            #expect(root["facts"]?.array?.count == 10)
            let contents = root["facts"]?.array?.map { fact -> JSONValue in
                var object = fact.object ?? [:]
                object["evidence"] = nil
                return .object(object)
            }
            facts.append(contents.map { .array($0) })
        }
        #expect(facts.allSatisfy { $0 == facts[0] })
    }

    @Test func `inspect rejects a receipt under an unknown root`() throws {
        let store = try ReceiptStore.nine()
        let (code, root) = try inspect(
            file(store.container(), "receipt.der"),
            root: ReceiptStore.stranger.get().root
        )
        #expect(code == 1)
        #expect(root["input"]?.string == "an app receipt (PKCS#7)")
        #expect(root["reason"]?.string == "untrusted-root")
    }
}
