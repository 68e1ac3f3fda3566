/// Fuzzers with a planted fault that must be found. Otherwise the other fuzzers would find nothing
/// either.
///
/// Both faults require four bytes that are compared one after the other. Random inputs would meet
/// them once in four thousand million. Only a fuzzer with coverage feedback finds them in seconds,
/// faster in short inputs.
extension Fuzzer {
    static let canaryOfOracles = Fuzzer(
        "canary-oracle",
        promise: "none: an input that begins with `Tide` breaks it, and must be found",
        maximumByteCount: 4,
        seeds: { [[]] },
        check: { input in expect(!Canary.isReached(by: input), "the canary's own") }
    )

    static let canaryOfMemory = Fuzzer(
        "canary-memory",
        promise: "none: an input that begins with `Tide` reads past the end, and must be found",
        maximumByteCount: 4,
        seeds: { [[]] },
        check: { input in
            guard Canary.isReached(by: input) else { return }
            let byte = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
            defer { byte.deallocate() }
            byte.pointee = 0
            expect(byte[input.count] < 255, "nothing: the address sanitizer comes first")
        }
    )
}

private enum Canary {
    @inline(never)
    static func isReached(by input: [UInt8]) -> Bool {
        guard input.count > 3 else { return false }
        if input[0] == UInt8(ascii: "T") {
            if input[1] == UInt8(ascii: "i") {
                if input[2] == UInt8(ascii: "d") {
                    if input[3] == UInt8(ascii: "e") { return true }
                }
            }
        }
        return false
    }
}
