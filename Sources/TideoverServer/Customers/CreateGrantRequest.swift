import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// A request to create grants.
struct CreateGrantRequest: Hashable, Sendable {
    /// The names of the entitlements, at least one.
    let entitlements: [String]
    let length: Length
    /// The operator's reason.
    let why: String

    enum Length: Hashable, Sendable {
        case days(Int64)
        case until(Instant)

        /// Returns the end of a grant from its start.
        func end(from start: Instant) -> Instant {
            switch self {
            case .days(let count): start + .days(count)
            case .until(let end): end
            }
        }
    }

    /// The maximum length in Unicode scalars.
    static let longestWhy = 500
    /// Ten years.
    static let mostDays: Int64 = 3_660

    private static let known = ["entitlement", "product", "days", "until", "why"]

    /// Reads `{"entitlement": "premium", "days": 7, "why": "..."}`. `product` instead of
    /// `entitlement` grants all its entitlements, and `until` instead of `days` is an instant.
    ///
    /// Unknown members are rejected: a misspelt `until` would change the length.
    init(_ body: [UInt8], _ catalogue: Catalogue) throws(Problem) {
        let root = try Self.object(body, known: Self.known)
        entitlements = try Self.entitlements(root, catalogue)
        length = try Self.length(root)
        why = try Self.why(root)
    }

    private static func entitlements(
        _ root: JSONNode,
        _ catalogue: Catalogue
    ) throws(Problem) -> [String] {
        let product = root["product"]?.string
        let entitlement = root["entitlement"]?.string
        guard (root["product"] == nil) == (product == nil),
            (root["entitlement"] == nil) == (entitlement == nil),
            product != nil || entitlement != nil
        else {
            throw .badGrant(
                "Name the `entitlement`, or a `product` that unlocks it."
            )
        }
        if let entitlement, !catalogue.entitlements.contains(entitlement) {
            throw .badGrant(
                "The catalogue does not have this entitlement. It has "
                    + catalogue.entitlements.sorted().joined(separator: ", ") + "."
            )
        }
        guard let product else { return [entitlement].compactMap(\.self) }
        let unlocked = catalogue.products[product]?.entitlements ?? []
        guard !unlocked.isEmpty else {
            throw .badGrant("The catalogue has no product of this name with an entitlement.")
        }
        guard let entitlement else { return unlocked }
        guard unlocked.contains(entitlement) else {
            throw .badGrant("The product does not unlock the entitlement.")
        }
        return [entitlement]
    }

    private static func length(_ root: JSONNode) throws(Problem) -> Length {
        switch (root["days"], root["until"]) {
        case (let days?, nil):
            guard let count = days.int64, (1...mostDays).contains(count) else {
                throw .badGrant("`days` must be a whole number from 1 to \(mostDays).")
            }
            return .days(count)
        case (nil, let until?):
            guard let end = until.string.flatMap({ Instant(rfc3339: $0) }) else { throw .badUntil }
            return .until(end)
        default: throw .badGrant("Send exactly one of `days` and `until`.")
        }
    }

    /// Rejects an end that is not ahead of now, or too far ahead. A repeated request is not
    /// checked: its grant may have ended meanwhile.
    func requireEnd(after now: Instant) throws(Problem) {
        let end = length.end(from: now)
        guard now < end, end <= now + .days(Self.mostDays) else { throw .badUntil }
    }

    /// Parses the body as an object with only known members.
    static func object(_ body: [UInt8], known: [String]) throws(Problem) -> JSONNode {
        let root: JSONNode
        do {
            root = try JSONDocument(body).root
        } catch {
            throw .badGrant("The body is not strict JSON: \(error).")
        }
        guard root.kind == .object else { throw .badGrant("The body is not an object.") }
        guard root.members.allSatisfy({ known.contains($0.key) }) else {
            let names = known.map { "`\($0)`" }.joined(separator: ", ")
            throw .badGrant("Only the members \(names) are allowed.")
        }
        return root
    }

    /// Reads the operator's reason. `problem` is that of the request.
    static func why(
        _ root: JSONNode,
        _ problem: (String) -> Problem = Problem.badGrant
    ) throws(Problem) -> String {
        guard let why = root["why"]?.string, isReason(why) else {
            throw problem(
                "`why` must state the reason in one line of at most \(longestWhy) characters."
            )
        }
        return why
    }

    /// Whether a text states a reason, in one line: the audit and explanations show it.
    static func isReason(_ text: String) -> Bool {
        text.unicodeScalars.count <= longestWhy
            && text.unicodeScalars.contains { !$0.properties.isWhitespace }
            && !text.unicodeScalars.contains(where: \.isControl)
    }
}

extension Problem {
    static func badGrant(_ detail: String) -> Problem {
        Problem("bad-grant", detail: detail)
    }

    fileprivate static var badUntil: Problem {
        .badGrant(
            "`until` must be an RFC 3339 time after now, at most \(CreateGrantRequest.mostDays) "
                + "days ahead."
        )
    }

    static let badIdempotencyKey = Problem(
        "bad-idempotency-key",
        detail: "`Idempotency-Key` must be one line of 1 to \(IdempotencyKey.longest) visible "
            + "ASCII characters, different for each request."
    )

    static let idempotencyKeyReused = Problem(
        "idempotency-key-reused",
        detail: "Nothing was changed. Use a new key for each request, and the same key only to "
            + "repeat the same request."
    )

    static let tooManyGrants = Problem(
        "too-many-grants",
        detail: "A customer has at most \(GrantsRoute.most) grants, including revoked and ended "
            + "ones. Grant a longer period instead of many."
    )

    static let unknownGrant = Problem(
        "unknown-grant",
        detail: "List the customer's grants and their ids with `GET .../grants`."
    )

    static let grantEnded = Problem(
        "grant-ended",
        detail: "It gives no access, so there is nothing to revoke."
    )
}

/// A client's name for a request, so that a repeated request takes effect once.
struct IdempotencyKey: Hashable, Sendable {
    static let longest = 100

    let text: String

    /// Reads `Idempotency-Key`; nil if absent.
    static func read(_ request: Request) throws(Problem) -> IdempotencyKey? {
        let lines = request.headers.all("Idempotency-Key")
        guard let text = lines.first else { return nil }
        guard lines.count == 1, (1...longest).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .badIdempotencyKey }
        return IdempotencyKey(text: text)
    }
}
