import Testing
import TideoverConfiguration
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// The files that `pass.keyFile` and `pass.otherKeyFiles` name.
@Suite struct PassKeyFileTests: ConfigurationSuite {
    private static let key = Ed25519PrivateKey.generate()
    private static let former = Ed25519PrivateKey.generate()
    private static let next = Ed25519PrivateKey.generate()
    private static let files = [
        "etc/now.pem": key.pem, "etc/former.pem": former.pem, "/run/next.pem": next.publicKey.pem,
        "etc/p256.pem": P256PrivateKey.generate().pem, "etc/public.pem": key.publicKey.pem,
        "etc/text.pem": "hello",
    ]

    private func pass(
        _ text: String,
        _ environment: [String: String] = [:]
    ) throws(ConfigurationProblems) -> Configuration.Pass? {
        try load(app("").replacing("{ apps", with: "{ pass: \(text), apps"), environment).pass
    }

    private func open(_ text: String) throws -> PassIssuer? {
        try pass(text)?.open { path in
            guard let text = Self.files[path] else { throw NoSuchFile() }
            return Array(text.utf8)
        }
    }

    @Test func `one key signs, and the other keys are accepted too`() throws {
        let found = try open(
            #"{ keyFile: "now.pem", otherKeyFiles: ["former.pem", "/run/next.pem"] }"#
        )
        let issuer = try #require(found)
        let ids = [Self.key, Self.former, Self.next].map(\.publicKey.thumbprint)
        #expect(issuer.issuer == "tideover")
        #expect(issuer.keyId == ids[0])
        #expect(issuer.keys.ids == Set(ids))
        for (id, key) in zip(ids, [Self.key, Self.former, Self.next]) {
            #expect(issuer.keys[id] == key.publicKey)
        }
    }

    @Test func `without a key passes are not signed, and an issuer alone is rejected`() throws {
        #expect(try load(app("")).pass == nil)
        #expect(
            problems(app("").replacing("{ apps", with: #"{ pass: { issuer: "x" }, apps"#)) == [
                "1:9: pass.keyFile: missing; expected the name of a file (not its content)"
            ]
        )
    }

    @Test func `variables configure passes and override the file`() throws {
        let variables = [
            "TIDEOVER_PASS_ISSUER": "billing", "TIDEOVER_PASS_KEY_FILE": "/run/now.pem",
            "TIDEOVER_PASS_OTHER_KEY_FILES": "a.pem,b.pem",
        ]
        let said = Configuration.Pass(
            issuer: "billing",
            keyFile: "/run/now.pem",
            otherKeyFiles: ["etc/a.pem", "etc/b.pem"]
        )
        #expect(try load(app(""), variables).pass == said)
        #expect(try pass(#"{ keyFile: "now.pem", issuer: "x" }"#, variables) == said)
    }

    @Test(arguments: [
        (#"{ keyFile: "p256.pem" }"#, "etc/p256.pem"),
        (#"{ keyFile: "public.pem" }"#, "etc/public.pem"),
        (#"{ keyFile: "text.pem" }"#, "etc/text.pem"),
        (#"{ keyFile: "now.pem", otherKeyFiles: ["p256.pem"] }"#, "etc/p256.pem"),
        (#"{ keyFile: "now.pem", otherKeyFiles: ["text.pem"] }"#, "etc/text.pem"),
    ])
    func `an invalid key is rejected with instructions to create one`(text: String, path: String)
        throws
    {
        let error = #expect(throws: UnusablePassKey.self) { try open(text) }
        #expect(
            error?.description
                == "\(path) does not contain exactly one Ed25519 key in PEM; create one with "
                + "`(umask 077; tideover keys pass > FILE)`"
        )
    }

    @Test func `an unreadable file is reported`() throws {
        let error = #expect(throws: UnusablePassKey.self) {
            try open(#"{ keyFile: "now.pem", otherKeyFiles: ["none.pem"] }"#)
        }
        #expect(
            error?.description.hasPrefix(
                "the file etc/none.pem cannot be read: No such file or directory; create one"
            ) == true
        )
    }

    @Test func `a key in place of a file name is not printed`() {
        let pem = Self.key.pem.replacing("\n", with: "\\n")
        let text = app("").replacing("{ apps", with: "{ pass: { keyFile: \"\(pem)\" }, apps")
        #expect(
            problems(text) == [
                "1:20: pass.keyFile: expected the name of a file (not its content)"
            ]
        )
    }
}
