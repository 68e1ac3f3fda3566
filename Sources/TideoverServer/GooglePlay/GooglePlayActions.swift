import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Changes of purchases on Google Play.
extension PlayPoller {
    private typealias Operation = @Sendable (PlayAPI) async throws -> JSONObject

    /// The purchase token of an action, which is a secret.
    private struct Named {
        let kind: PlayRead.Kind
        let token: String
    }

    /// Prepares the request for an action.
    ///
    /// - Throws: `bad-store-action` if the store would reject it; ``StoreActionFailure`` if a query
    ///   that it needs fails.
    func call(_ action: StoreAction, on purchase: ActedPurchase) async throws -> StoreCall {
        let named = try await token(of: purchase)
        let operation = try await operation(action, purchase, named)
        let draft: Request?
        do {
            draft = try await api.draft(of: operation)
        } catch let failure as PlayAPIFailure {
            throw Problem.badStoreAction(failure.sentence)
        }
        guard let draft else { throw StoreActionFailure.busy }
        return StoreCall(
            draft: draft.hiding(named.token),
            send: { [self] in try await send(.changes, operation) },
            refresh: { [self] in
                _ = try await ask(named.kind, named.token, about: purchase.lineage)
            }
        )
    }

    private func operation(
        _ action: StoreAction,
        _ purchase: ActedPurchase,
        _ named: Named
    ) async throws -> Operation {
        let token = named.token
        if case .refund(let revokes) = action { return try refund(purchase, revokes: revokes) }
        guard named.kind == .subscription else {
            throw Problem.badStoreAction("The purchase is not a subscription. Refund its order.")
        }
        switch action {
        case .cancel(let cancellation):
            return { api in
                try await api.cancel(token, stopping: cancellation)
                return [:]
            }
        case .revoke(let refund):
            return { api in
                try await api.revoke(token, refunding: refund)
                return [:]
            }
        case .postpone(let days):
            let etag = try await etag(of: token)
            return { api in
                let items = try await api.postpone(token, by: .days(days), etag: etag).content
                return ["expiries": .array(items.map(\.json))]
            }
        case .refund, .extend, .accountToken, .consumption:
            throw Problem.badStoreAction("Google Play does not have this action.")
        }
    }

    private func refund(_ purchase: ActedPurchase, revokes: Bool) throws -> Operation {
        let order = purchase.name
        guard PlayOrderNumber.isOne(order) else {
            throw Problem.badStoreAction(
                "A refund is of one order: name it in the path, such as GPA.1234-5678-9012-34567."
            )
        }
        return { api in
            try await api.refund(order, revoking: revokes)
            return [:]
        }
    }

    /// Returns the version of the subscription to defer; the store rejects the request if it
    /// changed.
    private func etag(of token: String) async throws -> String {
        let answer = try await send(.purchases) { api in try await api.subscription(token) }
        guard let etag = answer.content.etag else {
            throw StoreActionFailure(
                outcome: .notSent,
                code: "no-etag",
                sentence: "Google Play did not name the version of the subscription."
            )
        }
        return etag
    }

    private func send<Answer: Sendable>(
        _ kind: RequestKind,
        _ operation: @Sendable (PlayAPI) async throws -> Answer
    ) async throws -> Answer {
        guard try await limiter.admitSoon(kind) else { throw StoreActionFailure.busy }
        do {
            let answer = try await operation(api)
            count(kind, "answered")
            return answer
        } catch let failure as PlayAPIFailure {
            count(kind, failure.metricWord)
            try await pause(after: failure)
            throw StoreActionFailure(failure)
        }
    }

    /// Returns the token in the client's request, or the current one of the lineage.
    private func token(of purchase: ActedPurchase) async throws -> Named {
        let words = PlayLineageWords(purchase.lineageRecord.facts)
        let asked = trust.token(purchase.name)
        guard let name = words.tokens.contains(asked) ? asked : words.current,
            let kind = words.kind(of: name)
        else { throw Problem.unknownPurchase }
        let finder = PlayTokens(context: context, trust: trust)
        let facts = purchase.lineageRecord.facts
        guard let token = try await onPool({ try finder.find([name], in: facts) })[name] else {
            throw Problem.unknownPurchase
        }
        return Named(kind: kind, token: token)
    }
}

extension DeferredExpiry {
    fileprivate var json: JSONValue {
        [
            "productId": productId.map { .string($0) } ?? .null,
            "expiryTime": expiryTime.map { .string($0.rfc3339) } ?? .null,
        ]
    }
}

extension Request {
    /// Returns the request with a placeholder instead of the purchase token.
    fileprivate func hiding(_ token: String) -> Request {
        var request = self
        request.path = path.replacing(PercentEncoding.encode(token), with: "PURCHASE_TOKEN")
        return request
    }
}
