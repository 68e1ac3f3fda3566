public import Foundation
public import TideoverCore

extension Instant {
    /// The instant as a date, for formatting.
    public var date: Date {
        Date(timeIntervalSince1970: TimeInterval(millisecondsSince1970) / 1000)
    }
}
