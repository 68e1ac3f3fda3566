package import TideoverCore

/// A simultaneous reading of the device's two clocks.
package struct ClockReading: Hashable, Sendable {
    /// The clock that the user can set.
    package var clock: Instant
    /// The time since a fixed point in the process, including sleep. It only moves forward.
    package var uptime: Milliseconds

    package init(clock: Instant, uptime: Milliseconds) {
        self.clock = clock
        self.uptime = uptime
    }
}

/// The device's estimate of the time. Setting the clock back gains no access.
package struct DeviceClock: Hashable, Sendable {
    /// The first reading of this process, or the latest time from the server.
    private var anchor: ClockReading?
    /// Whether the anchor is the server's time, which overrides the device's clock.
    private var isAnchoredByServer = false
    /// The latest instant seen by an earlier process.
    private var lastSeen: Instant?
    /// The uptime of the first reading of this process.
    private var firstUptime: Milliseconds?
    /// The newest signed date.
    private var newestVerified: Instant?

    /// The tolerated difference between two clocks before one counts as set back.
    package static let tolerance = Milliseconds.minutes(2)

    package init(lastSeen: Instant? = nil) {
        self.lastSeen = lastSeen
    }

    package mutating func see(_ reading: ClockReading) {
        if firstUptime == nil { firstUptime = reading.uptime }
        guard let anchor else {
            anchor = reading
            return
        }
        // A clock ahead of the anchor was set forward, or corrected by the network.
        if !isAnchoredByServer, reading.clock > expected(by: anchor, reading) {
            self.anchor = reading
        }
    }

    /// Sets the time from an authenticated response of the server, forward or back.
    package mutating func see(serverTime: Instant, at reading: ClockReading) {
        let time = max(serverTime, newestVerified ?? serverTime)
        anchor = ClockReading(clock: time, uptime: reading.uptime)
        isAnchoredByServer = true
        lastSeen = nil
    }

    /// Adds the latest instant seen by an earlier process. The server's time overrides it.
    package mutating func see(lastSeen instant: Instant) {
        if !isAnchoredByServer { lastSeen = max(lastSeen ?? instant, instant) }
    }

    /// Adds a signed date. A clock behind it continues from there: time must not stand still until
    /// the clock has caught up.
    package mutating func see(verified date: Instant, at reading: ClockReading) {
        if date > now(reading) { anchor = ClockReading(clock: date, uptime: reading.uptime) }
        newestVerified = max(newestVerified ?? date, date)
    }

    private func expected(by anchor: ClockReading, _ reading: ClockReading) -> Instant {
        anchor.clock + Milliseconds(max(0, reading.uptime.count - anchor.uptime.count))
    }

    /// Returns the lower bound of the time within this process.
    private func floor(_ reading: ClockReading) -> Instant? {
        let continued = anchor.map { expected(by: $0, reading) }
        return [continued, newestVerified].compactMap(\.self).max()
    }

    /// Returns the time for decisions on this device.
    package func now(_ reading: ClockReading) -> Instant {
        max(shown(reading), floor(reading) ?? shown(reading))
    }

    /// Returns the server's time, continued, if received in this process; else the device's clock.
    private func shown(_ reading: ClockReading) -> Instant {
        guard isAnchoredByServer, let anchor else { return reading.clock }
        return expected(by: anchor, reading)
    }

    /// Returns the time for checking a pass, which includes the times of earlier processes and
    /// continues from them.
    package func passTime(_ reading: ClockReading) -> DeviceTime {
        let elapsed = max(0, reading.uptime.count - (firstUptime ?? reading.uptime).count)
        let remembered = lastSeen.map { $0 + Milliseconds(elapsed) }
        let floor = [floor(reading), remembered].compactMap(\.self).max()
        return DeviceTime(clock: shown(reading), newestVerified: floor)
    }

    /// Whether the clock is behind the latest time known to the device.
    package func isSetBack(_ reading: ClockReading) -> Bool {
        passTime(reading).now > reading.clock + Self.tolerance
    }
}
