package import TideoverJSON

extension Configuration {
    /// The effective value of a scalar or a list of scalars, and its origin.
    package struct Setting: Sendable {
        /// The configuration path, such as `apps[0].appStore.bundleId`.
        package let path: String
        /// The text, number, Boolean or list of texts. URLs appear without secret parts, and
        /// secrets only as the names of their files.
        package let value: JSONValue
        /// The origin of the value, or nil for the default.
        package let place: ConfigurationProblem.Place?
        /// The environment variable that can set it, or nil if none can.
        package let variable: String?

        /// The value on one line, with commas between the entries of a list.
        package var text: String {
            switch value {
            case .array(let entries): entries.compactMap(\.string).joined(separator: ", ")
            case .string(let text): text
            default: String(decoding: value.encoded(), as: UTF8.self)
            }
        }

        /// Whether the value names a file that contains a secret.
        package var namesSecretFile: Bool { path.hasSuffix("File") }

        /// Returns a URL without its user and its query.
        package static func withoutSecrets(_ url: String) -> String { ShownURL.withoutSecrets(url) }
    }
}

/// A value read from one path, before its line number is computed.
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

/// Removes the secret parts of URLs.
package enum ShownURL {
    /// Returns the URL without user name, password and query. Configured URLs have no user; this
    /// check is the last safeguard.
    static func withoutSecrets(_ url: String) -> String {
        let (scheme, rest) = parts(url)
        let authority = rest.prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let path = rest[authority.endIndex...].prefix { !"?#".contains($0) }
        let hasMore = path.endIndex < rest.endIndex
        let user = host == authority ? "" : "...@"
        return "\(scheme)\(user)\(host)\(path)\(hasMore ? "?..." : "")"
    }

    /// Returns scheme, host and port, because the path of a receiver is often a credential.
    package static func origin(_ url: String) -> String {
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
