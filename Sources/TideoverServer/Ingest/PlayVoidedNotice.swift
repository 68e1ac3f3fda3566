import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Asks why an order was voided as soon as a notification tells that it was: the list of voided orders
/// names the reason of a subscription's end, and else is read by schedule alone.
///
/// What the purchase comes to, its own answer has told by then. So what fails here is told and left to the
/// schedule, such as where more orders are voided at once than may be asked about.
struct PlayVoidedNotice: Sendable {
    let asking: PlayAsking

    private var app: App { asking.ingest.app }

    /// The list goes by when the store took note of an order, which may be a little before the event.
    private static let margin = Milliseconds.hours(1)

    func ask(about message: PlayIntake.Message) async {
        let notification = message.notification.notification
        guard let api = asking.trust.api, case .voidedPurchase(let order) = notification.content,
            order.productType?.known == .subscription,
            let token = notification.purchaseToken.map(asking.trust.token)
        else { return }
        do {
            guard let lineage = try await asking.lineage(of: token) else { return }
            let earliest = message.receivedAt - VoidedPurchaseFilter.reach + Self.margin
            let since = message.notification.eventTime - Self.margin
            let answer = try await api.voidedPurchases(
                VoidedPurchaseFilter(start: max(since, earliest))
            )
            count("answered")
            let read = PlayRead(.voidedPurchases, of: nil, in: api.packageName, answer)
            try await keep(read, of: token, in: lineage, at: message.receivedAt)
        } catch let failure as PlayAPIFailure {
            count(failure.metricWord)
            tell(failure.code, failure.sentence)
        } catch let error as StorageError {
            tell("storage", error.description)
        } catch {
            tell("not-asked", "The answer was not understood, or the server stops.")
        }
    }

    /// Of a page only what it says of the purchase that was told of: the rest comes by schedule.
    private func keep(
        _ read: PlayRead,
        of token: PlayToken,
        in lineage: Lineage,
        at now: Instant
    ) async throws {
        let chains = PlayChains([token: lineage])
        let answers = PlayAnswers([read], chains: chains)
        let evidence = Evidence(of: answers, at: now)
        let known = try asking.ingest.storage.holding(lineage, app: app.id).facts
        let news = try asking.trust.reader.facts(in: answers, of: evidence)
            .filter { fact in
                fact.lineage == lineage && !known.contains { $0.assertion == fact.assertion }
            }
        guard !news.isEmpty else { return }
        _ = try await asking.keep(evidence, news, in: lineage.environment)
    }

    private func count(_ outcome: String) {
        asking.ingest.metrics.count(
            .storeRequests,
            app.id,
            RequestKind.voidedPurchases.rawValue,
            outcome
        )
    }

    private func tell(_ code: String, _ detail: String) {
        asking.ingest.log(
            LogLine(
                .warning,
                "why an order was voided is not known yet",
                app: app.id,
                code: code,
                detail: detail
            )
        )
    }
}
