import TideoverHTTP
import TideoverLocks

/// How servers answer while their database fails and comes back.
final class OutageRecord: Sendable {
    /// Seconds that a client waits for a response. More is a failure of the trial.
    let patience: Int

    private struct State {
        var responses = Latencies()
        var refusals = 0
        var unexpected: [String] = []
        /// The instants of the latest acknowledgements, in milliseconds since 1970, by port.
        var acknowledgements: [Int: [Int64]] = [:]
    }

    private let state = Locked(State())

    init(patience: Int) { self.patience = patience }

    /// Returns the response of an exchange; nil for none and for 503 with `storage-unavailable`. Any
    /// other 503, and none at all, is unexpected.
    func response(
        over wire: Wire,
        _ exchange: () throws(Wire.Broken) -> Response
    ) -> Response? {
        let begin = ContinuousClock.now
        do throws(Wire.Broken) {
            let response = try exchange()
            let duration = begin.duration(to: .now)
            let isRefusal = response.isRefusalOfStorage
            state.withLock { state in
                state.responses.add(duration)
                guard isRefusal else { return }
                state.refusals += 1
            }
            return isRefusal ? nil : response
        } catch {
            let duration = begin.duration(to: .now)
            state.withLock { $0.unexpected.append("no response after \(duration): \(error)") }
            return nil
        }
    }

    /// Records that the server at a port acknowledged a notification now.
    func acknowledged(at port: Int) {
        let now = systemMilliseconds()
        state.withLock { $0.acknowledgements[port, default: []].append(now) }
    }

    /// Begins a round: forgets the instants of acknowledgements.
    func begin() { state.withLock { $0.acknowledgements = [:] } }

    /// Returns when the server at a port first acknowledged something after an instant.
    func acknowledgement(at port: Int, after instant: Int64) -> Int64? {
        state.withLock { $0.acknowledgements[port]?.first { $0 > instant } }
    }

    /// Returns the longest time in this interval in which the server at a port acknowledged nothing.
    func longestPause(at port: Int, from begin: Int64, to end: Int64) -> Int64 {
        let instants = state.withLock { $0.acknowledgements[port] ?? [] }
        let marks = [begin] + instants.filter { begin < $0 && $0 < end } + [end]
        return zip(marks, marks.dropFirst()).map { $1 - $0 }.max() ?? 0
    }

    /// Records a failure.
    func note(_ sentence: String) { state.withLock { $0.unexpected.append(sentence) } }

    var refusals: Int { state.withLock { $0.refusals } }
    var unexpected: [String] { state.withLock { $0.unexpected } }
    /// The median, the 99th percentile and the maximum, in milliseconds.
    var responseTimes: String { state.withLock { $0.responses.text } }
}

extension Response {
    /// Whether the server answers that its storage fails, as it must during an outage.
    var isRefusalOfStorage: Bool { status == 503 && problem == "storage-unavailable" }
}
