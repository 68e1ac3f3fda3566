import TideoverCore
import TideoverRevenueCat
import TideoverStorage

/// Queries RevenueCat about the customer of a webhook.
///
/// The webhook's own facts are already stored. A failure here is logged and left to the next
/// webhook; only a response for comparison is missing.
struct RevenueCatQuestion: Sendable {
    let context: AppContext

    func ask(_ reading: RevenueCatReading) async {
        guard let trust = context.app.revenueCat, let api = trust.api else { return }
        guard let customer = reading.customerAskedAbout else { return }
        do {
            let answer = try await api.subscriber(customer)
            let relayed = RelayedAnswer(
                reading: trust.reader.reading(of: answer.subscriber, customer: customer),
                bytes: answer.line(about: customer),
                source: .revenueCatAPI
            )
            _ = try await relayed.keep(by: context, at: context.clock())
        } catch let failure as RevenueCatAPIFailure {
            tell("RevenueCat could not be asked", failure.code, failure.sentence)
        } catch let error as StorageError {
            tell("RevenueCat's answer not stored", "storage", error.description)
        } catch {
            tell("RevenueCat was not asked", "cancelled", "The server stops.")
        }
    }

    private func tell(_ event: String, _ code: String, _ detail: String) {
        context.log(.warning, event, code: code, detail: detail)
    }
}

extension RevenueCatReading {
    /// The customer to query; for a transfer, the current owner.
    fileprivate var customerAskedAbout: CustomerID? {
        guard case .transfer(_, let to) = customers else { return event.customer }
        return to.first { !$0.isRevenueCatAnonymous } ?? to.first
    }
}
