import TideoverSandbox

/// A simulated store in which customers live at random, and the back end that it tells of it, which fails
/// now and then. All of it follows from a seed.
protocol LivedStore {
    /// A store in which nothing has happened.
    init(seed: UInt64) async throws

    /// The store's clock, in milliseconds since 1970.
    var now: Int64 { get async }

    /// What happens next: somebody does something, the back end asks, or time passes. What was then heard,
    /// before anything was signed.
    mutating func live() async throws -> [String]

    /// The store as JSON.
    var saved: [UInt8] { get async }

    /// Lays the store aside and takes it up again: another one, which knows what was saved.
    mutating func takeUpAgain() async throws
}

extension SeededRandom {
    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int(number(in: 0...Int64(values.count - 1)))]
    }
}
