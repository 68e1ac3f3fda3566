import Glibc

/// Called by libFuzzer at the start. The variable `TIDEOVER_FUZZER` selects the fuzzer;
/// `TIDEOVER_FUZZ_LIST` lists all of them. `TIDEOVER_FUZZ_PREPARE` names a folder for the seeds and
/// dictionaries of all fuzzers.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_: UnsafeMutableRawPointer, _: UnsafeMutableRawPointer) -> Int32 {
    if Variable.read("TIDEOVER_FUZZ_LIST") != nil {
        for fuzzer in Registry.all { print(fuzzer.name) }
        exit(0)
    }
    if let folder = Variable.read("TIDEOVER_FUZZ_PREPARE") {
        for fuzzer in Registry.all { Preparation.write(fuzzer, to: folder) }
        exit(0)
    }
    _ = Registry.chosen
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    guard input.count <= Registry.chosen.maximumByteCount else { return -1 }
    Registry.chosen.check(input)
    return 0
}

/// Called by libFuzzer for each input that it derives from another.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(
    _ data: UnsafeMutablePointer<UInt8>,
    _ count: Int,
    _ most: Int,
    _ seed: UInt32
) -> Int {
    var dice = Dice(seed: UInt64(seed))
    let most = min(most, Registry.chosen.maximumByteCount)
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    let changed = Registry.chosen.mutate(input, most, &dice)
    let kept = changed.count <= most ? changed : Mutations.bytes(input, most: most)
    _ = UnsafeMutableBufferPointer(start: data, count: most).update(fromContentsOf: kept)
    return kept.count
}
