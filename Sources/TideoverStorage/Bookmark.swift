package import TideoverCore

/// Names a bookmark: the position of a long scan of one app in one environment.
package struct BookmarkKey: Hashable, Sendable {
    package let app: String
    package let environment: Environment
    /// The name of the scan; never empty.
    package let name: String

    package init(app: String, environment: Environment, name: String) {
        precondition(!name.isEmpty, "a bookmark has a name")
        self.app = app
        self.environment = environment
        self.name = name
    }
}
