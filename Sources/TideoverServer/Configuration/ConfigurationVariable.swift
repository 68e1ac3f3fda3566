/// The law that names the environment variable of each place in the configuration.
///
/// The segments of the path are joined by `_`, each in upper case, with `_` before an upper-case
/// letter that follows a lower-case one and in place of whatever is no ASCII letter or digit: what
/// swift-configuration does. Apps and products are segments by their id, webhooks by their number.
enum ConfigurationVariable {
    static let prefix = "TIDEOVER"

    static func name(_ base: String, _ segment: String) -> String {
        var name = base + "_"
        var followsLowerCase = false
        for scalar in segment.unicodeScalars {
            let isUpperCase = ("A"..."Z").contains(scalar)
            if followsLowerCase && isUpperCase { name += "_" }
            followsLowerCase = ("a"..."z").contains(scalar)
            let isWord = followsLowerCase || isUpperCase || ("0"..."9").contains(scalar)
            name += isWord ? String(scalar).uppercased() : "_"
        }
        return name
    }

    /// Variables with our prefix that are not the configuration's.
    ///
    /// One names the configuration file itself, and the tests look for published vectors by another;
    /// Kubernetes sets the others in every container beside a service that is named `tideover`.
    static let reserved: Set<String> = ["TIDEOVER_CONFIG", "TIDEOVER_VECTORS", "TIDEOVER_PORT"]
    static let reservedPrefixes = ["TIDEOVER_PORT_", "TIDEOVER_SERVICE_"]

    static func isReserved(_ name: String) -> Bool {
        reserved.contains(name) || reservedPrefixes.contains { name.hasPrefix($0) }
    }
}
