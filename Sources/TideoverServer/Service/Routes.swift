import TideoverHTTP

extension Service {
    /// All routes; the OpenAPI document lists the same.
    package static let routes: [Route] =
        serverRoutes + customerRoutes + purchaseRoutes + reportRoutes + appRoutes + webhookRoutes
        + storeRoutes + dataRoutes

    private static let serverRoutes: [Route] = [
        Route("GET", "/healthz", needs: .nothing) { service, _ in service.health },
        Route("GET", "/readyz", needs: .nothing) { service, _ in
            try await service.readiness.respond()
        },
        Route("GET", "/metrics", needs: .nothing) { service, _ in MetricsRoute(service).respond() },
        Route("GET", "/openapi.json", needs: .nothing) { _, call in
            OpenAPIDocument.respond(to: call.request)
        },
        Route("GET", "/problems/{problem}", needs: .nothing) { _, call in
            try ProblemTypeRoute().respond(call["problem"])
        },
        Route("POST", "/v1/reload", needs: .admin) { service, _ in
            guard let reload = service.reload else { throw Problem.nothingToReload }
            return try await reload().response()
        },
        Route("GET", "/v1/backup", needs: .admin) { service, _ in
            try BackupRoute(copier: service.copier).tell()
        },
        Route("POST", "/v1/backup", needs: .admin) { service, _ in
            try BackupRoute(copier: service.copier).begin()
        },
        Route("GET", "/v1/keys", needs: .admin) { service, call in
            service.keysRoutes(call).list()
        },
        Route("POST", "/v1/keys", needs: .admin) { service, call in
            try await service.keysRoutes(call).add(call.request)
        },
        Route("DELETE", "/v1/keys/{id}", needs: .admin) { service, call in
            try await service.keysRoutes(call).revoke(call["id"])
        },
    ]

    private static let customerRoutes: [Route] = [
        Route("GET", ofApp: "/customers", needs: .secret) { context, call in
            try await CustomersRoute(context: context).respond(to: call.request)
        },
        Route("GET", ofApp: "/customers/{customer}", needs: .read) { service, context, call in
            try await SnapshotRoute(context: context, replica: service.replica)
                .respond(to: call.request, customer: call["customer"])
        },
        Route("POST", ofApp: "/customers/{customer}/reconcile", needs: .read) {
            service,
            context,
            call in
            try await ReconcileRoute(context: context, clients: service.clients)
                .respond(to: call.request, customer: call["customer"])
        },
        Route("POST", ofApp: "/customers/{customer}/prompts", needs: .read) { context, call in
            try await PromptsRoute(context: context, isDevice: call.presented.isPublicKey)
                .respond(to: call.request, customer: call["customer"])
        },
        Route("GET", ofApp: "/customers/{customer}/explain", needs: .secret) { context, call in
            try await ExplainRoute(context: context)
                .respond(to: call.request, customer: call["customer"])
        },
        Route("GET", ofApp: "/customers/{customer}/timeline", needs: .secret) { context, call in
            try await TimelineRoute(context: context)
                .respond(to: call.request, customer: call["customer"])
        },
        Route("GET", ofApp: "/customers/{customer}/audit", needs: .secret) { context, call in
            try await AuditRoute(context: context)
                .respond(to: call.request, customer: call["customer"])
        },
        Route("GET", ofApp: "/customers/{customer}/shadow", needs: .secret) { context, call in
            try await ShadowReportRoute(context: context)
                .respond(to: call.request, customer: call["customer"])
        },
        Route("POST", ofApp: "/customers/{customer}/refresh", needs: .secret) {
            service,
            context,
            call in
            try await RefreshRoute(context: context, clients: service.clients)
                .respond(to: call.request, customer: call["customer"])
        },
        Route("GET", ofApp: "/customers/{customer}/grants", needs: .secret) { context, call in
            try await GrantsRoute(context: context, presenter: context.presenter(of: call))
                .list(call.request, customer: call["customer"])
        },
        Route("POST", ofApp: "/customers/{customer}/grants", needs: .secret) { context, call in
            try await GrantsRoute(context: context, presenter: context.presenter(of: call))
                .give(call.request, customer: call["customer"])
        },
        Route("POST", ofApp: "/customers/{customer}/grants/{grant}/revocation", needs: .secret) {
            context,
            call in
            try await GrantsRoute(context: context, presenter: context.presenter(of: call))
                .revoke(call.request, customer: call["customer"], grant: call["grant"])
        },
        Route("GET", ofApp: "/customers/{customer}/aliases", needs: .secret) { context, call in
            try await AliasesRoute(context: context, presenter: context.presenter(of: call))
                .list(customer: call["customer"])
        },
        Route("POST", ofApp: "/customers/{customer}/aliases", needs: .secret) { context, call in
            try await AliasesRoute(context: context, presenter: context.presenter(of: call))
                .declare(call.request, customer: call["customer"])
        },
    ]

    private static let purchaseRoutes: [Route] = [
        Route("GET", ofApp: "/unclaimed", needs: .secret) { context, call in
            try await UnclaimedRoute(context: context).respond(to: call.request)
        },
        Route("GET", ofApp: "/lookup", needs: .secret) { service, context, call in
            try await LookupRoute(context: context, clients: service.clients)
                .respond(to: call.request)
        },
        Route("GET", ofApp: "/explain", needs: .secret) { service, context, call in
            let lookup = LookupRoute(context: context, clients: service.clients)
            return try await ExplainPurchaseRoute(lookup: lookup).respond(to: call.request)
        },
        Route("POST", ofApp: "/purchases/{purchase}/move", needs: .secret) { context, call in
            try await MoveRoute(context: context, presenter: context.presenter(of: call))
                .respond(to: call.request, purchase: call["purchase"])
        },
        // Actions that refund money require an admin key, which the route itself checks.
        Route("POST", ofApp: "/purchases/{purchase}/actions", needs: .secret) {
            service,
            context,
            call in
            try await service.storeActionsRoute(context, call).act(call)
        },
        Route("POST", ofApp: "/extensions", needs: .admin) { service, context, call in
            try await service.storeActionsRoute(context, call).extendAll(call)
        },
        Route("GET", ofApp: "/extensions/{id}", needs: .admin) { service, context, call in
            try await service.storeActionsRoute(context, call).massExtension(call)
        },
    ]

    private static let reportRoutes: [Route] = [
        Route("GET", "/v1/reports/arrival", needs: .secret) { service, call in
            try await ArrivalReportRoute(
                contexts: service.reportedContexts(call),
                now: service.clock()
            ).respond()
        },
        Route("GET", "/v1/reports/drift", needs: .secret) { service, call in
            try await DriftReportRoute(
                contexts: service.reportedContexts(call),
                now: service.clock()
            ).respond()
        },
        Route("GET", "/v1/reports/lockouts", needs: .secret) { service, call in
            try await LockoutReportRoute(
                contexts: service.reportedContexts(call),
                now: service.clock()
            ).respond()
        },
        Route("GET", "/v1/reports/deadlines", needs: .secret) { service, call in
            try await DeadlineReportRoute(
                contexts: service.reportedContexts(call),
                now: service.clock(),
                backfillers: service.clients.backfillers
            ).respond(to: call.request)
        },
        measureReport("/v1/reports/recovery", MeasureReportRoute.recovery),
        measureReport("/v1/reports/churn", MeasureReportRoute.churn),
        measureReport("/v1/reports/trials", MeasureReportRoute.trials),
        measureReport("/v1/reports/experiments", MeasureReportRoute.experiments),
        Route("GET", "/v1/reports/portfolio", needs: .secret) { service, call in
            try await PortfolioReportRoute(
                contexts: service.reportedContexts(call),
                now: service.clock()
            ).respond(to: call.request)
        },
        Route("GET", "/v1/reports/policy", needs: .secret) { service, call in
            try await PolicyReportRoute(
                contexts: service.reportedContexts(call),
                now: service.clock()
            ).respond(to: call.request)
        },
        Route("GET", "/v1/reports/shadow", needs: .secret) { service, call in
            try await ShadowReportRoute(context: service.context(call)).respond(to: call.request)
        },
    ]

    private static let appRoutes: [Route] = [
        Route("GET", ofApp: "/audit", needs: .secret) { context, call in
            try await AuditRoute(context: context).respond(to: call.request)
        },
        Route("GET", ofApp: "/events", needs: .secret) { context, call in
            try await EventsRoute(context: context).respond(to: call.request)
        },
        Route("GET", ofApp: "/configuration", needs: .secret) { service, context, call in
            service.configurationRoute(context, call).respond()
        },
        Route("POST", ofApp: "/policy/try", needs: .secret) { context, call in
            try await PolicyTrialRoute(context: context).respond(to: call.request)
        },
        // These are public keys; anyone with a pass may verify it.
        Route("GET", ofApp: "/pass-keys", needs: .nothing) { context, _ in
            PassKeysRoute(app: context.app).respond()
        },
    ]

    private static let webhookRoutes: [Route] = [
        Route("GET", ofApp: "/webhooks", needs: .admin) { service, context, _ in
            try service.webhooksRoutes(context).list()
        },
        Route("POST", ofApp: "/webhooks", needs: .admin) { service, context, call in
            try await service.webhooksRoutes(context).add(call.request)
        },
        Route("DELETE", ofApp: "/webhooks/{webhook}", needs: .admin) { service, context, call in
            try await service.webhooksRoutes(context).remove(call["webhook"])
        },
        Route("POST", ofApp: "/webhooks/{webhook}/test", needs: .admin) { service, context, call in
            try await service.webhooksRoutes(context).test(call["webhook"])
        },
        Route("POST", ofApp: "/webhooks/{webhook}/disable", needs: .admin) {
            service,
            context,
            call in
            try await service.webhooksRoutes(context).set(call["webhook"], isDisabled: true)
        },
        Route("POST", ofApp: "/webhooks/{webhook}/enable", needs: .admin) {
            service,
            context,
            call in
            try await service.webhooksRoutes(context).set(call["webhook"], isDisabled: false)
        },
        Route("GET", ofApp: "/webhooks/{webhook}/attempts", needs: .admin) {
            service,
            context,
            call in
            try service.webhooksRoutes(context).attempts(call["webhook"], call.request)
        },
        Route("POST", ofApp: "/webhooks/{webhook}/replay", needs: .admin) {
            service,
            context,
            call in
            try await service.webhooksRoutes(context).replay(call["webhook"], call.request)
        },
    ]

    /// What the stores and RevenueCat send, and what they are asked.
    private static let storeRoutes: [Route] = [
        // The store has no API key; its signature authenticates the request.
        Route("POST", ofApp: "/notifications/app-store", needs: .nothing) { context, call in
            try await AppStoreIngest(context: context).respond(to: call.request)
        },
        // Pub/Sub has no API key; its token authenticates the request.
        Route("POST", ofApp: "/notifications/google-play", needs: .nothing) {
            service,
            context,
            call in
            try await PlayIngest(context: context, pollers: service.clients.pollers)
                .respond(to: call.request)
        },
        // RevenueCat has no API key; the configured header or signature authenticates the request.
        Route("POST", ofApp: "/notifications/revenuecat", needs: .nothing) { context, call in
            try await RevenueCatIngest(context: context).respond(to: call.request)
        },
        Route("GET", ofApp: "/imports/revenuecat", needs: .admin) { context, _ in
            try RevenueCatImportRoute(context: context).tell()
        },
        Route("POST", ofApp: "/imports/revenuecat", needs: .admin) { context, call in
            try await RevenueCatImportRoute(context: context).take(call.request)
        },
        Route("GET", ofApp: "/arrivals", needs: .secret) { context, call in
            try ArrivalsRoute(context: context).respond(to: call.request)
        },
        Route("GET", ofApp: "/survey", needs: .secret) { context, call in
            try await SurveyRoute(context: context).respond(to: call.request)
        },
        Route("GET", ofApp: "/backfill", needs: .admin) { service, context, call in
            try BackfillRoute(app: context.app, clients: service.clients).tell(call.request)
        },
        Route("POST", ofApp: "/backfill", needs: .admin) { service, context, call in
            try BackfillRoute(app: context.app, clients: service.clients).begin(call.request)
        },
    ]

    private static let dataRoutes: [Route] = [
        Route("GET", ofApp: "/export", needs: .admin) { context, call in
            try await ExportRoute(context: context).respond(to: call.request)
        },
        Route("POST", ofApp: "/import", needs: .admin) { context, call in
            try await ImportRoute(context: context).respond(to: call.request)
        },
        Route("GET", ofApp: "/replay", needs: .admin) { service, context, call in
            try ReplayRoute(app: context.app, replayers: service.replayers).tell(call.request)
        },
        Route("POST", ofApp: "/replay", needs: .admin) { service, context, call in
            try ReplayRoute(app: context.app, replayers: service.replayers).begin(call.request)
        },
        Route("DELETE", ofApp: "/customers/{customer}", needs: .admin) { context, call in
            try await EraseRoute(context: context)
                .respond(to: call.request, customer: call["customer"])
        },
    ]

    private static func measureReport(
        _ template: String,
        _ measure: @escaping MeasureReportRoute.Measure
    ) -> Route {
        Route("GET", template, needs: .secret) { service, call in
            try await MeasureReportRoute(
                contexts: service.reportedContexts(call),
                now: service.clock()
            ).respond(to: call.request, measure)
        }
    }

    private func storeActionsRoute(_ context: AppContext, _ call: Call) -> StoreActionsRoute {
        StoreActionsRoute(
            context: context,
            clients: clients,
            underWay: storeActions,
            presenter: context.presenter(of: call)
        )
    }

    private func configurationRoute(_ context: AppContext, _ call: Call) -> ConfigurationRoute {
        let objection = Need.admin.objection(
            to: call.presented,
            app: context.app.id,
            isRehearsal: false,
            writes: false
        )
        return ConfigurationRoute(
            app: context.app,
            effective: effective,
            isWhole: objection == nil,
            metrics: String(decoding: MetricsRoute(self).respond().body, as: UTF8.self),
            now: clock()
        )
    }

    private func webhooksRoutes(_ context: AppContext) -> WebhooksRoutes {
        WebhooksRoutes(context: context, book: webhooks, sending: webhookSending)
    }

    private func keysRoutes(_ call: Call) -> KeysRoutes {
        KeysRoutes(
            keys: keys,
            storage: storage,
            apps: Array(contexts.keys),
            clock: clock,
            random: random,
            log: log(of: call)
        )
    }
}
