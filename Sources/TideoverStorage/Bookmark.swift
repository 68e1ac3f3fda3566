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

/// The bookmark of the newest event of an app that was removed by its age. It is written with the
/// removal, so that a cursor is refused only if an event after it was removed.
package enum RemovedEvents {
    package static let name = "removed-events"

    /// Returns the key. A feed is of all environments.
    package static func key(of app: String) -> BookmarkKey {
        BookmarkKey(app: app, environment: .production, name: name)
    }

    /// Returns the form for the id of an event. Forms sort like their ids.
    package static func form(_ id: String) -> [UInt8] { Array(#"{"value":"\#(id)"}"#.utf8) }
}
