import TideoverAppStore
import TideoverCore
import TideoverStorage

extension AppContext {
    /// Queues a request for consumption information, if the app answers those automatically.
    ///
    /// It is stored before the notification is acknowledged, so the App Store sends it again after
    /// a crash.
    func noteConsumption(_ reading: AppStoreReading) async throws(StorageError) {
        guard let queue = consumption[app.id, reading.environment],
            let request = ConsumptionRequest(reading, at: clock())
        else { return }
        guard try await !queue.add(request) else { return }
        log(
            LogLine(
                .error,
                "consumption request not queued",
                app: app.id,
                environment: reading.environment,
                code: "consumption-queue-full",
                detail: "\(ConsumptionQueue.places) requests wait. Answer this one with "
                    + "`tideover store consumption`."
            )
        )
    }
}

extension ConsumptionRequest {
    /// Returns nil for any other notification, and for an expired request.
    fileprivate init?(_ reading: AppStoreReading, at now: Instant) {
        guard reading.notification?.notificationType?.known == .consumptionRequest,
            let transaction = reading.transaction?.transactionId,
            let lineage = reading.lineages.first(where: { $0.ownership == .purchased }),
            now < reading.signedAt + Self.window
        else { return nil }
        self.init(
            transactionId: transaction,
            lineage: lineage,
            requestedAt: reading.signedAt,
            now: now
        )
    }
}
