import TideoverHTTP
import TideoverJSON

/// The writes of a back end to the store, read from a call.
struct PlayWrites {
    private let machine: GooglePlayMachine

    init(_ machine: GooglePlayMachine) {
        self.machine = machine
    }

    /// Returns the write of a call of any kind; one that postpones a renewal is a deferral.
    func write(_ call: PlayCall) throws(PlayAPIError) -> GooglePlayWrite {
        switch call.operation {
        case .acknowledgeSubscription:
            let items = try subscription(call)["lineItems"]?.array ?? []
            guard items.contains(where: { $0["productId"]?.string == call.ids[1] }) else {
                throw .invalid
            }
            return .acknowledge(token: call.subject)
        case .acknowledgeProduct:
            try PlayReads(machine).checkProduct(call)
            return .acknowledge(token: call.subject)
        case .consumeProduct:
            try PlayReads(machine).checkProduct(call)
            return .consume(token: call.subject)
        case .cancelSubscription: return try cancellation(call)
        case .revokeSubscription: return try revocation(call)
        case .refundOrder:
            let revokes = call.request.queryValue("revoke") == "true"
            return .refund(order: call.subject, revokes: revokes)
        default: throw .invalid
        }
    }

    private func subscription(_ call: PlayCall) throws(PlayAPIError) -> JSONObject {
        try PlayReads(machine).subscription(call)
    }

    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/cancel
    private func cancellation(_ call: PlayCall) throws(PlayAPIError) -> GooglePlayWrite {
        let word = try call.body()["cancellationContext"]?["cancellationType"]?.string
        guard let type = word.flatMap(GooglePlayWrite.CancellationType.init) else {
            throw .invalid
        }
        _ = try subscription(call)
        return .cancel(token: call.subject, type)
    }

    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/revoke
    private func revocation(_ call: PlayCall) throws(PlayAPIError) -> GooglePlayWrite {
        let context = try call.body()["revocationContext"]
        guard let context, context.kind == .object, context.count == 1 else { throw .invalid }
        _ = try subscription(call)
        if context["fullRefund"] != nil { return .revoke(token: call.subject, .fullRefund) }
        if context["proratedRefund"] != nil { return .revoke(token: call.subject, .proratedRefund) }
        guard let product = context["itemBasedRefund"]?["productId"]?.string else {
            throw .invalid
        }
        return .revoke(token: call.subject, .item(product: product))
    }

    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/defer
    func deferral(_ call: PlayCall) throws(PlayAPIError) -> GooglePlayWrite {
        let context = try call.body()["deferralContext"]
        guard let etag = context?["etag"]?.string,
            let text = context?["deferDuration"]?.string, text.hasSuffix("s"),
            let seconds = Int64(text.dropLast()), (1...86_400 * 366).contains(seconds)
        else { throw .invalid }
        _ = try subscription(call)
        return .deferRenewal(token: call.subject, milliseconds: seconds * 1000, etag: etag)
    }
}
