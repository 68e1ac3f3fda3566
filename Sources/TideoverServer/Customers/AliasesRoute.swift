import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET` and `POST /v1/apps/{app}/customers/{customer}/aliases`: the ids of one customer.
///
/// An id belongs to a customer in every environment of the app, so an alias is added in each. A
/// repeated request adds it where it is missing.
struct AliasesRoute: Sendable {
    let context: AppContext
    /// The name of the request's key.
    let presenter: String

    private var app: App { context.app }

    func list(customer: String) async throws -> Response {
        let customer = try CustomerID.storable(customer)
        return respond(try await onPool { try identity(of: customer) }, status: 200)
    }

    func declare(_ request: Request, customer: String) async throws -> Response {
        let customer = try CustomerID.storable(customer)
        let createRequest = try CreateAliasRequest(request.body)
        let now = context.clock()
        let isNew = try await onPool { try judge(createRequest, of: customer, at: now) }
        for environment in app.environments {
            let line = CustomerAlias(
                alias: createRequest.alias,
                customer: customer,
                from: now,
                why: createRequest.why,
                by: presenter
            )
            let commitRequest = CommitRequest(
                app: app.id,
                environment: environment,
                alias: line,
                now: now
            )
            _ = try await context.commit(commitRequest)
        }
        // A concurrent request may have added a conflicting alias.
        _ = try await onPool { try judge(createRequest, of: customer, at: now) }
        return respond(try await onPool { try identity(of: customer) }, status: isNew ? 201 : 200)
    }

    /// Returns whether the alias is new in any environment; throws if one rejects it.
    private func judge(
        _ createRequest: CreateAliasRequest,
        of customer: CustomerID,
        at now: Instant
    ) throws -> Bool {
        var isNew = false
        for environment in app.environments {
            let (former, new) = try context.storage.read { reader throws(StorageError) in
                (
                    try reader.identity(of: key(of: createRequest.alias, environment)),
                    try reader.identity(of: key(of: customer, environment))
                )
            }
            let ruling = AliasRuling(former, as: new, at: now, by: presenter)
            switch ruling {
            case .known: continue
            case .granted: isNew = true
            case .refused(let objection): throw Problem.aliasRefused(objection)
            }
        }
        return isNew
    }

    /// Returns the identity with the most aliases of all environments.
    private func identity(of customer: CustomerID) throws -> CustomerIdentity {
        let all = try app.environments.map {
            try context.storage.identity(of: key(of: customer, $0))
        }
        return all.max { $0.aliases.count < $1.aliases.count } ?? CustomerIdentity(customer)
    }

    private func key(of customer: CustomerID, _ environment: Environment) -> CustomerKey {
        CustomerKey(app: app.id, environment: environment, customer: customer)
    }

    private func respond(_ identity: CustomerIdentity, status: Int) -> Response {
        .json(status: status, headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("app", app.id)
            writer.field("customer", identity.primary.text)
            writer.field("aliases", each: identity.aliases) { $0.write(to: &$1) }
        }
    }
}

/// A request to add an alias.
struct CreateAliasRequest: Hashable, Sendable {
    let alias: CustomerID
    let why: String

    /// Reads `{"alias": "u_43", "why": "..."}`; `why` is optional.
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
            throw .badAlias("`alias` must be the other id. Only `alias` and `why` are allowed.")
        }
        guard alias.isStorable else { throw .badCustomer }
        self.alias = alias
        why = root["why"] == nil ? "" : try CreateGrantRequest.why(root, Problem.badAlias)
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
        Problem("bad-alias", detail: detail)
    }

    fileprivate static func aliasRefused(_ objection: AliasRuling.Objection) -> Problem {
        Problem(
            "alias-refused",
            detail: objection.sentence,
            members: ["reason": .string(objection.code)]
        )
    }
}
