import TideoverConfiguration
package import TideoverHTTP
package import TideoverStorage

/// The authorisation that a route requires.
package enum Need: Hashable, Sendable, CaseIterable {
    /// No key: the content of the request is proof enough, or there is nothing to protect.
    case nothing
    /// A key of any kind for the app.
    case read
    /// A secret key for the app, or an admin key.
    case secret
    /// An admin key.
    case admin

    /// The kinds of keys that are sufficient. A viewer key permits no request that writes.
    package func kinds(writing: Bool) -> [KeyKind] {
        let kinds: [KeyKind] =
            switch self {
            case .nothing: []
            case .read: [.public, .secret, .viewer, .admin]
            case .secret: [.secret, .viewer, .admin]
            case .admin: [.admin]
            }
        return writing ? kinds.filter { $0 != .viewer } : kinds
    }
}

/// The permissions of a key.
package struct Grant: Hashable, Sendable {
    package let kind: KeyKind
    /// The permitted apps; empty for all.
    package let apps: [String]

    package init(kind: KeyKind, apps: [String] = []) {
        self.kind = kind
        self.apps = apps
    }

    /// Returns whether the key permits an app, configured or not; nil is for requests about no app.
    package func opens(app: String?) -> Bool {
        guard kind != .admin, !apps.isEmpty, let app else { return true }
        return apps.contains(app)
    }
}

/// The credential of a request.
package enum Presented: Hashable, Sendable {
    case nothing
    /// A text that is not a valid key: malformed, revoked or unknown.
    case unknown
    /// A valid key with its permissions and id.
    case key(Grant, id: String)

    /// The id of a valid key.
    var keyID: String? {
        if case .key(_, let id) = self { id } else { nil }
    }

    /// Whether it is weaker than a secret key: a public key is part of the installed app.
    var isPublicKey: Bool {
        if case .key(let grant, _) = self { grant.kind == .public } else { true }
    }
}

extension Need {
    /// Returns why a request is rejected; nil if it is authorised.
    ///
    /// `isRehearsal` is true for an app with simulated purchases only. No key is needed to read from
    /// it, but a key that is sent is checked.
    package func objection(
        to presented: Presented,
        app: String?,
        isRehearsal: Bool,
        writes: Bool
    ) -> Problem? {
        guard self != .nothing else { return nil }
        switch presented {
        case .nothing:
            return isRehearsal && !writes && self != .admin ? nil : .keyMissing
        case .unknown: return .keyUnknown
        case .key(let grant, _):
            let kinds = kinds(writing: writes)
            let isAllowed = kinds.contains(grant.kind) && grant.opens(app: app)
            return isAllowed ? nil : .keyNotAllowed(kinds)
        }
    }
}

extension Request {
    /// The token of `Authorization: Bearer` (RFC 6750, 2.1): nil without the header, empty for
    /// another value.
    var bearerToken: Substring? {
        let lines = headers.all("Authorization")
        guard let line = lines.first else { return nil }
        let space = UInt8(ascii: " ")
        let scheme = line.utf8.prefix { $0 != space }
        guard lines.count == 1, Headers.same(String(Substring(scheme)), "Bearer") else { return "" }
        return Substring(line.utf8[scheme.endIndex...].drop { $0 == space })
    }
}

extension KeyTable {
    /// Checks the credential of a request against these keys.
    func judge(_ request: Request) -> Presented {
        guard let token = request.bearerToken else { return .nothing }
        guard token.utf8.count <= APIKey.mostBytes else { return .unknown }
        guard let key = key(of: KeyDigest(of: token)) else { return .unknown }
        return .key(key.grant, id: key.id)
    }
}
