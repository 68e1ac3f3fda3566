import Foundation
import StoreKitFaking
import TideoverCore
import TideoverJSON
import TideoverKit
import TideoverLocks
import TideoverSandbox

/// The customers of a scenario with their devices, compared with the server after each step.
@MainActor
final class ComparedLives {
    private let rehearsal: KitRehearsal
    private var participants: [Participant] = []
    private var window = FaultWindow()
    /// Differences that no fault explains.
    private(set) var differences: [String] = []
    /// The number of answers compared outside of the fault windows.
    private(set) var comparisons = 0
    /// The ends of access that the server stated.
    private(set) var ends: Set<Instant> = []
    /// The server's answers that differed before the device reported, and those that did afterwards.
    private(set) var differed = 0
    private(set) var remained = 0

    /// The drifts that the server reported.
    private(set) var drifts: [ReportedDrift] = []
    /// Differences that a device reported and the server did not record.
    private(set) var unrecorded: [String] = []
    /// The state that the server stated last.
    private(set) var lastState: State?
    /// The lines that the server logged.
    private(set) var log: [JSONValue] = []

    private init(_ rehearsal: KitRehearsal) { self.rehearsal = rehearsal }

    /// Plays a scenario to its end, beside a server.
    static func played(
        _ scenario: Scenario,
        at place: ComparedServer.Place,
        renewalRate: RenewalRate = .realTime
    ) async throws -> ComparedLives {
        await ProgramGate.enter(place)
        defer { ProgramGate.leave(place) }
        let rehearsal = try await KitRehearsal(scenario, renewalRate: renewalRate, at: place)
        let lives = ComparedLives(rehearsal)
        try await lives.play()
        lives.drifts = rehearsal.drifts.withLock { $0 }
        // The device says nothing about them: it decides without the server.
        lives.differences += rehearsal.failures.withLock { $0 }
        try await rehearsal.close()
        lives.log = rehearsal.log
        lives.report(scenario, place)
        return lives
    }

    /// Prints what was compared, if a script asks for it.
    private func report(_ scenario: Scenario, _ place: ComparedServer.Place) {
        guard ProcessInfo.processInfo.environment["TIDEOVER_KIT_STORIES"] != nil else { return }
        print(
            "compared \(place.rawValue): \(comparisons) answers, \(differences.count) differences,",
            "\(differed) differed, \(differed - remained) healed, \(drifts.count) drifts:",
            scenario.name
        )
    }

    /// One customer's device with two apps: one decides alone, the other also asks the server.
    fileprivate struct Participant {
        let customer: StoreCustomer
        let device: SimulatedDevice
        var alone: EntitlementStore
        let served: EntitlementStore
        /// The ids of the purchases that the device has presented.
        var presented: Set<String> = []
    }

    private func play() async throws {
        for customer in rehearsal.scenario.customers {
            let device = SimulatedDevice(rehearsal.store, customer: customer.name)
            let participant = await device.fakeStore().serve {
                Participant(
                    customer: customer,
                    device: device,
                    alone: await rehearsal.launch(withServer: false, for: customer),
                    served: await rehearsal.launch(withServer: true, for: customer)
                )
            }
            participants.append(participant)
        }
        let steps = rehearsal.scenario.steps
        var visits: [String: DeviceVisit] = [:]
        for (index, step) in steps.enumerated() {
            try await rehearsal.pass(until: step.at)
            window.pass(step.action, at: step.at)
            if let visit = try await rehearsal.perform(step), let visitor = step.customer {
                visits[visitor] = visit
            }
            // Steps of the same instant are compared together.
            if index + 1 < steps.count, steps[index + 1].at == step.at { continue }
            try await rehearsal.deliver()
            for number in participants.indices {
                try await compare(number, step, visits[participants[number].customer.name])
            }
            visits = [:]
        }
    }

    private func compare(
        _ number: Int,
        _ step: ScenarioStep,
        _ visit: DeviceVisit?
    ) async throws {
        let participant = participants[number]
        await participant.set(visit)
        rehearsal.clockOffset.withLock { $0 = visit?.clockOffset ?? 0 }
        let reported = rehearsal.drifts.withLock { $0.count }
        let (before, after) = try await openApps(of: participant)
        let place = "line \(step.line), \(participant.customer.name)"
        check("\(place), shown", participant.served, after.entitlements)
        lastState = after.entitlements.first?.state
        ends.formUnion(after.entitlements.filter { $0.access == .granted }.compactMap(\.until))
        let isUnclaimed = try await hasUnclaimed(number, visit)
        let known = isUnclaimed ? [] : before.entitlements.filter { $0.state != .never }
        if window.isOpen || visit?.isFaulty ?? false {
            count(participant.alone, known, after.entitlements)
            // The kit corrects a wrong clock before it reports.
            if visit?.clockOffset ?? 0 == 0 {
                let drifts = rehearsal.drifts.withLock { Array($0.dropFirst(reported)) }
                try await requireRecords(of: known, participant, drifts, place)
            }
        } else {
            // The store sends family members no message about the renewal.
            check("\(place), before its report", participant.alone, known, \.withoutRenewal)
            check(place, participant.alone, after.entitlements)
        }
        if visit?.clockOffset ?? 0 != 0 { try await relaunch(number) }
    }

    /// Whether the device has a purchase without an account token that it had not presented. Until
    /// then the server cannot know its owner.
    private func hasUnclaimed(_ number: Int, _ visit: DeviceVisit?) async throws -> Bool {
        let payloads = try await rehearsal.store.device(of: participants[number].customer.name)
            .map(\.payload)
        let unnamed = payloads.filter { $0["appAccountToken"]?.string == nil }
            .compactMap { $0["originalTransactionId"]?.string }
        let news = Set(unnamed).subtracting(participants[number].presented)
        if !(visit?.isFaulty ?? false) { participants[number].presented.formUnion(news) }
        return !news.isEmpty
    }

    /// Opens both apps of a device.
    ///
    /// - Returns: The server's answers before the device's report, and after it.
    private func openApps(
        of participant: Participant
    ) async throws -> (before: ServerReply, after: ServerReply) {
        try await participant.device.fakeStore().serve {
            participant.alone.enteredForeground()
            await participant.alone.settled()
            let before = try await rehearsal.served(participant.customer)
            participant.served.enteredForeground()
            await participant.served.settled()
            return (before, try await rehearsal.served(participant.customer))
        }
    }

    /// A process without a server does not trust a clock that is set back.
    private func relaunch(_ number: Int) async throws {
        let customer = participants[number].customer
        rehearsal.clockOffset.withLock { $0 = 0 }
        participants[number].alone = await participants[number].device.fakeStore().serve {
            await rehearsal.launch(withServer: false, for: customer)
        }
    }

    private func count(_ app: EntitlementStore, _ before: [Entitlement], _ after: [Entitlement]) {
        guard before.contains(where: { $0.gist != app[$0.name].gist }) else { return }
        differed += 1
        // Two denials may differ in their reason for a while, after a stale answer of the store.
        let isOpen = after.contains { answer in
            let own = app[answer.name]
            return own.gist != answer.gist && (own.access == .granted || answer.access == .granted)
        }
        if isOpen { remained += 1 }
    }

    /// Notes the answers that the device's own contradicts, unless the server recorded that.
    private func requireRecords(
        of answers: [Entitlement],
        _ participant: Participant,
        _ drifts: [ReportedDrift],
        _ place: String
    ) async throws {
        for answer in answers {
            let own = participant.alone[answer.name]
            guard own.contradicts(answer),
                !drifts.contains(where: { $0.entitlement == answer.name })
            else { continue }
            if try await isYoung(participant) { continue }
            unrecorded.append("\(place): \(own.gist) / \(answer.gist)")
        }
    }

    /// Whether a period or a refund began so recently that the server need not have received it yet.
    private func isYoung(_ participant: Participant) async throws -> Bool {
        let now = await rehearsal.store.now
        return try await rehearsal.store.device(of: participant.customer.name).contains { item in
            ["purchaseDate", "revocationDate"].contains { member in
                guard let start = item.payload[member]?.int64 else { return false }
                return start <= now && now - start <= DriftJudge.arrivalTime.count
            }
        }
    }

    private func check(
        _ place: String,
        _ app: EntitlementStore,
        _ answers: [Entitlement],
        _ compared: KeyPath<Entitlement, String> = \.gist
    ) {
        for answer in answers {
            comparisons += 1
            let own = app[answer.name][keyPath: compared]
            if own != answer[keyPath: compared] {
                differences.append("\(place): \(own) / \(answer[keyPath: compared])")
            }
        }
    }
}

/// Limits how many programs run at once. They mostly wait: a server asks the store's API about missed
/// messages at the pace of the real one.
@MainActor
private enum ProgramGate {
    private static var free = 40
    private static var waiting: [CheckedContinuation<Void, Never>] = []

    static func enter(_ place: ComparedServer.Place) async {
        guard place == .program else { return }
        if free == 0 {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            free -= 1
        }
    }

    static func leave(_ place: ComparedServer.Place) {
        guard place == .program else { return }
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}

extension ComparedLives.Participant {
    /// Sets the device's faults for a visit.
    fileprivate func set(_ visit: DeviceVisit?) async {
        await device.set(stale: !(visit?.looks ?? true))
        await device.set(verifies: visit?.verifies ?? true)
        await device.signIn(as: visit?.account)
    }
}

extension DeviceVisit {
    /// Whether the device's own decision may differ from the server's.
    fileprivate var isFaulty: Bool {
        !looks || !verifies || clockOffset != 0 || account != nil || environment != nil
    }
}

/// A period with a fault of messages or of the store's API, until the server has caught up.
private struct FaultWindow {
    private(set) var isOpen = false

    mutating func pass(_ action: ScenarioAction?, at instant: Int64) {
        switch action {
        case .disturbNotifications, .disturbServerAPI, .loseNotifications(true):
            isOpen = true
            endedAt = nil
        case .endDisturbances, .loseNotifications(false): endedAt = endedAt ?? instant
        case .catchUp: if endedAt != nil { isOpen = false }
        default: break
        }
    }

    /// Since when there is no fault; nil during a fault.
    private var endedAt: Int64? = .min
}

extension Entitlement {
    /// The fields that both answers must share.
    var gist: String { "\(withoutRenewal) renews \(willRenew.map { "\($0)" } ?? "-")" }

    /// Whether access differs from another answer, or its end does by more than a minute.
    fileprivate func contradicts(_ other: Entitlement) -> Bool {
        guard access == other.access else { return true }
        let (one, two) = (until ?? .distantFuture, other.until ?? .distantFuture)
        return access == .granted && !one.isWithin(DriftJudge.tolerance, of: two)
    }

    /// A past end of access is not compared: StoreKit has no history of a grace period that a
    /// cancellation cut short. Nor has a status one of the products before the newest.
    fileprivate var withoutRenewal: String {
        if reason == Reason.changedProduct.rawValue {
            return Entitlement(never: name).withoutRenewal
        }
        let state = state?.rawValue ?? "-"
        guard access == .granted else { return "\(state) \(reason) \(access)" }
        return "\(state) \(reason) until \(until.map(\.rfc3339) ?? "-")"
    }

    private init(never name: String) {
        self.init(name: name, access: .denied, state: .never, reason: Reason.notEntitled.rawValue)
    }
}
