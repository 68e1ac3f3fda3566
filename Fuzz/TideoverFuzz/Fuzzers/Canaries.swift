/// Fuzzers with a planted fault that must be found. Otherwise the other fuzzers would find nothing
/// either.
///
/// Both faults require three bytes that are compared one after the other. Random inputs would meet
/// them once in sixteen million. Only a fuzzer with coverage feedback finds them in seconds.
extension Fuzzer {
    static let canaryOfOracles = Fuzzer(
        "canary-oracle",
        promise: "none: an input that begins with `Tid` breaks it, and must be found",
        maximumByteCount: 64,
        seeds: { [[]] },
        check: { input in expect(!Canary.isReached(by: input), "the canary's own") }
    )

    static let canaryOfMemory = Fuzzer(
        "canary-memory",
        promise: "none: an input that begins with `Tid` reads past the end, and must be found",
        maximumByteCount: 64,
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
        guard input.count > 2 else { return false }
        if input[0] == UInt8(ascii: "T") {
            if input[1] == UInt8(ascii: "i") {
                if input[2] == UInt8(ascii: "d") { return true }
            }
        }
        return false
    }
}
