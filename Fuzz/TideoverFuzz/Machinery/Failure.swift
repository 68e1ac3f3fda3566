import Glibc

/// How a fuzzer says that something is wrong: libFuzzer sees the process abort, and keeps the input.
enum Failure {
    /// Ends the process with a sentence.
    static func stop(_ sentence: String) -> Never {
        let text = "\n== the promise is broken: \(sentence)\n"
        _ = write(STDERR_FILENO, text, text.utf8.count)
        abort()
    }
}

/// Ends the process unless a condition holds.
func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) {
    if !condition { Failure.stop(sentence()) }
}

/// Ends the process if something throws that cannot.
func unfailing<Value>(_ sentence: String, _ body: () throws -> Value) -> Value {
    do {
        return try body()
    } catch {
        Failure.stop("\(sentence): \(error)")
    }
}

/// A variable of the environment.
enum Variable {
    static func read(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
