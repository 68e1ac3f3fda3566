import TideoverJSON

/// A moment of a generated story at which the system under test was wrong.
public struct StoryFault: Hashable, Sendable, CustomStringConvertible {
    /// The instant, in milliseconds since 1970.
    public let at: Int64
    /// A description of the error, in one sentence.
    public let description: String
}

/// The result of a generated story.
public struct StoryOracle: Hashable, Sendable {
    /// The errors, earliest first.
    public private(set) var faults: [StoryFault] = []
    /// The number of answers compared with the store's truth at quiet points.
    public private(set) var quietAnswers = 0
    /// The time that entitled customers were denied access outside of the fault windows, in
    /// milliseconds.
    public private(set) var lockout: Int64 = 0

    /// The same in minutes, rounded up.
    public var lockoutMinutes: Int64 { (lockout + 59_999) / 60_000 }
}

extension ScenarioReport {
    /// The result of a generated story. At quiet points the answer must match the store's truth.
    /// Outside of the fault windows no customer may be locked out. Invalid deliveries must be
    /// rejected.
    ///
    /// A window begins with a fault. It ends when the system under test catches up, two days after
    /// all faults have ended.
    public var storyOracle: StoryOracle {
        StoryOracle(self)
    }
}

extension StoryOracle {
    fileprivate init(_ report: ScenarioReport) {
        var window = StoryWindow()
        var meter = LockoutMeter()
        // The customers with a reported, currently paid purchase in Google Play.
        var heardOf: Set<String> = []
        for (index, moment) in report.moments.enumerated() {
            switch moment.happening {
            case .action(let deed):
                let step = report.scenario.steps.first { $0.line == deed.line }
                window.pass(step?.action, at: moment.at)
            case .notification(let delivery):
                if !delivery.isTakenRightly {
                    note(moment, "taken wrongly: \(delivery.outcome)")
                }
            case .push(let push):
                // A push is repeated if its purchase could not be read.
                if !push.isTakenRightly, !window.isOpen { note(moment, "a push taken wrongly") }
            case .webhook: break
            case .readBack(let readBack):
                guard window.isQuiet else { break }
                quietAnswers += 1
                let reading = readBack.reading
                guard let difference = reading.difference else { break }
                if reading.tellsMovingGrace, !heardOf.contains(reading.customer) { break }
                note(moment, difference)
            }
            if let reading = moment.reading {
                if reading.isPaidInGooglePlay { heardOf.insert(reading.customer) }
                // The next purchase is a different one.
                if !reading.truth.isEntitled { heardOf.remove(reading.customer) }
            }
            if window.isOpen { meter.stop(at: moment.at) }
            guard !window.isOpen, let reading = moment.reading else { continue }
            // Of several messages about a customer sent at once, the last decides.
            guard !report.hearsMore(of: reading.customer, after: index) else { continue }
            if reading.entitlement("premium") == nil {
                note(moment, "\(reading.customer) is answered nothing")
            }
            meter.take(reading, at: moment.at)
            guard reading.isLockedOut else { continue }
            note(moment, "\(reading.customer) is locked out though nothing went wrong")
        }
        if let end = report.moments.last?.at { meter.stop(at: end) }
        lockout = meter.total
    }

    private mutating func note(_ moment: TraceEntry, _ words: String) {
        let text = "\(InstantText.write(moment.at)): \(words)"
        faults.append(StoryFault(at: moment.at, description: text))
    }
}

/// A period with a fault, or after one until the system under test has caught up.
private struct StoryWindow {
    private(set) var isOpen = false
    /// Nothing has happened since the system under test caught up.
    private(set) var isQuiet = false
    /// Since when there is no fault; nil during a fault.
    private var endedAt: Int64? = .min

    mutating func pass(_ action: ScenarioAction?, at instant: Int64) {
        isQuiet = false
        switch action {
        case .disturbNotifications, .disturbServerAPI, .loseNotifications(true): open()
        case .endDisturbances: endedAt = endedAt ?? instant
        case .catchUp:
            guard let endedAt, instant >= endedAt + StoryGenerator.recovery || !isOpen else {
                return
            }
            isOpen = false
            isQuiet = true
        case .googlePlay(let action): pass(action.deed, at: instant)
        case .store, .requestTestNotification, .loseNotifications(false), .openApp, .showPrompt,
            .storeAction, .revenueCat, nil:
            break
        }
    }

    private mutating func pass(_ deed: ScenarioPlayAction.Deed, at instant: Int64) {
        switch deed {
        case .disturb, .disturbNotifications, .disturbPubSub, .loseNotifications(true): open()
        case .endDisturbances: endedAt = endedAt ?? instant
        case .act, .write, .requestTestNotification, .loseNotifications(false): break
        }
    }

    private mutating func open() {
        isOpen = true
        endedAt = nil
    }
}

/// Measures lockouts: from an answer that denies access until the next one that does not, or until
/// a fault begins.
private struct LockoutMeter {
    private(set) var total: Int64 = 0
    /// The locked out customers, with the start of their lockout, by name.
    private var since: [String: Int64] = [:]

    mutating func take(_ reading: Reading, at instant: Int64) {
        if reading.isLockedOut {
            since[reading.customer] = since[reading.customer] ?? instant
        } else if let begun = since.removeValue(forKey: reading.customer) {
            total += instant - begun
        }
    }

    mutating func stop(at instant: Int64) {
        total += since.values.reduce(0) { $0 + instant - $1 }
        since = [:]
    }
}

extension ScenarioReport {
    /// Whether the store sent another message about a customer at the same time.
    fileprivate func hearsMore(of customer: String, after index: Int) -> Bool {
        let next = moments.dropFirst(index + 1).first { $0.reading?.customer == customer }
        return next?.isSoon(after: moments[index]) ?? false
    }
}

extension TraceEntry {
    fileprivate var reading: Reading? {
        switch happening {
        case .action: nil
        case .webhook(let webhook): webhook.reading
        case .notification(let delivery): delivery.reading
        case .push(let push): push.reading
        case .readBack(let readBack): readBack.reading
        }
    }

    /// Whether this is another message that the store sent at the same time.
    fileprivate func isSoon(after other: TraceEntry) -> Bool {
        switch happening {
        case .notification, .push: at - other.at < 2_000
        case .action, .readBack, .webhook: false
        }
    }
}

extension Reading {
    fileprivate var isLockedOut: Bool { mistake(about: "premium") == .lockedOut }

    fileprivate var isPaidInGooglePlay: Bool {
        let answer = entitlement("premium")
        return answer?["store"] == "googlePlay" && answer?["state"] == "active"
    }

    /// Whether it reports the part of Google Play's grace that is known if the purchase is first
    /// seen then. This is the end that the store moves from day to day, without the end of the
    /// whole grace.
    fileprivate var tellsMovingGrace: Bool {
        let answer = entitlement("premium")
        guard case .grace(let last) = truth, answer?["store"] == "googlePlay",
            answer?["state"] == "grace", answer?["graceUntil"]?.isNull == true,
            let end = answer?["accessUntil"]?.string.flatMap(InstantText.read)
        else { return false }
        let day = StoryGenerator.day
        return at < end && end <= min(at + day, last) && (last - end) % day == 0
    }

    /// How the answer differs from the store's truth, as text; nil if it does not.
    fileprivate var difference: String? {
        let answer = entitlement("premium")
        let state = answer?["state"]?.string ?? "nothing"
        guard state == truth.answeredState else {
            return "\(customer) is \(state), but the store says \(truth)"
        }
        guard truth.isEntitled else { return nil }
        // In Google Play's grace, `accessUntil` is the end that the store moves from day to day.
        // `graceUntil` is the end of the whole grace (docs/rules.md, `in-grace`).
        let places = state == "grace" ? ["accessUntil", "graceUntil"] : ["accessUntil"]
        let ends = places.map { answer?[$0]?.string.flatMap(InstantText.read) }
        if ends.contains(truth.until) { return nil }
        // Beside the access of another purchase, only that end of the grace is reported.
        switch (firmTruth, truth) {
        case (.active(let first), .active(let last)), (.grace(let first), .grace(let last)):
            if let end = ends[0], first <= end, end <= last { return nil }
        default: break
        }
        let until = ends.map { $0.map(InstantText.write) ?? "for ever" }.joined(separator: " or ")
        return "\(customer) is \(state) until \(until), but the store says \(truth)"
    }
}

extension AppStoreExpectedState {
    /// The state that an answer reports for it.
    fileprivate var answeredState: String {
        switch self {
        case .never: "never"
        case .active, .owned: "active"
        case .grace: "grace"
        case .retry: "hold"
        case .expired, .revoked: "expired"
        }
    }
}
