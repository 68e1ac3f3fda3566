import TideoverSandbox

/// A simulated store with random customers and a back end that sometimes fails. Everything is
/// derived from a seed.
protocol LivedStore {
    /// Creates a store before any activity.
    init(seed: UInt64) async throws

    /// The store's clock, in milliseconds since 1970.
    var now: Int64 { get async }

    /// Performs a customer's action, a request of the back end, or an advance of time. Returns the
    /// resulting output before it was signed.
    mutating func live() async throws -> [String]

    /// The store as JSON.
    var saved: [UInt8] { get async }

    /// Saves the store, and replaces it with another one that resumes the saved state.
    mutating func takeUpAgain() async throws
}

extension SeededRandom {
    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int(number(in: 0...Int64(values.count - 1)))]
    }
}
