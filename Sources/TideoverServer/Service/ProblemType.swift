import TideoverHTTP
import TideoverJSON

/// A type of problem: the content at the URL in `type`, and its row in docs/problems.md.
package struct ProblemType: Hashable, Sendable {
    /// The last part of the URL, such as `not-found`; it never changes.
    package let code: String
    package let status: Int
    /// The title of all problems of this type.
    package let title: String
    /// The cause.
    package let meaning: String
    /// The fix.
    package let action: String

    init(_ code: String, status: Int, title: String, meaning: String, action: String) {
        self.code = code
        self.status = status
        self.title = title
        self.meaning = meaning
        self.action = action
    }

    /// Returns the type of a code; nil if there is none.
    package static func named(_ code: String) -> ProblemType? { byCode[code] }

    private static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })
}

extension Problem {
    /// Creates a problem of a type, which states its status and title.
    init(
        _ code: String,
        detail: String? = nil,
        members: JSONObject = [:],
        headers: Headers = [:],
        retryAfter: Int? = nil
    ) {
        guard let type = ProblemType.named(code) else {
            preconditionFailure("a problem of the server has a type")
        }
        self.init(
            code,
            status: type.status,
            title: type.title,
            detail: detail,
            members: members,
            headers: headers,
            retryAfter: retryAfter
        )
    }
}

/// Answers `GET /problems/{problem}`: the description that a problem's `type` refers to.
struct ProblemTypeRoute: Sendable {
    func respond(_ code: String) throws(Problem) -> Response {
        guard let type = ProblemType.named(code) else { throw .notFound }
        return .json(headers: ["Cache-Control": "public, max-age=300"]) { writer in
            writer.field("code", type.code)
            writer.field("status", type.status)
            writer.field("title", type.title)
            writer.field("meaning", type.meaning)
            writer.field("action", type.action)
        }
    }
}
