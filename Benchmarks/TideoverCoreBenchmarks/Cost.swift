import CTideoverAllocations
import Glibc

/// The cost of one call, on one thread.
struct Cost {
    let nanoseconds: Double
    let allocations: Double

    /// Calls `body` with the call's number until the time is over, at least once. Returns the
    /// minimum of five such runs, to reduce the effect of other work on the machine.
    static func of(seconds: Double, _ body: (Int) -> Int) -> Cost {
        _ = body(0)
        let runs = (0..<5).map { _ in run(nanoseconds: seconds * 200_000_000, body) }
        return Cost(
            nanoseconds: runs.map(\.nanoseconds).min() ?? 0,
            allocations: runs.map(\.allocations).min() ?? 0
        )
    }

    private static func run(nanoseconds limit: Double, _ body: (Int) -> Int) -> Cost {
        var calls = 0
        var sum = 0
        let allocated = tideover_allocation_count()
        let began = now()
        var end = began
        // The clock is read only at intervals, because that takes as long as a standing.
        var portion = 1
        while end - began < limit {
            for _ in 0..<portion {
                sum &+= body(calls)
                calls += 1
            }
            end = now()
            if end - began < limit / 100 { portion *= 2 }
        }
        precondition(sum != 0, "every call leads to something")
        return Cost(
            nanoseconds: (end - began) / Double(calls),
            allocations: Double(tideover_allocation_count() - allocated) / Double(calls)
        )
    }

    /// Measures a single call, for work that takes seconds.
    static func ofOne(_ body: () -> Int) -> Cost {
        let allocated = tideover_allocation_count()
        let began = now()
        precondition(body() != 0, "every call leads to something")
        let nanoseconds = now() - began
        return Cost(
            nanoseconds: nanoseconds,
            allocations: Double(tideover_allocation_count() - allocated)
        )
    }

    /// Returns the thread's own processor time in nanoseconds, without the time of other threads.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000_000_000 + Double(time.tv_nsec)
    }
}

extension Double {
    /// The number with three digits, and with separated thousands.
    var written: String {
        if self >= 100 { return Self.grouped(Int(rounded())) }
        let places = self >= 10 ? 10.0 : 100.0
        let whole = Int((self * places).rounded())
        let fraction = String(whole % Int(places))
        let zeros = String(repeating: "0", count: (places == 10 ? 1 : 2) - fraction.count)
        return "\(whole / Int(places)).\(zeros)\(fraction)"
    }

    private static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset).isMultiple(of: 3) { text += "," }
            text.append(digit.element)
        }
    }
}
