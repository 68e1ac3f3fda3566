import TideoverJSON

/// An error in a key file of the simulated Google.
public enum PlayKeyFileError: Error, Hashable, CustomStringConvertible {
    case notJSON
    case missing(String)
    /// The value is not an RSA key in PEM.
    case noKey(String)

    /// The problem and its solution: a sentence without its full stop.
    public var description: String {
        let fault =
            switch self {
            case .notJSON: "it is not JSON"
            case .missing(let name): "it has no \"\(name)\""
            case .noKey(let name): "its \"\(name)\" is not an RSA key in PEM"
            }
        return "\(fault); remove the file, and a new key is made"
    }
}

/// The fields of a key file.
struct PlayKeyFields {
    private let root: JSONNode

    init(_ bytes: [UInt8]) throws(PlayKeyFileError) {
        guard let document = try? JSONDocument(bytes, limits: .local) else { throw .notJSON }
        root = document.root
    }

    func text(_ name: String) throws(PlayKeyFileError) -> String {
        guard let text = root[name]?.string else { throw .missing(name) }
        return text
    }
}
