import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverStorage

/// Reads of RevenueCat's REST API for back ends, with an API key of Tideover.
///
/// Version 1 is `GET /v1/subscribers/{id}`, which the SDKs use too: the kind of key decides. Version 2
/// names the app as the project. Its errors are problems, as in the rest of the API.
extension Service {
    static let restRoutes: [Route] = [
        Route("GET", "/v2/projects/{app}/customers/{customer}", needs: .secret) { service, call in
            try await service.restVisit(call, app: call["app"]).customer(call["customer"])
        },
        Route(
            "GET",
            "/v2/projects/{app}/customers/{customer}/active_entitlements",
            needs: .secret
        ) { service, call in
            try await service.restVisit(call, app: call["app"])
                .activeEntitlements(call["customer"])
        },
        Route(
            "GET",
            "/v2/projects/{app}/customers/{customer}/attributes",
            needs: .secret
        ) { service, call in
            try await service.restVisit(call, app: call["app"])
                .listAttributes(call["customer"])
        },
    ]

    /// Returns the request of a back end, or nil for any other request. The key of a back end is for
    /// one app; with another key, the parameter `app` names one.
    func restVisit(_ call: Call, writing: Bool = false) -> SDKVisit? {
        guard case .key(let grant, _) = call.presented,
            Need.secret.kinds(writing: writing).contains(grant.kind)
        else { return nil }
        let only = grant.apps.count == 1 ? grant.apps.first : nil
        guard let id = call.request.queryValue("app") ?? only, grant.opens(app: id) else {
            return nil
        }
        return visit(call, app: id)
    }

    private func restVisit(_ call: Call, app id: String) throws(Problem) -> SDKVisit {
        guard let visit = visit(call, app: id) else { throw .unknownApp(id) }
        return visit
    }

    /// Nil for an unknown app, and for one without RevenueCat's SDKs.
    private func visit(_ call: Call, app id: String) -> SDKVisit? {
        guard let context = context(of: id, for: call), let sdk = context.app.revenueCatSDK else {
            return nil
        }
        return SDKVisit(
            service: self,
            call: call,
            context: context,
            sdk: sdk,
            store: context.app.stores.sorted { $0.rawValue < $1.rawValue }.first ?? .appStore,
            isBackEnd: true
        )
    }
}

extension SDKVisit {
    /// The customer in version 2, without members that Tideover has nothing for.
    fileprivate func customer(_ id: String) async throws -> Response {
        let answer = try await answer(about: user(id))
        return rest { writer in
            writer.field("object", "customer")
            writer.field("id", id)
            writer.field("project_id", app.id)
            writer.field("first_seen_at", answer.info.firstSeen?.millisecondsSince1970)
            writer.field("last_seen_at", Int64?.none)
            writer.field(
                "active_entitlements",
                object: { list(answer, of: id, to: &$0) }
            )
            writer.field("experiment", String?.none)
        }
    }

    fileprivate func activeEntitlements(_ id: String) async throws -> Response {
        let answer = try await answer(about: user(id))
        return rest { list(answer, of: id, to: &$0) }
    }

    private func user(_ id: String) throws(Problem) -> SDKUserID {
        do {
            return try SDKUserID(id, mayBeReserved: true)
        } catch {
            throw .badCustomer
        }
    }

    fileprivate func listAttributes(_ id: String) async throws -> Response {
        let answer = try await answer(about: user(id))
        let attributes = answer.info.attributes?.values ?? [:]
        return rest { writer in
            list(of: id, at: "attributes", to: &writer) { writer in
                for (name, attribute) in attributes.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.field("object", "customer.attribute")
                        writer.field("name", name)
                        writer.field("value", attribute.text)
                        writer.field("updated_at", attribute.updatedAt.millisecondsSince1970)
                    }
                }
            }
        }
    }

    private func list(_ answer: Answer, of id: String, to writer: inout JSONWriter) {
        list(of: id, at: "active_entitlements", to: &writer) { writer in
            for (name, entitlement) in answer.info.entitlements.sorted(by: { $0.key < $1.key })
            where entitlement.expires.isActive {
                writer.object { writer in
                    writer.field("object", "customer.active_entitlement")
                    writer.field("entitlement_id", name)
                    writer.field("expires_at", entitlement.expires.end?.millisecondsSince1970)
                }
            }
        }
    }

    /// Writes the members of a list that is one page.
    private func list(
        of id: String,
        at path: String,
        to writer: inout JSONWriter,
        items: (inout JSONWriter) -> Void
    ) {
        writer.field("object", "list")
        writer.field("items", array: items)
        writer.field("next_page", String?.none)
        let customer = PercentEncoding.encode(id)
        let project = PercentEncoding.encode(app.id)
        writer.field("url", "/v2/projects/\(project)/customers/\(customer)/\(path)")
    }

    private func rest(_ body: (inout JSONWriter) -> Void) -> Response {
        .json(headers: ["Cache-Control": "private, no-store"], body)
    }
}
