import TideoverCore
import TideoverDashboard
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSignatures
import TideoverStorage

/// One request for a page by a person who has signed in.
///
/// All data comes from the routes of the API, with the person's own permissions. A page therefore
/// shows the same numbers as the API, and nothing that the person's key does not permit.
struct DashboardVisit: Sendable {
    let service: Service
    let call: Call
    let person: DashboardSessions.Person
    /// The token of the session.
    let token: String

    var reader: Reader {
        let apps = service.apps.filter { person.grant.opens(app: $0.id) }
        return Reader(
            name: person.name,
            places: apps.flatMap { app in
                app.environments.map { Place(app: app.id, environment: $0.rawValue) }
            },
            formToken: DashboardSessions.formToken(of: token)
        )
    }

    // MARK: Pages

    func portfolio() async throws -> Response {
        let portfolio = try await ask(
            "/v1/reports/portfolio",
            [QueryItem(name: "each", value: "day")]
        )
        return respond(
            PortfolioPage.page(try await reports(of: nil), try Portfolio(portfolio))
        )
    }

    func app() async throws -> Response {
        let place = try place()
        let unclaimed = try await ask("/v1/apps/\(path(place.app))/unclaimed", about: place) {
            $0.append(QueryItem(name: "limit", value: "20"))
        }
        return respond(
            AppPage.page(
                place,
                try await reports(of: place.app),
                try await measures(of: place),
                try Deadlines(
                    of: place,
                    try await ask(
                        "/v1/reports/deadlines",
                        [QueryItem(name: "app", value: place.app)]
                    )
                ),
                isAdmin: person.grant.kind == .admin,
                hasSandbox: service.simulatedStores[place.app] != nil,
                unclaimed: try unclaimed.elements("purchases").map(FoundPurchase.init),
                hasMore: unclaimed["more"]?.bool ?? false
            )
        )
    }

    func customer() async throws -> Response {
        let place = try place()
        let customer = call["customer"]
        let root = "/v1/apps/\(path(place.app))/customers/\(path(customer))"
        let instant = try pastInstant()
        let explain = try await ask("\(root)/explain", about: place) { query in
            if let instant { query.append(QueryItem(name: "at", value: instant.rfc3339)) }
        }
        let answer = instant == nil ? try await ask(root, about: place) : nil
        let timeline = try await ask("\(root)/timeline", about: place)
        let stored = try await stored(of: customer, place)
        return respond(
            CustomerPage.page(
                try CustomerView(
                    explain: explain,
                    answer: answer,
                    timeline: timeline,
                    denials: stored.denials,
                    ids: stored.ids,
                    isPast: instant != nil
                ),
                try await attributes(of: customer, place),
                try await actions(of: root, in: place)
            )
        )
    }

    /// Returns what the app states about a customer, in the order of the names.
    private func attributes(of customer: String, _ place: Place) async throws -> [AttributeView] {
        let app = try app(place.app)
        let id = try CustomerID.storable(customer)
        guard let environment = Environment(rawValue: place.environment) else {
            throw Problem.unknownEnvironment(place.environment)
        }
        let storage = service.storage
        return try await onPool {
            let key = CustomerKey(app: app.id, environment: environment, customer: id)
            let stated = try app.attributes(of: try storage.identity(of: key), in: storage)
            return stated.values.sorted { $0.key < $1.key }.compactMap { name, value in
                value.text.map {
                    AttributeView(name: name, value: $0, updatedAt: value.updatedAt)
                }
            }
        }
    }

    /// Returns what the person may change, with what was changed before. Past answers have no forms.
    private func actions(of root: String, in place: Place) async throws -> CustomerActions {
        let isPast = try pastInstant() != nil
        let request = call.request
        let done = request.queryValue("done").flatMap(CustomerAction.init(rawValue:))
        let outcomes = request.query.filter { $0.name == "outcome" }.prefix(RefreshRoute.most)
        let audit = try await audit(of: root, in: place)
        return try CustomerActions(
            formToken: mayChange && !isPast ? DashboardSessions.formToken(of: token) : nil,
            once: Hexadecimal.text(randomBytes(12, service.random)),
            entitlements: try app(place.app).catalogue.entitlements.sorted(),
            grants: try await ask("\(root)/grants", about: place),
            audit: audit.lines,
            olderAudit: audit.older,
            done: done.map { ($0, outcomes.map(\.value)) }
        )
    }

    /// Returns the newest lines of a customer's audit log, oldest first, and how many are older.
    private func audit(
        of root: String,
        in place: Place
    ) async throws -> (lines: [JSONNode], older: Int) {
        let limit = EventsRoute.greatestLimit
        var lines: [JSONNode] = []
        var older = 0
        var next: String?
        repeat {
            let after = next.map { [QueryItem(name: "after", value: $0)] } ?? []
            let page = try await ask("\(root)/audit", about: place) {
                $0 += [QueryItem(name: "limit", value: "\(limit)")] + after
            }
            // The log begins with its oldest lines, so the newest are on its last page.
            lines += page.elements("audit")
            let extra = max(0, lines.count - limit)
            lines.removeFirst(extra)
            older += extra
            next = page["more"]?.bool == true ? page["next"]?.string : nil
        } while next != nil
        return (lines, older)
    }

    /// Whether the person's key permits changes at all; each route of the API checks again.
    var mayChange: Bool { person.grant.kind != .viewer }

    /// Finds customers and purchases; an exact id leads to its page.
    func search() async throws -> Response {
        let place = try place()
        let text = (call.request.queryValue("q") ?? "").withoutSpaceAround
        let query = String(text.prefix { $0 != "\n" })
        guard !query.isEmpty, query.utf8.count <= 500 else {
            return DashboardResponse.redirect(to: place.link)
        }
        let customers = try await ids(place, "prefix", query)
        if let exact = customers.ids.first(where: { $0.id == query }) {
            return DashboardResponse.redirect(to: place.customer(exact.customer))
        }
        let (purchases, notice) = try await purchases(place, query)
        return respond(
            SearchPage.page(
                place,
                query: query,
                customers: customers,
                stating: try await stating(query, place),
                purchases: purchases,
                notice: notice
            )
        )
    }

    /// Returns the ids that a search of the API finds.
    private func ids(
        _ place: Place,
        _ parameter: String,
        _ text: String
    ) async throws -> ListedIDs {
        try ListedIDs(
            try await ask("/v1/apps/\(path(place.app))/customers", about: place) {
                $0.append(QueryItem(name: parameter, value: text))
                $0.append(QueryItem(name: "limit", value: "20"))
            }
        )
    }

    /// Returns the ids for which an app states an email address. What apps state is stored in one
    /// environment for all.
    private func stating(_ address: String, _ place: Place) async throws -> ListedIDs {
        guard address.contains("@") else { return .none }
        let usual = try app(place.app).usualEnvironment.rawValue
        return try await ids(Place(app: place.app, environment: usual), "email", address)
    }

    /// The webhooks of an app with their latest attempts, for an admin key.
    func webhooks() async throws -> Response {
        let place = try place()
        let root = "/v1/apps/\(path(place.app))/webhooks"
        var views: [WebhookView] = []
        for node in try await ask(root, []).elements("webhooks") {
            let id = node["id"]?.string ?? ""
            let attempts = try await ask(
                "\(root)/\(path(id))/attempts",
                [QueryItem(name: "limit", value: "20")]
            )
            views.append(try WebhookView(node, attempts: attempts))
        }
        return respond(
            WebhooksPage.page(
                place,
                views,
                formToken: DashboardSessions.formToken(of: token),
                done: call.request.queryValue("done").flatMap(WebhookAction.Done.init(rawValue:))
            )
        )
    }

    /// The experiments of an app, as their report has them.
    func experiments() async throws -> Response {
        let place = try place()
        let report = try await ask(
            "/v1/reports/experiments",
            [QueryItem(name: "app", value: place.app)]
        )
        return respond(ExperimentsPage.page(place, try Experiments(of: place, report)))
    }

    /// The latest events of an app.
    func events() async throws -> Response {
        let place = try place()
        let latest = QueryItem(name: "latest", value: "\(EventsPage.most)")
        return respond(EventsPage.page(place, try await feed(of: place, latest).events))
    }

    /// The events after the one that the browser read last.
    func eventStream() async throws -> Response {
        let place = try place()
        let request = call.request
        let last = request.headers["Last-Event-ID"] ?? request.queryValue("after")
        let item =
            last.map { QueryItem(name: "after", value: $0) }
            ?? QueryItem(name: "latest", value: "\(EventsPage.most)")
        let (events, next) = try await feed(of: place, item)
        return DashboardResponse.stream(EventsPage.stream(place, events, next: next))
    }

    /// Returns a place's events of a page of the feed, and where the feed continues.
    private func feed(
        of place: Place,
        _ item: QueryItem
    ) async throws -> (events: [EventView], next: String?) {
        let page = try await ask("/v1/apps/\(path(place.app))/events", [item])
        let events = try page.elements("events").map(EventView.init)
        return (events.filter { $0.environment == place.environment }, page["next"]?.string)
    }

    /// Sends a test message to a webhook, disables it or enables it.
    func change(_ action: WebhookAction) async throws -> Response {
        let place = try place()
        let root = "/v1/apps/\(path(place.app))/webhooks/\(path(call["webhook"]))"
        let answer = try await send(
            Request(method: "POST", path: "\(root)/\(action.rawValue)", peer: call.request.peer)
        )
        let isDelivered = answer["delivered"]?.bool ?? false
        return DashboardResponse.redirect(
            to: place.webhooks(after: action.done(isDelivered: isDelivered))
        )
    }

    /// The effective configuration of an app, and of the server for an admin key.
    func configuration() async throws -> Response {
        let place = try place()
        let answer = try await ask("/v1/apps/\(path(place.app))/configuration", [])
        return respond(ConfigurationPage.page(place, try ConfigurationView(answer)))
    }

    /// The backfills and replays of an app, for an admin key.
    func maintenance() async throws -> Response {
        let place = try place()
        guard person.grant.kind == .admin else { throw Problem.keyNotAllowed([.admin]) }
        let root = "/v1/apps/\(path(place.app))"
        var (backfills, problem) = ([MaintenanceView](), String?.none)
        do {
            backfills = try MaintenanceView.backfills(
                try await ask("\(root)/backfill", about: place)
            )
        } catch let found as Problem where found.status == 409 {
            problem = [found.title, found.detail].compactMap(\.self).joined(separator: " ")
        }
        return respond(
            MaintenancePage.page(
                place,
                backfills: backfills,
                problem: problem,
                replay: try MaintenanceView.replay(
                    try await ask("\(root)/replay", about: place)
                ),
                formToken: DashboardSessions.formToken(of: token),
                done: call.request.queryValue("done").flatMap(MaintenanceAction.init(rawValue:))
            )
        )
    }

    /// Starts a backfill or a replay.
    func begin(_ action: MaintenanceAction) async throws -> Response {
        let place = try place()
        let (route, query) = action.route
        _ = try await send(
            Request(
                method: "POST",
                path: "/v1/apps/\(path(place.app))/\(route)",
                query: [QueryItem(name: "environment", value: place.environment)]
                    + query.map { QueryItem(name: $0.name, value: $0.value) },
                peer: call.request.peer
            )
        )
        return DashboardResponse.redirect(to: place.maintenance(after: action))
    }

    func respond(_ page: Page) -> Response {
        DashboardResponse.page(page, for: reader)
    }

    // MARK: Data

    private func reports(of app: String?) async throws -> Reports {
        let query = app.map { [QueryItem(name: "app", value: $0)] } ?? []
        return try Reports(
            lockouts: try await ask("/v1/reports/lockouts", query),
            drift: try await ask("/v1/reports/drift", query),
            arrival: try await ask("/v1/reports/arrival", query)
        )
    }

    private func measures(of place: Place) async throws -> Measures {
        let query = [QueryItem(name: "app", value: place.app)]
        return try Measures(
            of: place,
            recovery: try await ask("/v1/reports/recovery", query),
            churn: try await ask("/v1/reports/churn", query),
            trials: try await ask("/v1/reports/trials", query)
        )
    }

    /// Returns the purchases with a number or token, and why the store could not be asked.
    private func purchases(
        _ place: Place,
        _ query: String
    ) async throws -> ([FoundPurchase], notice: String?) {
        var found: [FoundPurchase] = []
        var notice: String?
        for kind in LookupKind.kinds(of: query) {
            do {
                let answer = try await ask(
                    "/v1/apps/\(path(place.app))/lookup",
                    [QueryItem(name: kind.rawValue, value: query)]
                )
                for purchase in try answer.elements("purchases").map(FoundPurchase.init)
                where !found.contains(purchase) { found.append(purchase) }
            } catch let problem as Problem where problem.status == 503 {
                notice = [problem.title, problem.detail].compactMap(\.self).joined(separator: " ")
            }
        }
        return (found, notice)
    }

    /// Returns what no route returns: when access was denied that the store confirms, for each
    /// entitlement, up to now, and every id of the customer, the main one first.
    private func stored(
        of customer: String,
        _ place: Place
    ) async throws -> (denials: [String: [Lockouts.Stretch]], ids: [String]) {
        let context = try context(place.app)
        let request = Request(
            path: call.request.path,
            query: [QueryItem(name: "environment", value: place.environment)]
        )
        let now = context.clock()
        let question = try CustomerQuestion(request, customer: customer, of: context.app, now: now)
        return try await onPool {
            let reading = try CustomerReading(question, in: context)
            let denials = Dictionary(uniqueKeysWithValues: reading.lockouts).mapValues {
                $0.flatMap(\.stretches)
            }
            return (denials, reading.record.identity.all.map(\.text))
        }
    }

    // MARK: Changes

    func refresh(_ form: DashboardForm) async throws -> Response {
        let answer = try await change("refresh", [:])
        return try done(.refresh, answer.elements("asked").compactMap { $0["outcome"]?.string })
    }

    func giveGrant(_ form: DashboardForm) async throws -> Response {
        guard let days = Int64(form[.days]) else {
            throw Problem.badGrant("Enter a number of days.")
        }
        let wish: JSONObject = [
            "entitlement": .string(form[.entitlement]), "days": .integer(days),
            "why": .string(form[.why]),
        ]
        _ = try await change("grants", wish, once: form[.once])
        return try done(.grant)
    }

    func revokeGrant(_ form: DashboardForm) async throws -> Response {
        let grant = path(form[.grant])
        _ = try await change("grants/\(grant)/revocation", ["why": .string(form[.why])])
        return try done(.revoke)
    }

    func addAlias(_ form: DashboardForm) async throws -> Response {
        let wish: JSONObject = ["alias": .string(form[.alias]), "why": .string(form[.why])]
        // An alias holds in every environment.
        _ = try await change("aliases", wish, isOfEnvironment: false)
        return try done(.alias)
    }

    /// Asks for confirmation of a move.
    func confirmMove() async throws -> Response {
        let place = try place()
        guard mayChange else { throw Problem.keyNotAllowed([.secret, .admin]) }
        let request = call.request
        func value(_ field: CustomerAction.Field) -> String {
            request.queryValue(field.rawValue) ?? ""
        }
        let target = try CustomerID.storable(value(.to).withoutSpaceAround)
        let (isKnown, explain) = try await state(of: target, in: place)
        let move = PlannedMove(
            purchase: value(.purchase),
            from: call["customer"],
            to: target.text,
            why: value(.why),
            isKnown: isKnown,
            explain: explain
        )
        return respond(
            MovePage.page(place, move, formToken: DashboardSessions.formToken(of: token))
        )
    }

    /// Asks for confirmation before two ids are joined.
    func confirmJoin() async throws -> Response {
        let place = try place()
        guard mayChange else { throw Problem.keyNotAllowed([.secret, .admin]) }
        let text = call.request.queryValue(CustomerAction.Field.alias.rawValue) ?? ""
        let alias = try CustomerID.storable(text.withoutSpaceAround)
        let (isKnown, explain) = try await state(of: alias, in: place)
        let join = PlannedJoin(
            customer: call["customer"],
            alias: alias.text,
            why: call.request.queryValue(CustomerAction.Field.why.rawValue) ?? "",
            isKnown: isKnown,
            explain: explain
        )
        return respond(
            JoinPage.page(place, join, formToken: DashboardSessions.formToken(of: token))
        )
    }

    /// Returns whether anything is stored of a customer, and the explanation.
    private func state(
        of customer: CustomerID,
        in place: Place
    ) async throws -> (isKnown: Bool, explain: JSONNode) {
        let root = "/v1/apps/\(path(place.app))/customers/\(path(customer.text))"
        let grants = try await ask("\(root)/grants", about: place)
        return (
            grants["customerKnown"]?.bool == true || !grants.elements("grants").isEmpty,
            try await ask("\(root)/explain", about: place)
        )
    }

    func movePurchase(_ form: DashboardForm) async throws -> Response {
        let place = try place()
        let wish: JSONObject = [
            "customer": .string(form[.to]), "from": .string(call["customer"]),
            "why": .string(form[.why]),
        ]
        let purchase = path(form[.purchase])
        _ = try await send(
            Request(
                method: "POST",
                path: "/v1/apps/\(path(place.app))/purchases/\(purchase)/move",
                query: [QueryItem(name: "environment", value: place.environment)],
                body: JSONValue.object(wish).encoded(),
                peer: call.request.peer
            )
        )
        return try done(.move)
    }

    /// Requests a change of the customer as the person, and returns the answer.
    private func change(
        _ what: String,
        _ body: JSONObject,
        isOfEnvironment: Bool = true,
        once: String? = nil
    ) async throws -> JSONNode {
        let place = try place()
        let request = Request(
            method: "POST",
            path: "/v1/apps/\(path(place.app))/customers/\(path(call["customer"]))/\(what)",
            query: isOfEnvironment
                ? [QueryItem(name: "environment", value: place.environment)] : [],
            headers: once.map { ["Idempotency-Key": $0] } ?? [:],
            body: JSONValue.object(body).encoded(),
            peer: call.request.peer
        )
        return try await send(request)
    }

    private func done(_ action: CustomerAction, _ outcomes: [String] = []) throws -> Response {
        let link = try place().customer(call["customer"], after: action, outcomes)
        return DashboardResponse.redirect(to: link)
    }

    // MARK: Requests

    /// Returns the app and environment of the request. An app that the person's key does not permit
    /// does not exist for the person. Without a stated environment the request is about the app's
    /// first one.
    func place() throws -> Place {
        let app = try app(call["app"])
        // A form of an environment that is no longer served must not change another one.
        let environment =
            call.request.queryValue("environment") == nil
            ? app.environments.first ?? .production : try app.environment(askedIn: call.request)
        return Place(app: app.id, environment: environment.rawValue)
    }

    /// The page of the app or of the customer that the request is below; nil if there is none.
    var back: Link? {
        let segments = (call.request.segments ?? []).dropFirst()
        guard segments.count > 2, segments.dropFirst(2).first != "search",
            let place = try? place()
        else { return nil }
        let isOfCustomer = segments.dropFirst(2).first == "customers"
        return Link(
            Array(segments.prefix(isOfCustomer ? 4 : 3)),
            [("environment", place.environment)]
        )
    }

    func app(_ id: String) throws(Problem) -> App { try context(id).app }

    func context(_ id: String) throws(Problem) -> AppContext {
        guard person.grant.opens(app: id), let context = service.contexts[id] else {
            throw .notFound
        }
        return context
    }

    /// Returns the instant of `at`: RFC 3339, a browser's local form read as UTC, or milliseconds.
    private func pastInstant() throws(Problem) -> Instant? {
        guard let text = call.request.queryValue("at"), !text.isEmpty else { return nil }
        let moved = Int64(text).map(Instant.init(millisecondsSince1970:))
        if let moved, Instant.writable.contains(moved) { return moved }
        let forms = [text, "\(text)Z", "\(text):00Z"]
        guard let instant = forms.lazy.compactMap({ Instant(rfc3339: $0) }).first else {
            throw .badInstant("at", found: text)
        }
        return instant
    }

    func path(_ segment: String) -> String { PercentEncoding.encode(segment: segment) }

    func ask(
        _ path: String,
        about place: Place,
        _ change: (inout [QueryItem]) -> Void = { _ in }
    ) async throws -> JSONNode {
        var query = [QueryItem(name: "environment", value: place.environment)]
        change(&query)
        return try await ask(path, query)
    }

    /// Reads a route of the API as the person.
    private func ask(_ path: String, _ query: [QueryItem]) async throws -> JSONNode {
        try await send(Request(path: path, query: query, peer: call.request.peer))
    }

    /// Sends a request to the API with the permissions of the person's key.
    private func send(_ request: Request) async throws -> JSONNode {
        let presented = Presented.key(person.grant, id: person.keyID ?? KeyTable.linkID)
        let inner = Call(request, id: call.id, presented: presented, among: Service.routes)
        let response = try await service.respond(to: inner)
        return try JSONDocument(response.body, limits: .local).root
    }
}

/// The kinds of ids by which a purchase is looked up.
private enum LookupKind: String {
    case transaction, token, order

    /// Returns the kinds that a text can be. An unknown order is asked of the store, so a text must
    /// look like one.
    static func kinds(of text: String) -> [LookupKind] {
        let isAppStoreOrder =
            (8...20).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39) ~= $0 || (0x41...0x5A) ~= $0 }
            && text.utf8.contains { (0x41...0x5A) ~= $0 }
        let isPlayOrder = PlayOrderNumber.isOne(text) && LookupQuestion.isOrderNumber(text)
        let isOrder = isAppStoreOrder || isPlayOrder
        let isToken = CustomerID(text) != nil
        return [.transaction] + (isToken ? [.token] : []) + (isOrder ? [.order] : [])
    }
}

extension JSONNode {
    fileprivate func elements(_ member: String) -> [JSONNode] {
        self[member]?.elements.map(\.self) ?? []
    }
}
