public import TideoverCore

/// Names a bookmark: how far a long walk has come, of one app in one environment.
public struct BookmarkKey: Hashable, Sendable {
    public let app: String
    public let environment: Environment
    /// Which walk; never empty.
    public let name: String

    public init(app: String, environment: Environment, name: String) {
        precondition(!name.isEmpty, "a bookmark has a name")
        self.app = app
        self.environment = environment
        self.name = name
    }
}
