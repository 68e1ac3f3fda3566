import TideoverConfiguration
package import TideoverCore

/// The instants of the attempts to deliver an event: ten attempts within about three days.
package enum WebhookSchedule {
    private static let delays: [Milliseconds] = [
        .seconds(5), .minutes(5), .minutes(30), .hours(2), .hours(5), .hours(10), .hours(14),
        .hours(20), .hours(24),
    ]

    /// Returns the instant of the attempt after `failures` failed ones: its delay, made longer or
    /// shorter by at most a tenth. Nil after the last attempt.
    ///
    /// A receiver's wish to wait counts if it is later, up to a day.
    package static func next(
        after failures: Int,
        at now: Instant,
        notBefore: Instant? = nil,
        random: UInt64
    ) -> Instant? {
        guard failures >= 1, failures <= delays.count else { return nil }
        let delay = delays[failures - 1].count
        let jitter = Int64(random % UInt64(delay / 5 + 1)) - delay / 10
        let planned = now + Milliseconds(delay + jitter)
        guard let notBefore else { return planned }
        return max(planned, limited(notBefore, at: now))
    }

    /// Returns the instant until which a receiver wishes to wait, at most a day from now.
    static func limited(_ wish: Instant, at now: Instant) -> Instant { min(wish, now + .days(1)) }

    /// Returns the pause of a receiver that has failed for some time: a tenth of this time, from 5
    /// seconds to a minute.
    package static func pause(afterFailingFor length: Milliseconds) -> Milliseconds {
        max(.seconds(5), min(Milliseconds(length.count / 10), .minutes(1)))
    }
}

/// What an attempt to deliver received.
package enum WebhookResult: Hashable, Sendable {
    /// A response; `retryAfter` is the value of the header.
    case response(status: Int, retryAfter: String? = nil)
    /// No response, and why.
    case failure(String)

    /// The status of the response; nil without a response.
    var status: Int? { if case .response(let status, _) = self { status } else { nil } }
    /// Why there was no response; nil with one.
    var failure: String? { if case .failure(let cause) = self { cause } else { nil } }
}

/// What follows from an attempt.
package enum WebhookVerdict: Hashable {
    case delivered
    /// The receiver wants no more messages.
    case gone
    /// It failed; the receiver may wish that no attempt is made before an instant.
    case failed(notBefore: Instant?)

    /// A redirect is not followed, and counts as a failure.
    package init(_ result: WebhookResult, at now: Instant) {
        switch result {
        case .response(let status, _) where (200..<300).contains(status): self = .delivered
        case .response(410, _): self = .gone
        case .response(let status, let wait) where [429, 503].contains(status):
            self = .failed(notBefore: wait.flatMap { Self.instant($0, now) })
        case .response, .failure: self = .failed(notBefore: nil)
        }
    }

    /// Reads `Retry-After`: seconds, or a date (RFC 9110, 10.2.3).
    private static func instant(_ text: String, _ now: Instant) -> Instant? {
        DecimalNumber.read(text, through: 1 << 30).map { now + .seconds(Int64($0)) }
            ?? Instant(httpDate: text)
    }
}
