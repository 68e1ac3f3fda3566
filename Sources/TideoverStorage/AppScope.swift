package import TideoverCore

/// An app and an environment. What is stored about purchases and customers belongs to one.
package struct AppScope: Hashable, Sendable {
    package let app: String
    package let environment: Environment

    package init(_ app: String, _ environment: Environment) {
        self.app = app
        self.environment = environment
    }

    package func key(_ customer: CustomerID) -> CustomerKey {
        CustomerKey(app: app, environment: environment, customer: customer)
    }
}

extension CustomerKey {
    package var scope: AppScope { AppScope(app, environment) }
}

extension CommitRequest {
    package var scope: AppScope { AppScope(app, environment) }
}

extension BookmarkKey {
    package var scope: AppScope { AppScope(app, environment) }
}

extension DueOrder {
    package var scope: AppScope { AppScope(app, environment) }
}

extension PruneOrder {
    package var scope: AppScope { AppScope(app, environment) }
}

extension FiguresUpdate {
    package var scope: AppScope { AppScope(app, environment) }
}
