/// The naming rule for the environment variable of each configuration path.
///
/// The path segments are joined by `_`, each in upper case. A `_` precedes an upper-case letter
/// that follows a lower-case one, and replaces each character outside ASCII letters and digits.
/// This is the rule of swift-configuration. Apps and products use their id as segment, webhooks
/// their index.
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

    /// Variables with our prefix that do not belong to the configuration.
    ///
    /// One names the configuration file, another the test vectors, and two are read by the examples
    /// of back ends. Kubernetes sets the others in each container beside a service named `tideover`.
    static let reserved: Set<String> = [
        "TIDEOVER_CONFIG", "TIDEOVER_VECTORS", "TIDEOVER_URL", "TIDEOVER_KEY", "TIDEOVER_PORT",
    ]
    static let reservedPrefixes = ["TIDEOVER_PORT_", "TIDEOVER_SERVICE_"]

    static func isReserved(_ name: String) -> Bool {
        reserved.contains(name) || reservedPrefixes.contains { name.hasPrefix($0) }
    }
}
