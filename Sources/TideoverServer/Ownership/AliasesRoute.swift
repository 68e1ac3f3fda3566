import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET` and `POST /v1/apps/{app}/customers/{customer}/aliases`: the ids that are one customer.
///
/// An id is a customer's in every environment of the app, so that an alias is declared in each; declared
/// again, it is made where it is missing.
struct AliasesRoute: Sendable {
    let app: App
    let storage: any Storage
    let clock: Clock
    /// The name of the key that was presented.
    let presenter: String

    func list(customer: String) async throws -> Response {
        guard let customer = CustomerID(customer) else { throw Problem.badCustomer }
        return respond(try await onPool { try identity(of: customer) }, status: 200)
    }

    func declare(_ request: Request, customer: String) async throws -> Response {
        let customer = try CustomerID.writable(customer)
        let wish = try AliasWish(request.body)
        let now = clock()
        let isNew = try await onPool { try judge(wish, of: customer, at: now) }
        for environment in app.environments {
            let line = CustomerAlias(
                alias: wish.alias,
                customer: customer,
                from: now,
                why: wish.why,
                by: presenter
            )
            let intake = Intake(app: app.id, environment: environment, alias: line, now: now)
            _ = try await storage.commit(intake, derive: Deriver(app: app).derive)
        }
        // Another request may have been first, and said otherwise.
        _ = try await onPool { try judge(wish, of: customer, at: now) }
        return respond(try await onPool { try identity(of: customer) }, status: isNew ? 201 : 200)
    }

    /// Whether anything is new; throws where it is refused in any environment.
    private func judge(
        _ wish: AliasWish,
        of customer: CustomerID,
        at now: Instant
    ) throws -> Bool {
        var isNew = false
        for environment in app.environments {
            let ruling = AliasRuling(
                try storage.identity(of: key(of: wish.alias, environment)),
                as: try storage.identity(of: key(of: customer, environment)),
                at: now,
                by: presenter
            )
            switch ruling {
            case .known: continue
            case .granted: isNew = true
            case .refused(let objection): throw Problem.aliasRefused(objection)
            }
        }
        return isNew
    }

    /// What is declared in any environment.
    private func identity(of customer: CustomerID) throws -> CustomerIdentity {
        let all = try app.environments.map { try storage.identity(of: key(of: customer, $0)) }
        return all.max { $0.aliases.count < $1.aliases.count } ?? CustomerIdentity(customer)
    }

    private func key(of customer: CustomerID, _ environment: Environment) -> CustomerKey {
        CustomerKey(app: app.id, environment: environment, customer: customer)
    }

    private func respond(_ identity: CustomerIdentity, status: Int) -> Response {
        .json(status: status, headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("app", app.id)
            writer.field("customer", identity.primary.text)
            writer.field(
                "aliases",
                array: { writer in for alias in identity.aliases { alias.write(to: &writer) } }
            )
        }
    }
}

/// What a back end declares.
struct AliasWish: Hashable, Sendable {
    let alias: CustomerID
    let why: String

    /// Reads `{"alias": "u_43", "why": "..."}`, of which `why` may be left out.
    init(_ body: [UInt8]) throws(Problem) {
        let root: JSONNode
        do {
            root = try JSONDocument(body).root
        } catch {
            throw .badAlias("The body is not strict JSON: \(error).")
        }
        guard root.members.allSatisfy({ ["alias", "why"].contains($0.key) }),
            let alias = root["alias"]?.string.flatMap({ CustomerID($0) })
        else {
            throw .badAlias("`alias` is the other id; the members are it and `why`, and no others.")
        }
        guard alias.isWritable else { throw .badCustomer }
        self.alias = alias
        why = root["why"] == nil ? "" : try GrantWish.why(root)
    }
}

extension CustomerAlias {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("alias", alias.text)
            writer.field("from", from.rfc3339)
            writer.field("why", why)
            writer.field("by", by)
        }
    }
}

extension Problem {
    fileprivate static func badAlias(_ detail: String) -> Problem {
        Problem("bad-alias", status: 400, title: "Invalid alias.", detail: detail)
    }

    fileprivate static func aliasRefused(_ objection: AliasRuling.Objection) -> Problem {
        Problem(
            "alias-refused",
            status: 409,
            title: "The two ids cannot be one customer.",
            detail: objection.sentence,
            members: ["reason": .string(objection.code)]
        )
    }
}
