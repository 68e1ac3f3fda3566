import TideoverCore
import TideoverStorage

/// The messages for lines that are not imported.
extension ExportFault {
    /// A stable code.
    package var code: String {
        switch self {
        case .notJSON: "not-json"
        case .notAnExport: "not-an-export"
        case .otherVersion: "other-version"
        case .answersOnly: "answers-only"
        case .otherApp: "other-app"
        case .misplaced: "misplaced"
        case .unknownKind: "unknown-kind"
        case .missing: "missing-member"
        case .wrong: "malformed"
        case .notServed: "environment-not-served"
        case .digest: "digest"
        case .unproven: "evidence-missing"
        case .disbelieved: "evidence-refused"
        case .unstated: "not-stated"
        case .contradicted: "contradicted"
        }
    }

    /// A readable sentence.
    package var sentence: String {
        switch self {
        case .notJSON(let detail): "This is not a line of an export: \(detail)."
        case .notAnExport:
            "The first line of an export is its header, with `\"format\": \"tideover-export\"`."
        case .otherVersion(let version):
            "The export is of version \(version); this program reads version "
                + "\(ExportHeader.version). Import it with the version that made it or a newer one."
        case .answersOnly:
            "An export with --answers cannot be imported. Export without --answers."
        case .otherApp(let app): "The export is of another app, \(app)."
        case .misplaced: "The header is only allowed on the first line."
        case .unknownKind(let kind): "There are no lines of kind “\(kind)”."
        case .missing(let field): "The member “\(field)” is missing."
        case .wrong(let field): "The member “\(field)” is invalid."
        case .notServed(let environment):
            "The app is not served in \(environment.rawValue). Add the environment to its "
                + "configuration first."
        case .digest: "The id of the evidence is not the digest of its bytes."
        case .unproven(let id):
            "The fact's evidence, \(id.hex), was not imported; its line must come "
                + "before those of the facts."
        case .disbelieved(let id, let code):
            "The fact's evidence, \(id.hex), was rejected: \(code). Compare "
                + "the app's configuration with that of the exporting server."
        case .unstated(let id):
            "The fact's evidence, \(id.hex), does not state the fact."
        case .contradicted(.owner):
            "The purchase has another owner at this position, or earlier owners are missing."
        case .contradicted(.alias): "One of the two ids already belongs to another customer."
        case .contradicted(let kind): "This \(kind.rawValue) differs from the stored one."
        }
    }
}
