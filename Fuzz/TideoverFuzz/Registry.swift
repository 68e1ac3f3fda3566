/// The list of all fuzzers; `scripts/fuzz.sh` and `docs/fuzzing.md` use it.
enum Registry {
    static let all: [Fuzzer] = [
        .strictJSON, .relaxedJSON, .base64, .jws, .signed, .chain, .pass, .notification, .apiAnswer,
        .http, .receipt, .receiptContent, .reconcile, .openIAP, .revenueCat, .revenueCatImport,
        .push, .pushToken, .playAnswer, .exportLine, .server, .canaryOfOracles, .canaryOfMemory,
    ]

    /// The fuzzer of this process.
    static let chosen: Fuzzer = {
        let name = Variable.read("TIDEOVER_FUZZER") ?? ""
        guard let fuzzer = all.first(where: { $0.name == name }) else {
            let names = all.map(\.name).joined(separator: " ")
            Failure.stop("TIDEOVER_FUZZER is \"\(name)\" and must be one of: \(names)")
        }
        return fuzzer
    }()
}
