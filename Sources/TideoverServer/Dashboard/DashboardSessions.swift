import TideoverJSON
import TideoverLocks
import TideoverSignatures

/// The sessions of the dashboard, in memory only: a restart signs everyone out. Tokens are kept as
/// digests.
///
/// Times are nanoseconds of a monotonic clock.
package final class DashboardSessions: Sendable {
    /// The person of a session: the permissions of the key that signed in.
    struct Person: Sendable {
        let grant: Grant
        /// The key, which must stay valid; nil after a one-time link.
        let key: KeyTable.Usable?
        let name: String

        var keyID: String? { key?.id }
    }

    private struct Session {
        let person: Person
        let startedAt: Int64
        var usedAt: Int64
    }

    private struct State {
        var sessions: [[UInt8]: Session] = [:]
        /// The unused one-time links, with the instants at which they were created.
        var links: [[UInt8]: Int64] = [:]
    }

    /// A session ends after this long without a request, and after `longest` in any case.
    package static let idle: Int64 = 30 * minute
    package static let longest: Int64 = 8 * 60 * minute
    /// A one-time link is valid this long.
    package static let linkLife: Int64 = 60 * minute
    /// The least recently used session ends when there are more.
    package static let most = 1_000
    private static let minute: Int64 = 60_000_000_000

    private let random: @Sendable () -> UInt64
    private let state = Locked(State())

    init(random: @escaping @Sendable () -> UInt64) { self.random = random }

    /// Returns a new unpredictable token.
    func token() -> String { Base64.encodeString(randomBytes(32, random), .urlSafe) }

    /// Starts a session and returns its token.
    func start(_ person: Person, at now: Int64) -> String {
        let token = token()
        state.withLock { state in
            state.sessions[Self.digest(token)] = Session(
                person: person,
                startedAt: now,
                usedAt: now
            )
            guard state.sessions.count > Self.most else { return }
            let oldest = state.sessions.min { $0.value.usedAt < $1.value.usedAt }
            if let oldest { state.sessions[oldest.key] = nil }
        }
        return token
    }

    /// Returns the person of a session; nil if it does not exist or is over. With `extends` its time
    /// without a request begins again.
    func person(of token: String, at now: Int64, extends: Bool = true) -> Person? {
        state.withLock { state in
            let digest = Self.digest(token)
            guard var session = state.sessions[digest] else { return nil }
            guard now - session.usedAt < Self.idle, now - session.startedAt < Self.longest else {
                state.sessions[digest] = nil
                return nil
            }
            if extends { session.usedAt = now }
            state.sessions[digest] = session
            return session.person
        }
    }

    /// Ends a session, if it exists.
    func end(_ token: String) {
        state.withLock { $0.sessions[Self.digest(token)] = nil }
    }

    /// Creates a link that signs in once, and returns its token.
    func makeLink(at now: Int64) -> String {
        let token = token()
        state.withLock { $0.links[Self.digest(token)] = now }
        return token
    }

    /// Uses a link up; false if it does not exist, was used, or is too old.
    func useLink(_ token: String, at now: Int64) -> Bool {
        let created = state.withLock { $0.links.removeValue(forKey: Self.digest(token)) }
        return created.map { now - $0 < Self.linkLife } ?? false
    }

    /// Returns the form token that belongs to a cookie. Another site cannot read the cookie, and so
    /// cannot compute the token.
    static func formToken(of cookie: String) -> String {
        let code = HMACSHA256.code(of: Array("tideover form".utf8), under: Array(cookie.utf8))
        return Base64.encodeString(code, .urlSafe)
    }

    static func isFormToken(_ token: String, of cookie: String) -> Bool {
        KeyDigest(of: token).isSame(as: KeyDigest(of: formToken(of: cookie)))
    }

    private static func digest(_ token: String) -> [UInt8] { KeyDigest(of: token).bytes }
}
