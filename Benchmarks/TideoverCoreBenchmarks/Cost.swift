import CTideoverAllocations
import Glibc

/// What one call costs, on one thread.
struct Cost {
    let nanoseconds: Double
    let allocations: Double

    /// Calls until the time is over, but at least once; the least of five such runs, so that what
    /// else the machine does counts as little as can be. The body is given the number of its call.
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
        // The clock is looked at now and then only: it takes as long as a standing.
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

    /// Once, for what takes seconds.
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

    /// The thread's own processor time, in nanoseconds: what others do does not count.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000_000_000 + Double(time.tv_nsec)
    }
}

extension Double {
    /// Three figures, with the thousands told apart.
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
