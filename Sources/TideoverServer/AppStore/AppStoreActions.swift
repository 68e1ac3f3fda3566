import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Changing purchases on the App Store.
extension Backfiller {
    private typealias Operation = @Sendable (AppStoreAPI) async throws -> JSONObject

    /// Prepares the request for an action; `identifier` is the request's id at the store.
    ///
    /// - Throws: `bad-store-action` if the store would reject it.
    func call(
        _ action: StoreAction,
        on purchase: ActedPurchase,
        identifier: String
    ) async throws -> StoreCall {
        try await call(.changes, operation(action, purchase, identifier)) { [self] in
            guard action.kind.changesPurchase else { return }
            try await askAgain(about: purchase.lineage)
        }
    }

    /// Prepares the extension of all subscriptions to a product. The store executes it later and
    /// sends notifications about it.
    func call(_ extend: MassExtensionRequest, identifier: String) async throws -> StoreCall {
        let order = RenewalExtension(
            days: extend.days,
            reason: extend.reason,
            requestIdentifier: identifier
        )
        let operation: Operation = { api in
            let answer = try await api.extendRenewalDates(
                ofAllSubscribersTo: extend.product,
                order,
                in: extend.storefronts
            )
            return ["requestIdentifier": .string(answer.content.requestIdentifier ?? identifier)]
        }
        return try await call(.massExtensions, operation) {}
    }

    /// Returns the progress of an extension of all subscriptions to a product.
    ///
    /// - Throws: ``StoreActionFailure``.
    func massExtension(of product: String, identifier: String) async throws -> MassExtensionStatus {
        try await send(.massExtensions) { api in
            try await api.massExtensionStatus(of: product, requestIdentifier: identifier).content
        }
    }

    private func operation(
        _ action: StoreAction,
        _ purchase: ActedPurchase,
        _ identifier: String
    ) throws(Problem) -> Operation {
        let id = purchase.lineage.id
        switch action {
        case .extend(let days, let reason):
            let order = RenewalExtension(days: days, reason: reason, requestIdentifier: identifier)
            return { api in
                let answer = try await api.extendRenewalDate(of: id, order).content
                let date = answer.effectiveDate.map { JSONValue.string($0.rfc3339) }
                return ["effectiveDate": date ?? .null]
            }
        case .accountToken(let token):
            return { api in
                _ = try await api.setAppAccountToken(of: id, to: token)
                return [:]
            }
        case .consumption(let information):
            return { api in
                _ = try await api.sendConsumption(of: purchase.name, information)
                return [:]
            }
        case .cancel, .postpone, .revoke, .refund:
            throw .badStoreAction("The App Store does not have this action.")
        }
    }

    private func call(
        _ kind: RequestKind,
        _ operation: @escaping Operation,
        refresh: @escaping @Sendable () async throws -> Void
    ) async throws -> StoreCall {
        let draft: Request?
        do {
            draft = try await api.draft(of: operation)
        } catch let failure as AppStoreAPIFailure {
            throw Problem.badStoreAction(failure.sentence)
        }
        guard let draft else { throw StoreActionFailure.busy }
        return StoreCall(
            draft: draft,
            send: { [self] in try await send(kind, operation) },
            refresh: refresh
        )
    }

    /// Sends one request once, as soon as the limits allow.
    func send<Answer: Sendable>(
        _ kind: RequestKind,
        _ operation: @Sendable (AppStoreAPI) async throws -> Answer
    ) async throws -> Answer {
        guard try await limiter.admitSoon(kind) else { throw StoreActionFailure.busy }
        do {
            let answer = try await operation(api)
            count(kind, "answered")
            return answer
        } catch let failure as AppStoreAPIFailure {
            count(kind, failure.metricWord)
            _ = try await pause(after: failure)
            throw StoreActionFailure(failure)
        }
    }
}
