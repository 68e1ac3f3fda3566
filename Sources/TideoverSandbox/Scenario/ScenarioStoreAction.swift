import TideoverHTTP
public import TideoverJSON
import TideoverSignatures

/// A change of a customer's newest purchase, requested from the system under test by the operator.
public struct ScenarioStoreAction: Hashable, Sendable {
    /// The body of the request, without the operator's reason.
    public let body: JSONObject

    static let keys = ["send"]

    /// Reads the members of a step that does `storeAction`.
    init(_ reader: ObjectReader) throws(ScenarioError) {
        body = try reader.required("send") { (node) throws(ScenarioError) in
            try checkKind(node, .object, "send", .object)
            return JSONValue(node).object ?? [:]
        }
    }

    var name: String { body["action"]?.string ?? "" }
}

extension ScenarioTarget {
    func storeAction(
        _ action: ScenarioStoreAction,
        on purchase: String,
        key: String,
        app: String
    ) -> Request {
        var content = action.body
        content["why"] = "A rehearsal."
        let body = JSONValue.object(content).encoded()
        var headers = readHeaders
        headers["Content-Type"] = "application/json"
        headers["Content-Length"] = String(body.count)
        headers["Idempotency-Key"] = key
        return Self.request(
            "POST",
            actionsPath,
            ["app": app, "purchase": purchase],
            headers: headers,
            body: body
        )
    }
}

extension ScenarioPlay {
    /// Requests a change as the operator; the system under test must carry it out.
    mutating func carryOut(
        _ action: ScenarioStoreAction,
        for customer: StoreCustomer,
        _ step: ScenarioStep
    ) async throws(SignatureRefusal) {
        await tellClock()
        let words = "The operator requests \"\(action.name)\" for \(customer.name)."
        var status: Int?
        if let purchase = try await purchase(of: customer, for: action) {
            let request = target.storeAction(
                action,
                on: purchase,
                key: "\(customer.name)-\(step.line)",
                app: scenario.app.id
            )
            status = try? await target.readBack(request).status
        }
        let verdict = Verdict(
            label: "storeAction",
            expected: "200",
            actual: status.map { .integer(Int64($0)) },
            holds: status == 200
        )
        note(customer.name, .action(deed(step, words, nil, verdict)))
    }

    /// Returns the identifier of the customer's newest purchase in its store; nil without one.
    private func purchase(
        of customer: StoreCustomer,
        for action: ScenarioStoreAction
    ) async throws(SignatureRefusal) -> String? {
        guard let googlePlay, scenario.googlePlay?.takes(customer.name) ?? false else {
            return try await store.device(of: customer.name).last?.transactionId
        }
        guard let token = await googlePlay.store.tokens(of: customer.name).last else { return nil }
        guard action.name == "refund" else { return token }
        return await googlePlay.store.newestOrder(of: token)
    }

    /// Compares the number of consumption reports that the App Store received with a step's.
    func verdict(onConsumptions expected: Int64) async -> Verdict {
        let count = Int64(await store.consumptions.count)
        return Verdict(
            label: "consumptions",
            expected: "\(expected)",
            actual: .integer(count),
            holds: count == expected
        )
    }
}
