/// An error in an authority's file.
public enum SandboxAuthorityFileError: Error, Hashable, CustomStringConvertible {
    case notJSON
    case noCertificates
    case noKey
    case noValidity

    /// The problem and its solution: a sentence without its full stop.
    public var description: String {
        let missing =
            switch self {
            case .notJSON: "it is not JSON"
            case .noCertificates: "its certificates are not in base64"
            case .noKey: "its \"privateKey\" is not a PEM key"
            case .noValidity: "it does not state when its certificates are valid"
            }
        return "\(missing); remove the file, and a new authority is made"
    }
}
