package import TideoverCore

/// What the device's two clocks show at one moment.
package struct ClockReading: Hashable, Sendable {
    /// The clock that people can set.
    package var clock: Instant
    /// The time since some moment that is the same for the whole process, sleep included. It only
    /// moves forward.
    package var uptime: Milliseconds

    package init(clock: Instant, uptime: Milliseconds) {
        self.clock = clock
        self.uptime = uptime
    }
}

/// What the device knows of the time. A clock that is set back gains nothing.
package struct DeviceClock: Hashable, Sendable {
    /// Since the first reading of this process, or since the server last stated the time.
    private var anchor: ClockReading?
    /// Whether the anchor is a server's time, which the device's clock does not overrule.
    private var isAnchoredByServer = false
    /// The latest instant that an earlier process lived through.
    private var lastSeen: Instant?
    /// The newest date that a signature vouches for.
    private var newestVerified: Instant?

    /// How far two clocks may differ before one counts as set back.
    package static let tolerance = Milliseconds.minutes(2)

    package init(lastSeen: Instant? = nil) {
        self.lastSeen = lastSeen
    }

    package mutating func see(_ reading: ClockReading) {
        guard let anchor else {
            anchor = reading
            return
        }
        // A clock that runs ahead of the anchor was set forward, or corrected by the network.
        if !isAnchoredByServer, reading.clock > expected(by: anchor, reading) {
            self.anchor = reading
        }
    }

    /// A server's answer over an authenticated connection sets the time right in both directions.
    package mutating func see(serverTime: Instant, at reading: ClockReading) {
        anchor = ClockReading(clock: serverTime, uptime: reading.uptime)
        isAnchoredByServer = true
        lastSeen = serverTime
    }

    package mutating func see(verified date: Instant) {
        newestVerified = max(newestVerified ?? date, date)
    }

    private func expected(by anchor: ClockReading, _ reading: ClockReading) -> Instant {
        anchor.clock + Milliseconds(max(0, reading.uptime.count - anchor.uptime.count))
    }

    /// The least that the time can be within this process.
    private func floor(_ reading: ClockReading) -> Instant? {
        let continued = anchor.map { expected(by: $0, reading) }
        return [continued, newestVerified].compactMap(\.self).max()
    }

    /// The time to decide by on this device.
    package func now(_ reading: ClockReading) -> Instant {
        max(shown(reading), floor(reading) ?? shown(reading))
    }

    /// The server's time, continued, where it was stated in this process; else the device's clock.
    private func shown(_ reading: ClockReading) -> Instant {
        guard isAnchoredByServer, let anchor else { return reading.clock }
        return expected(by: anchor, reading)
    }

    /// The time to judge a pass by: it also remembers what earlier processes lived through.
    package func passTime(_ reading: ClockReading) -> DeviceTime {
        let floor = [floor(reading), lastSeen].compactMap(\.self).max()
        return DeviceTime(clock: shown(reading), newestVerified: floor)
    }

    /// Whether the clock shows less than what the device has lived through.
    package func isSetBack(_ reading: ClockReading) -> Bool {
        passTime(reading).now > reading.clock + Self.tolerance
    }
}
