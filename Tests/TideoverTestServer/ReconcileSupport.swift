import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverServer
import TideoverSignatures

/// Requests of devices to a server, and their responses.
struct Device {
    let server: TestServer
    var customer = "u_42"

    /// Returns the trusted roots of receipts in these tests.
    static func receiptAuthorities() throws -> [TrustAnchor: Authority] {
        let root = try ReceiptStore.authority.get().root
        return [try TrustAnchor(name: "receipts", der: root, keys: .rsa): .pinned(.sandbox)]
    }

    func present(
        _ evidence: JSONObject,
        environment: String? = nil
    ) async throws -> (status: Int, answer: JSONValue) {
        let query = environment.map { "?environment=\($0)" } ?? ""
        let response = try await server.send(
            "POST",
            "/v1/apps/cards/customers/\(customer)/reconcile\(query)",
            body: JSONValue.object(evidence).encoded()
        )
        return (response.status, JSONValue(try JSONDocument(response.body).root))
    }

    /// Returns `verdict`, then ownership or reason, of each piece.
    static func items(_ answer: JSONValue) -> [String] {
        (answer["items"]?.array ?? []).map { item in
            let claims = item["lineages"]?.array?.compactMap { $0["ownership"]?.string } ?? []
            return
                ([item["verdict"], item["ownership"] ?? item["reason"]].compactMap { $0?.string }
                + claims).joined(separator: " ")
        }
    }

    /// Returns a signed month of `cards.pro.monthly` under a separate id, without an owner.
    static func transaction(_ number: Int, signed: Instant = Message.start) -> JSONObject {
        var transaction = Message.transaction(signed: signed)
        let id = JSONValue.string("\(2_000_000_000_000_000 + number)")
        transaction["originalTransactionId"] = id
        transaction["transactionId"] = id
        transaction["webOrderLineItemId"] = .string("\(900_000_000 + number)")
        transaction["appAccountToken"] = nil
        return transaction
    }
}
