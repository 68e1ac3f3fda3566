/// One thing that is fuzzed.
struct Fuzzer: Sendable {
    let name: String
    /// What holds for every input, in a sentence.
    let promise: String
    /// The longest input, in bytes.
    let maximumByteCount: Int
    /// Inputs to start from.
    let seeds: @Sendable () -> [[UInt8]]
    /// Words that inputs are made of.
    let words: [String]
    /// How an input is made of another.
    let mutate: Mutation
    /// Ends the process if the promise does not hold for an input.
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
