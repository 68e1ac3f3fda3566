package import TideoverHTTP
package import TideoverStorage

/// What a route asks of whoever calls it.
package enum Need: Hashable, Sendable, CaseIterable {
    /// No key: what the request carries speaks for itself, or there is nothing to protect.
    case nothing
    /// A key of any kind, made for the app.
    case read
    /// A secret key made for the app, or an admin key.
    case secret
    /// An admin key.
    case admin

    /// The kinds of keys that meet it.
    package var kinds: [KeyKind] {
        switch self {
        case .nothing: []
        case .read: [.public, .secret, .admin]
        case .secret: [.secret, .admin]
        case .admin: [.admin]
        }
    }
}

/// What a key opens.
package struct Grant: Hashable, Sendable {
    package let kind: KeyKind
    /// All apps where the list is empty.
    package let apps: [String]

    package init(kind: KeyKind, apps: [String] = []) {
        self.kind = kind
        self.apps = apps
    }

    /// Whether it opens an app, configured or not; nil stands for what is of no app.
    package func opens(app: String?) -> Bool {
        guard kind != .admin, !apps.isEmpty, let app else { return true }
        return apps.contains(app)
    }
}

/// What a request shows so as to be let in.
package enum Presented: Hashable, Sendable {
    case nothing
    /// Something that is no key, or not one that opens anything: revoked and unheard of are one.
    case unknown
    /// One that opens something, and its id.
    case key(Grant, id: String)

    /// The id of a key that opens something.
    var keyID: String? {
        if case .key(_, let id) = self { id } else { nil }
    }

    /// Whether it is less than a secret key: a public key is part of the app that devices install.
    var isPublicKey: Bool {
        if case .key(let grant, _) = self { grant.kind == .public } else { true }
    }
}

extension Need {
    /// Why a request is not let in; nil if it is.
    ///
    /// `isOpen` says that the request only reads from an app that serves nothing but simulated
    /// purchases. Anybody may do that without a key; a key that is presented is judged all the same.
    package func objection(
        to presented: Presented,
        app: String?,
        isOpen: Bool
    ) -> Problem? {
        guard self != .nothing else { return nil }
        switch presented {
        case .nothing: return isOpen && self != .admin ? nil : .keyMissing
        case .unknown: return .keyUnknown
        case .key(let grant, _):
            let isAllowed = kinds.contains(grant.kind) && grant.opens(app: app)
            return isAllowed ? nil : .keyNotAllowed(self)
        }
    }
}

extension Request {
    /// The token of `Authorization: Bearer` (RFC 6750, 2.1): nil where nothing is said, empty where
    /// something else is.
    var bearerToken: Substring? {
        let lines = headers.all("Authorization")
        guard let line = lines.first else { return nil }
        let scheme = line.prefix { $0 != " " }
        guard lines.count == 1, Headers.same(String(scheme), "Bearer") else { return "" }
        return line.dropFirst(scheme.count).drop { $0 == " " }
    }
}

extension KeyTable {
    /// What a request presents, by these keys.
    func judge(_ request: Request) -> Presented {
        guard let token = request.bearerToken else { return .nothing }
        guard token.utf8.count <= APIKey.mostBytes else { return .unknown }
        guard let key = key(of: KeyDigest(of: token)) else { return .unknown }
        return .key(key.grant, id: key.id)
    }

    /// What the key of a request that was let in is called: its name, else its id; for a request that
    /// needed none, that.
    func name(of request: Request) -> String {
        request.bearerToken.flatMap { key(of: KeyDigest(of: $0))?.name } ?? "nobody in particular"
    }
}
