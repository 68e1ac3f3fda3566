import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Requests about ownership, for its tests.
struct OwnershipCalls {
    let server: TestServer

    /// Returns a transaction as devices have it, without an owner unless a customer is named.
    func transaction(
        _ id: String = "2000000000000001",
        token: String? = nil,
        signed: Instant = Message.start
    ) -> JSONObject {
        var transaction = Message.transaction(signed: signed)
        transaction["originalTransactionId"] = .string(id)
        transaction["transactionId"] = .string(id)
        transaction["webOrderLineItemId"] = .string("9\(id)")
        transaction["appAccountToken"] = token.map(JSONValue.string)
        return transaction
    }

    /// Presents a transaction, and returns the ruling on its claim.
    @discardableResult
    func present(_ customer: String, _ transaction: JSONObject) async throws -> String? {
        let signed = JSONValue.string(try server.store.sign(transaction))
        let (status, answer) = try await post(
            "customers/\(customer)/reconcile",
            ["transactions": .array([signed])]
        )
        #expect(status == 200)
        return answer["items"]?.array?.first?["ownership"]?.string
    }

    func post(_ path: String, _ body: JSONObject) async throws -> (status: Int, answer: JSONValue) {
        let response = try await server.send(
            "POST",
            target(path),
            body: JSONValue.object(body).encoded()
        )
        return (response.status, JSONValue(try JSONDocument(response.body).root))
    }

    func get(_ path: String, _ query: String = "") async throws -> JSONValue {
        let response = try await server.get(target(path, query))
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)
    }

    /// Returns a request target. Aliases apply to every environment, and an app has one audit log,
    /// so those routes take no environment; neither does a lookup.
    private func target(_ path: String, _ query: String = "") -> String {
        let isOfAll = ["audit", "events", "lookup"].contains(path) || path.hasSuffix("/aliases")
        let items = (isOfAll ? "" : "environment=sandbox") + query
        return "/v1/apps/cards/\(path)"
            + (items.isEmpty ? "" : "?" + (items.hasPrefix("&") ? items.dropFirst() : items[...]))
    }

    /// Returns `kind customer other actor` of each line.
    func audit(_ path: String = "audit") async throws -> [String] {
        (try await get(path)["audit"]?.array ?? []).map { line in
            ["kind", "customer", "other", "actor"].map { line[$0]?.string ?? "-" }
                .joined(separator: " ")
        }
    }

    /// Returns the `state` of premium in an explanation at an instant.
    func state(of customer: String, at instant: Instant) async throws -> String? {
        let answer = try await get("customers/\(customer)/explain", "&at=\(instant.rfc3339)")
        return answer["entitlements"]?["premium"]?["decision"]?["state"]?.string
    }
}
