import TideoverCore
import TideoverJSON
import TideoverLocks

/// The states of all workers that run now, for `/readyz` and `/metrics`.
final class WorkerWatch: Sendable {
    private let states = Locked<[Worker.ID: WorkerState]>([:])

    func note(_ id: Worker.ID, _ change: (inout WorkerState) -> Void) {
        states.withLock { change(&$0[id, default: WorkerState()]) }
    }

    /// Removes a worker that was stopped.
    func remove(_ id: Worker.ID) {
        states.withLock { $0[id] = nil }
    }

    /// Returns the workers in the order of kinds, apps, environments and stores.
    func readings(at now: Int64) -> [WorkerReading] {
        states.withLock { $0 }.map { WorkerReading($0, $1, at: now) }
            .sorted { $0.order.lexicographicallyPrecedes($1.order) }
    }
}

/// The state of a worker at an instant. Durations are nanoseconds.
struct WorkerReading: Sendable {
    let id: Worker.ID
    let condition: WorkerState.Condition
    /// How long the worker has been failing or stuck; zero while it is running.
    let length: Int64
    /// How long its current round has taken; zero during a pause.
    let round: Int64

    init(_ id: Worker.ID, _ state: WorkerState, at now: Int64) {
        let (condition, since) = state.condition(at: now, longestRound: id.kind.longestRound)
        self.id = id
        self.condition = condition
        length = now - since
        round = state.roundBegan.map { now - $0 } ?? 0
    }

    fileprivate var order: [String] { [id.kind.rawValue] + id.place.map { $0.value } }

    /// The worker's member in the response of `/readyz`.
    var json: JSONValue {
        var object: JSONObject = ["worker": .string(id.kind.rawValue)]
        for (name, value) in id.place { object[name] = .string(value) }
        object["state"] = .string(condition.rawValue)
        object["seconds"] = .integer(length / 1_000_000_000)
        return .object(object)
    }
}

extension Worker.ID {
    fileprivate var place: [(name: String, value: String)] {
        let all = [
            ("app", app), ("environment", environment?.rawValue), ("store", store?.rawValue),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}
