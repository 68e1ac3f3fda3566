import Foundation
import Testing
import TideoverCore
import TideoverJSON
import TideoverSignatures

/// The tables of `Conformance/clients` that the core decides too.
@Suite struct ClientTableTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Conformance/clients")

    private static func table(_ name: String) throws -> JSONValue {
        let data = try Data(contentsOf: folder.appending(path: "\(name).json"))
        return JSONValue(try JSONDocument(Array(data), limits: .local).root)
    }

    private static func cases(_ table: JSONValue) throws -> [JSONValue] {
        let cases = try #require(table["cases"]?.array)
        #expect(cases.count > 10)
        return cases
    }

    // MARK: Passes

    @Test func `the core decides every pass of the table as listed`() throws {
        let table = try Self.table("passes")
        for one in try Self.cases(table) {
            let name = try #require(one["name"]?.string)
            let time = DeviceTime(
                clock: try Self.instant(one["clock"]),
                newestVerified: try one["newestVerified"].map { try Self.instant($0) }
            )
            let expected = try Self.expectation(one["expected"])
            let held = try one["held"].map { try Pass(json: Self.claims(of: $0, in: table).root) }
            let claims = JSONValue(try Self.claims(of: one, in: table).root).encoded()
            let result = Result { () throws(PassRefusal) in
                try Pass(believing: claims, as: expected, holding: held, at: time)
            }
            switch result {
            case .failure(let refusal):
                #expect(Self.code(refusal) == one["refused"]?.string, "\(name)")
            case .success(let pass):
                #expect(try Self.answers(of: pass, to: one, at: time) == one["answers"], "\(name)")
            }
        }
    }

    private static func answers(
        of pass: Pass,
        to one: JSONValue,
        at time: DeviceTime
    ) throws -> JSONValue {
        var answers: JSONObject = [:]
        for (name, _) in one["answers"]?.object ?? [:] {
            let answer = pass.answer(on: name, at: time)
            let kind =
                switch answer {
                case .stated: "stated"
                case .presumed: "presumed"
                case .nothing: "nothing"
                }
            answers[name] = [
                "kind": .string(kind), "access": .bool(answer.access),
                "confidence": .string(answer.confidence.rawValue),
            ]
        }
        return .object(answers)
    }

    private static func code(_ refusal: PassRefusal) -> String {
        switch refusal {
        case .notJSON: "notJSON"
        case .malformed: "malformed"
        case .wrongIssuer: "wrongIssuer"
        case .wrongAudience: "wrongAudience"
        case .wrongEnvironment: "wrongEnvironment"
        case .wrongCustomer: "wrongCustomer"
        case .issuedInFuture: "issuedInFuture"
        case .expired: "expired"
        case .older: "older"
        }
    }

    private static func expectation(_ changes: JSONValue?) throws -> PassExpectation {
        PassExpectation(
            issuer: changes?["issuer"]?.string ?? "tideover",
            audience: changes?["audience"]?.string ?? "cards",
            customer: try #require(CustomerID(changes?["customer"]?.string ?? "anna")),
            environment: try #require(
                Environment(rawValue: changes?["environment"]?.string ?? "production")
            )
        )
    }

    private static func claims(of one: JSONValue, in table: JSONValue) throws -> JSONDocument {
        let pass = try #require(table["passes"]?[one["pass"]?.string ?? ""])
        return try JSONDocument(merged(pass, one["patch"] ?? [:]).encoded())
    }

    /// Applies a merge patch, RFC 7396.
    private static func merged(_ target: JSONValue, _ patch: JSONValue) -> JSONValue {
        guard let changes = patch.object else { return patch }
        var result = target.object ?? [:]
        for (name, value) in changes {
            result[name] = value.isNull ? .none : merged(result[name] ?? [:], value)
        }
        return .object(result)
    }

    private static func instant(_ value: JSONValue?) throws -> Instant {
        try #require(Instant(rfc3339: value?.string ?? ""))
    }

    // MARK: Signatures

    @Test func `the core accepts exactly the signed passes that the table accepts`() throws {
        let table = try Self.table("signed-passes")
        let keySet = try JSONDocument(JSONValue.object(["keys": table["keys"] ?? []]).encoded())
        let keys = Ed25519KeySet(jwkSet: keySet.root)
        for one in try Self.cases(table) {
            let document = try #require(one["document"]?.string)
            let isRead: Bool
            do {
                let jws = try JWS(document.utf8)
                try jws.verify(with: keys, type: Pass.documentType)
                isRead = (try? JSONDocument(jws.payload)) != nil
            } catch {
                isRead = false
            }
            let name = one["name"]?.string ?? ""
            #expect(isRead == (one["verdict"]?.string == "accepted"), "\(name)")
        }
    }
}
