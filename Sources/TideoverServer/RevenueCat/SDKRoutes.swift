import TideoverCore
package import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat

/// The routes for RevenueCat's SDKs. They are at the root, because an SDK drops the path of a proxy
/// URL, and they check the SDK's own key.
///
/// The SDKs need an answer from each of them; those that Tideover does not offer have the answer
/// that an SDK reads as "none".
extension Service {
    static let sdkRoutes: [Route] =
        [
            subscriber,
            sdk("POST", receipts) { try await $0.receipt() },
            sdk("POST", "/v1/subscribers/identify") { try await $0.identify() },
            sdk("GET", "/v1/subscribers/{id}/offerings") { $0.offerings() },
            sdk("GET", "/v1/product_entitlement_mapping") { $0.mapping() },
            attributes,
            sdk("POST", "/v1/subscribers/{id}/alias") { try await $0.alias() },
            sdk("POST", "/v1/subscribers/{id}/intro_eligibility") {
                try await $0.introductoryEligibility()
            },
            sdk("POST", "/v1/offers") { try $0.offers() },
            sdk("GET", "/v1/customercenter/{id}") { try $0.customerCenter() },
        ] + emptyRoutes + refusedRoutes

    private static let receipts = "/v1/receipts"

    /// The customer info, for an SDK or for a back end.
    private static let subscriber = Route("GET", "/v1/subscribers/{id}", needs: .nothing) {
        service,
        call in
        if let backEnd = service.restVisit(call) { return try await backEnd.customerInfo() }
        return try await service.sdkVisit(call).signed { try await $0.customerInfo() }
    }

    /// Attributes, from an SDK or from a back end.
    private static let attributes = Route(
        "POST",
        "/v1/subscribers/{id}/attributes",
        needs: .nothing
    ) { service, call in
        let visit = try service.restVisit(call, writing: true) ?? service.sdkVisit(call)
        return try await visit.attributes()
    }

    /// Accepted and not used, or without content.
    private static let emptyRoutes: [Route] = [
        empty("POST", "/v1/events"),
        empty("POST", "/v1/diagnostics"),
        empty("POST", "/v1/subscribers/{id}/attribution"),
        empty("POST", "/v1/subscribers/{id}/adservices_attribution"),
        empty("GET", "/v1/subscribers/{id}/virtual_currencies") {
            $0.field("virtual_currencies", object: { _ in })
        },
        empty("POST", "/v1/customercenter/support/create-ticket") { $0.field("sent", false) },
        empty("POST", "/v1/subscribers/{id}/restore/eligibility") {
            $0.field("is_purchase_allowed_by_restore_behavior", true)
        },
        empty("GET", "/v1/subscribers/{id}/health_report_availability") {
            $0.field("report_logs", false)
        },
        empty("GET", "/v1/subscribers/{id}/health_report") { writer in
            writer.field("status", "passed")
            writer.field("checks", array: { _ in })
        },
        empty("GET", "/v1/subscribers/{id}/ads/reward_verifications/{transaction}") {
            $0.field("status", "failed")
        },
        empty("GET", "/rcbilling/v1/subscribers/{id}/products") {
            $0.field("product_details", array: { _ in })
        },
        empty("GET", "/rcbilling/v1/subscribers/{id}/offering_products") {
            $0.field("offerings", object: { _ in })
        },
        open("/v1/health"),
        open("/v1/health/connectivity"),
    ]

    private static let refusedRoutes: [Route] = [
        // The SDKs switch remote configuration off after a 4xx, and wait after anything else.
        refused("POST", "/v1/config/{domain}", .notOffered("No remote configuration is offered.")),
        refused("POST", "/v1/subscribers/redeem_purchase", .unknownRedemption),
        refused("GET", "/v1/receipts/amazon/{user}/{receipt}", .storeNotServed),
        refused("POST", "/v1/external_purchase_tokens", .wrongPlatform),
    ]

    static let sdkAndRestRoutes = sdkRoutes + restRoutes
    static let routesWithSDK = routes + sdkAndRestRoutes
    static let allRoutes = routesWithDashboard + sdkAndRestRoutes
    private static let sdkTemplates = Set(sdkRoutes.map(\.template))

    private static func sdk(
        _ method: String,
        _ template: String,
        _ respond: @escaping @Sendable (SDKVisit) async throws -> Response
    ) -> Route {
        Route(method, template, needs: .nothing) { service, call in
            try await service.sdkVisit(call).signed(respond)
        }
    }

    private static func empty(
        _ method: String,
        _ template: String,
        _ body: @escaping @Sendable (inout JSONWriter) -> Void = { _ in }
    ) -> Route {
        sdk(method, template) { SDKResponse(at: $0.now).json(body) }
    }

    private static func refused(_ method: String, _ template: String, _ error: SDKError) -> Route {
        sdk(method, template) { _ in throw error }
    }

    private static func open(_ template: String) -> Route {
        Route("GET", template, needs: .nothing) { service, _ in
            SDKResponse(at: service.clock()).json { _ in }
        }
    }

    private func sdkVisit(_ call: Call) throws(SDKError) -> SDKVisit {
        guard let owner = sdkKeys.owner(of: call.request),
            let context = context(of: owner.app, for: call), let sdk = context.app.revenueCatSDK
        else {
            metrics.count(.keyRefusals, Problem.keyUnknown.slug)
            throw .invalidKey
        }
        sdkSightings.note(call.request, app: owner.app)
        return SDKVisit(
            service: self,
            call: call,
            context: context,
            sdk: sdk,
            store: owner.store
        )
    }

    // MARK: Failures

    /// Whether a failed request is one of an SDK. Their errors have a form of their own.
    func isOfSDK(_ call: Call) -> Bool {
        guard let route = call.route else {
            guard let owner = sdkKeys.owner(of: call.request) else { return false }
            sdkSightings.noteUnknownPath(app: owner.app)
            return true
        }
        return !sdkKeys.isEmpty && Self.sdkTemplates.contains(route.template)
    }

    /// Returns the response to a request that the HTTP server rejected, by its target as sent. A
    /// device finishes a purchase after any 4xx, so a receipt that was not read is a 503.
    package func rejection(
        _ problem: Problem,
        of target: String,
        at entrance: Entrance = .all
    ) -> Response {
        let segments = target.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        let route = Self.sdkRoutes.first { $0.parameters(of: segments) != nil }
        let isOfSDK =
            switch entrance {
            case .all: !sdkKeys.isEmpty && route != nil
            case .sdk: true
            case .withoutSDK: false
            }
        guard isOfSDK else { return problem.response }
        guard route?.template == Self.receipts else { return sdkResponse(problem) }
        return SDKResponse(at: clock()).error(.tryLater(problem.title))
    }

    /// Returns a problem in the SDKs' form. A full budget is a 503: after 429 a device would finish
    /// its purchase.
    func sdkResponse(_ problem: Problem) -> Response {
        let error: SDKError =
            switch problem.status {
            case 404: .notOffered(problem.title)
            case 405: .wrongMethod
            case 429, 500...: .tryLater(problem.title)
            default: .badRequest(problem.title)
            }
        return SDKResponse(at: clock()).error(error, retryAfter: problem.retryAfter)
    }
}
