package import TideoverCore
package import TideoverJSON

/// Describes why Google Play content is rejected or unreadable.
package enum PlayRefusal: Error, Hashable, Sendable {
    /// It is not JSON.
    case malformedJSON(JSONError)
    /// A required member is absent.
    case missingMember(String)
    /// A known field has a value of the wrong type or out of range.
    case malformed(field: String)
    /// A notification has more than one subject.
    case ambiguousContent(members: [String])
    /// It is for an app with another package name.
    case wrongPackage(expected: String, found: String?)
    /// The app does not accept this environment.
    case wrongEnvironment(accepted: [Environment], found: Environment)
}

/// All texts for a rejection.
extension PlayRefusal: CustomStringConvertible {
    /// A stable code for the reason; it depends only on the case.
    package var code: String {
        switch self {
        case .malformedJSON(let error): error.code
        case .missingMember: "missing-member"
        case .malformed: "malformed"
        case .ambiguousContent: "ambiguous-content"
        case .wrongPackage: "wrong-package"
        case .wrongEnvironment: "wrong-environment"
        }
    }

    /// A one-sentence description of the reason for logs. It shows only package names, environments
    /// and field names from the content.
    package var sentence: String {
        switch self {
        case .malformedJSON(let error) where error.code == "duplicate-key":
            "It has a key twice in one object, at line \(error.line), column \(error.column)."
        case .malformedJSON(let error):
            "It is not valid JSON at line \(error.line), column \(error.column)."
        case .missingMember(let name): "The member \(name) is missing."
        case .malformed(let field): "The value of \(field) has the wrong type or is out of range."
        case .ambiguousContent(let members):
            "Only one of \(members.joined(separator: ", ")) may be present."
        case .wrongPackage(let expected, let found):
            "This is for \(found ?? "an app without a package name"), not for \(expected)."
        case .wrongEnvironment(let accepted, let found):
            "This is from the environment \(found.rawValue); the app accepts "
                + (accepted.isEmpty ? "none" : accepted.map(\.rawValue).joined(separator: ", "))
                + "."
        }
    }

    package var description: String { sentence }
}
