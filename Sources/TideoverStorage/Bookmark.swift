public import TideoverCore

/// Names a bookmark: the position of a long scan of one app in one environment.
public struct BookmarkKey: Hashable, Sendable {
    public let app: String
    public let environment: Environment
    /// The name of the scan; never empty.
    public let name: String

    public init(app: String, environment: Environment, name: String) {
        precondition(!name.isEmpty, "a bookmark has a name")
        self.app = app
        self.environment = environment
        self.name = name
    }
}
