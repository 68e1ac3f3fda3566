import Glibc

/// Reports a failure: the process aborts, and libFuzzer stores the input.
enum Failure {
    /// Aborts the process with a message.
    static func stop(_ sentence: String) -> Never {
        let text = "\n== the promise is broken: \(sentence)\n"
        _ = write(STDERR_FILENO, text, text.utf8.count)
        abort()
    }
}

/// Aborts the process unless a condition is true.
func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) {
    if !condition { Failure.stop(sentence()) }
}

/// Aborts the process if `body` throws, which must not happen.
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
