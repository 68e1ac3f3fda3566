/// One fuzzer.
struct Fuzzer: Sendable {
    let name: String
    /// The property of every input, in a sentence.
    let promise: String
    /// The longest input, in bytes.
    let maximumByteCount: Int
    /// Inputs to start from.
    let seeds: @Sendable () -> [[UInt8]]
    /// The dictionary for inputs.
    let words: [String]
    /// Derives an input from another.
    let mutate: Mutation
    /// Aborts the process if the property is false for an input.
    let check: @Sendable ([UInt8]) -> Void

    init(
        _ name: String,
        promise: String,
        maximumByteCount: Int,
        seeds: @escaping @Sendable () -> [[UInt8]],
        words: [String] = [],
        mutate: @escaping Mutation = Mutations.bytes,
        check: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.name = name
        self.promise = promise
        self.maximumByteCount = maximumByteCount
        self.seeds = seeds
        self.words = words
        self.mutate = mutate
        self.check = check
    }
}
