import TideoverCore
import TideoverRevenueCat
import TideoverStorage

/// Asks RevenueCat about a customer of whom it has just told.
///
/// A webhook states its facts by itself, and they are durable by then. So what fails here is told and left
/// to the next webhook: what is missed is an answer to compare ours with.
struct RevenueCatQuestion: Sendable {
    let ingest: Ingest

    func ask(_ reading: RevenueCatReading) async {
        guard let trust = ingest.app.revenueCat, let api = trust.api else { return }
        guard let customer = reading.customerAskedAbout else { return }
        do {
            let answer = try await api.subscriber(customer)
            let relayed = RelayedAnswer(
                reading: trust.reader.reading(of: answer.subscriber, customer: customer),
                bytes: answer.line(about: customer),
                source: .revenueCatAPI
            )
            _ = try await relayed.keep(by: ingest, at: ingest.clock())
        } catch let failure as RevenueCatAPIFailure {
            tell("RevenueCat could not be asked", failure.code, failure.sentence)
        } catch let error as StorageError {
            tell("RevenueCat's answer not stored", "storage", error.description)
        } catch {
            tell("RevenueCat was not asked", "cancelled", "The server stops.")
        }
    }

    private func tell(_ event: String, _ code: String, _ detail: String) {
        ingest.log(LogLine(.warning, event, app: ingest.app.id, code: code, detail: detail))
    }
}

extension RevenueCatReading {
    /// Of a transfer whoever has the purchases now.
    fileprivate var customerAskedAbout: CustomerID? {
        guard case .transfer(_, let to) = customers else { return event.customer }
        return to.first { !$0.isRevenueCatAnonymous } ?? to.first
    }
}
