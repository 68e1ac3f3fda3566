public import TideoverJSON

extension Configuration {
    /// A scalar or a list of scalars as it counts, and who said so.
    public struct Setting: Sendable {
        /// The place in the configuration, such as `apps[0].appStore.bundleId`.
        public let path: String
        /// The text, number or list of texts; of a URL without what may be secret. Secrets
        /// themselves are in files, of which only the names are here.
        public let value: JSONValue
        /// Who said it; nil if nobody did, and it is the default.
        public let place: ConfigurationProblem.Place?
        /// The environment variable that sets it, or would; nil if none can.
        public let variable: String?

        /// The value on one line; the entries of a list with commas between them.
        public var text: String {
            switch value {
            case .array(let entries): entries.compactMap(\.string).joined(separator: ", ")
            case .string(let text): text
            default: String(decoding: value.encoded(), as: UTF8.self)
            }
        }

        /// Whether it names a file that holds a secret.
        public var namesSecretFile: Bool { path.hasSuffix("File") }

        /// A URL without its user, should it have one, and its query.
        package static func withoutSecrets(_ url: String) -> String { ShownURL.withoutSecrets(url) }
    }
}

/// What was read from one place, before anybody asks on which line it stands.
struct ConfigurationRecord {
    let path: String
    let value: JSONValue
    let source: ConfigurationSource?
    let variable: String?

    func setting(in file: String) -> Configuration.Setting {
        Configuration.Setting(
            path: path,
            value: value,
            place: source?.place(in: file),
            variable: variable
        )
    }
}

/// URLs without what may be secret in them.
enum ShownURL {
    /// All but a user's name and password, and the query. None of ours has a user, but this is the
    /// last place where one could slip through.
    static func withoutSecrets(_ url: String) -> String {
        let (scheme, rest) = parts(url)
        let authority = rest.prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let path = rest[authority.endIndex...].prefix { !"?#".contains($0) }
        let hasMore = path.endIndex < rest.endIndex
        let user = host == authority ? "" : "...@"
        return "\(scheme)\(user)\(host)\(path)\(hasMore ? "?..." : "")"
    }

    /// Scheme, host and port: the path of a receiver is often what lets in.
    static func origin(_ url: String) -> String {
        let (scheme, rest) = parts(url)
        let host = rest.prefix { !"/?#".contains($0) }
        return withoutSecrets("\(scheme)\(host)") + (host.endIndex < rest.endIndex ? "/..." : "")
    }

    private static func parts(_ url: String) -> (scheme: Substring, rest: Substring) {
        let scheme = url.prefix { $0 != "/" }
        guard scheme.last == ":", url[scheme.endIndex...].hasPrefix("//") else {
            return ("", url[...])
        }
        let start = url.index(scheme.endIndex, offsetBy: 2)
        return (url[..<start], url[start...])
    }
}
