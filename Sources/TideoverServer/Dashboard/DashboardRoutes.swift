import TideoverConfiguration
import TideoverCore
import TideoverDashboard
import TideoverHTTP
import TideoverLocks
import TideoverStorage

/// The routes below `/dashboard`. They check a session instead of an API key.
extension Service {
    static let dashboardRoutes: [Route] = [
        page("/dashboard") { try await $0.portfolio() },
        page("/dashboard/apps/{app}") { try await $0.app() },
        page("/dashboard/apps/{app}/search") { try await $0.search() },
        page("/dashboard/apps/{app}/customers/{customer}") { try await $0.customer() },
        page("/dashboard/apps/{app}/webhooks") { try await $0.webhooks() },
        page("/dashboard/apps/{app}/events") { try await $0.events() },
        page("/dashboard/apps/{app}/experiments") { try await $0.experiments() },
        // An open page alone does not keep a session alive.
        Route("GET", "/dashboard/apps/{app}/events/stream", needs: .nothing) { service, call in
            try await service.visit(call, extendsSession: false) { try await $0.eventStream() }
        },
        action(.refresh) { try await $0.refresh($1) },
        action(.grant) { try await $0.giveGrant($1) },
        action(.revoke) { try await $0.revokeGrant($1) },
        page("/dashboard/apps/{app}/customers/{customer}/alias") { try await $0.confirmJoin() },
        action(.alias) { try await $0.addAlias($1) },
        page("/dashboard/apps/{app}/customers/{customer}/move") { try await $0.confirmMove() },
        action(.move) { try await $0.movePurchase($1) },
        page("/dashboard/apps/{app}/maintenance") { try await $0.maintenance() },
        maintenanceAction(.backfill), maintenanceAction(.replay), maintenanceAction(.apply),
        page("/dashboard/apps/{app}/configuration") { try await $0.configuration() },
        page("/dashboard/apps/{app}/sandbox") { try await $0.sandbox() },
        form("/dashboard/apps/{app}/sandbox") { try await $0.playSandbox($1) },
        webhookAction(.test), webhookAction(.disable), webhookAction(.enable),
        Route("GET", "/dashboard/sign-in", needs: .nothing) { service, call in
            try service.signIn(call).show()
        },
        Route("POST", "/dashboard/sign-in", needs: .nothing) { service, call in
            try service.signIn(call).enterKey()
        },
        Route("GET", "/dashboard/enter", needs: .nothing) { service, call in
            try service.signIn(call).enterLink()
        },
        Route("POST", "/dashboard/sign-out", needs: .nothing) { service, call in
            try service.signIn(call).signOut()
        },
        Route("GET", "/dashboard/assets/{asset}", needs: .nothing) { _, call in
            guard let asset = Asset(rawValue: call["asset"]) else {
                return DashboardResponse.problem(.notFound, for: nil)
            }
            return DashboardResponse.asset(asset, to: call.request)
        },
    ]

    /// All routes of a service with a dashboard.
    static let routesWithDashboard = routes + dashboardRoutes

    /// Creates the route of a page. Without a session it leads to the sign-in.
    private static func page(
        _ template: String,
        _ show: @escaping @Sendable (DashboardVisit) async throws -> Response
    ) -> Route {
        Route("GET", template, needs: .nothing) { service, call in
            try await service.visit(call, show)
        }
    }

    /// Creates the route of a form on a customer's page. Only a form from a page of the same
    /// session is accepted.
    private static func action(
        _ action: CustomerAction,
        _ act: @escaping @Sendable (DashboardVisit, DashboardForm) async throws -> Response
    ) -> Route {
        form("/dashboard/apps/{app}/customers/{customer}/\(action.rawValue)", act)
    }

    private static func webhookAction(_ action: WebhookAction) -> Route {
        form("/dashboard/apps/{app}/webhooks/{webhook}/\(action.rawValue)") { visit, _ in
            try await visit.change(action)
        }
    }

    private static func maintenanceAction(_ action: MaintenanceAction) -> Route {
        form("/dashboard/apps/{app}/maintenance/\(action.rawValue)") { visit, _ in
            try await visit.begin(action)
        }
    }

    private static func form(
        _ template: String,
        _ act: @escaping @Sendable (DashboardVisit, DashboardForm) async throws -> Response
    ) -> Route {
        Route("POST", template, needs: .nothing) { service, call in
            try await service.visit(call) { visit in
                guard let form = DashboardForm(call.request), form.isSent(with: visit.token) else {
                    return DashboardForm.expired(for: visit.reader, back: visit.back)
                }
                return try await act(visit, form)
            }
        }
    }

    private func visit(
        _ call: Call,
        extendsSession: Bool = true,
        _ respond: (DashboardVisit) async throws -> Response
    ) async throws -> Response {
        let signIn = try signIn(call)
        guard let visit = signIn.visit(extendsSession: extendsSession) else {
            return signIn.refuse()
        }
        do {
            return try await respond(visit)
        } catch let problem as Problem {
            return DashboardResponse.problem(problem, for: visit.reader, back: visit.back)
        } catch is StorageError {
            return DashboardResponse.problem(
                .storageUnavailable,
                for: visit.reader,
                back: visit.back
            )
        }
    }

    private func signIn(_ call: Call) throws(Problem) -> DashboardSignIn {
        guard let dashboard else { throw .notFound }
        return DashboardSignIn(service: self, call: call, sessions: dashboard)
    }

    /// Returns the path of a link that signs in once, for every app; nil without a dashboard.
    package func makeDashboardLink() -> String? {
        dashboard.map { sessions in
            let token = sessions.makeLink(at: probes.sessionTime())
            return Link(["enter"], [(DashboardSignIn.linkToken, token)]).text
        }
    }
}

/// Starts and ends sessions.
struct DashboardSignIn: Sendable {
    let service: Service
    let call: Call
    let sessions: DashboardSessions

    static let linkToken = "token"
    private var request: Request { call.request }
    private var cookie: DashboardCookie { .session(of: request) }
    private var formCookie: DashboardCookie { .signIn(of: request) }
    private var now: Int64 { service.probes.sessionTime() }

    /// Returns the request as one of a session; nil if it has none, or if the session's key was
    /// revoked or replaced.
    func visit(extendsSession: Bool = true) -> DashboardVisit? {
        guard let token = cookie.value(in: request),
            let person = sessions.person(of: token, at: now, extends: extendsSession)
        else { return nil }
        if let key = person.key, !service.keys.withLock({ $0.isUsable(key) }) {
            sessions.end(token)
            return nil
        }
        return DashboardVisit(service: service, call: call, person: person, token: token)
    }

    /// Leads to the sign-in. After the end of a session, a form is answered by a page that states
    /// that nothing was changed.
    func refuse() -> Response {
        guard request.method == "POST" else {
            return DashboardResponse.redirect(to: .signIn(leadingTo: AppPageAddress(request)?.link))
        }
        guard cookie.value(in: request) != nil else {
            return DashboardResponse.redirect(to: .signIn)
        }
        return show(
            problem: "The session has ended, and nothing was changed. Sign in, then try again.",
            status: 403,
            next: AppPageAddress(formIn: request)
        )
    }

    /// Shows the form, which leads to the page that the query names.
    func show() -> Response {
        show(next: AppPageAddress(request.queryValue(SignInPage.next)))
    }

    private func show(
        problem: String? = nil,
        status: Int = 200,
        next: AppPageAddress? = nil
    ) -> Response {
        let secret = formCookie.value(in: request) ?? sessions.token()
        var response = DashboardResponse.page(
            SignInPage.page(
                formToken: DashboardSessions.formToken(of: secret),
                problem: problem,
                next: next?.link
            ),
            for: nil,
            status: status
        )
        formCookie.set(secret, in: &response)
        return response
    }

    /// Signs in with the key of the form.
    func enterKey() -> Response {
        let sender = service.rateLimiter.sender(of: request, to: "", for: .signIn)
        if let objection = service.rateLimiter.objection(to: sender) {
            return DashboardResponse.problem(objection, for: nil)
        }
        let form = DashboardForm(request)
        let next = AppPageAddress(form?[SignInPage.next])
        guard let form, let secret = formCookie.value(in: request), form.isSent(with: secret) else {
            return show(
                problem: "The form has expired. Enter the key again.",
                status: 403,
                next: next
            )
        }
        let key = (form[SignInPage.key] ?? "").withoutSpaceAround
        guard key.utf8.count <= APIKey.mostBytes,
            let found = service.keys.withLock({ $0.key(of: KeyDigest(of: key)) })
        else {
            service.rateLimiter.charge(sender)
            service.metrics.count(.keyRefusals, Problem.keyUnknown.slug)
            return show(
                problem: "Invalid key. It is unknown or revoked.",
                status: 403,
                next: next
            )
        }
        guard Need.secret.kinds(writing: false).contains(found.grant.kind) else {
            return show(
                problem: "A public key cannot sign in. Use a viewer, a secret or an admin key.",
                status: 403,
                next: next
            )
        }
        return start(
            DashboardSessions.Person(grant: found.grant, key: found, name: found.name),
            next: next.flatMap { found.grant.opens(app: $0.app) ? $0.link : nil }
        )
    }

    /// Signs in with a one-time link.
    func enterLink() -> Response {
        let sender = service.rateLimiter.sender(of: request, to: "", for: .signIn)
        if let objection = service.rateLimiter.objection(to: sender) {
            return DashboardResponse.problem(objection, for: nil)
        }
        let token = request.queryValue(Self.linkToken) ?? ""
        guard sessions.useLink(token, at: now) else {
            service.rateLimiter.charge(sender)
            return show(problem: "The link was used before or has expired.", status: 403)
        }
        return start(
            DashboardSessions.Person(
                grant: Grant(kind: .admin),
                key: nil,
                name: KeyTable.linkName
            )
        )
    }

    /// Starts a new session; the one of the request ends, so that no token is known from before.
    private func start(_ person: DashboardSessions.Person, next: Link? = nil) -> Response {
        if let former = cookie.value(in: request) { sessions.end(former) }
        service.log(
            LogLine(
                .info,
                "dashboard sign-in",
                code: person.grant.kind.rawValue,
                request: call.id,
                key: person.keyID
            )
        )
        var response = DashboardResponse.redirect(to: next ?? .portfolio)
        cookie.set(sessions.start(person, at: now), in: &response)
        formCookie.remove(in: &response)
        return response
    }

    /// Ends the session of the request.
    func signOut() -> Response {
        guard let visit = visit() else { return DashboardResponse.redirect(to: .signIn) }
        guard let form = DashboardForm(request), form.isSent(with: visit.token) else {
            return DashboardForm.expired(for: visit.reader)
        }
        sessions.end(visit.token)
        var response = DashboardResponse.redirect(to: .signIn)
        cookie.remove(in: &response)
        return response
    }
}
