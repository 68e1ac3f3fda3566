import TideoverCommandLine
import TideoverCore
import TideoverSandbox

/// Parameters of rehearsals with a back end on its machine's clock.
enum WallPace {
    static let month = Parameter.option(
        "--month",
        "LENGTH",
        "For a back end with its own clock: the store begins now, and this is its month",
        as: ValueForm("a length such as 30s, 5min or 720h") { milliseconds(in: $0) }
    )

    /// Creates a pace by the machine's clock that reports longer pauses. Without a month, the
    /// store's dates stay as they are.
    static func pace(month: Int64?, _ output: Output) -> ScenarioPace {
        ScenarioPace(
            month: month,
            clock: { SystemClock.now().millisecondsSince1970 },
            // The wait stops early only if the command is cancelled, and then it ends anyway.
            sleep: { try? await Task.sleep(for: .milliseconds($0)) },
            tell: { pause in
                guard pause.length >= 2000 else { return }
                let next = InstantText.writeForPeople(pause.until)
                output.message("tideover: until \(next) in the store \(words(pause.length)) pass")
            }
        )
    }

    /// Parses a number with its unit, without a space; nil for all other text and for zero.
    static func milliseconds(in text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), (1...1_000_000_000).contains(number) else { return nil }
        let units: [Substring: Int64] = [
            "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000,
        ]
        return units[text.dropFirst(digits.count)].map { number * $0 }
    }

    /// Formats a duration for people: whole seconds below two minutes, whole minutes below two
    /// hours, else hours.
    static func words(_ milliseconds: Int64) -> String {
        let seconds = (milliseconds + 999) / 1000
        if seconds < 120 { return "\(seconds) s" }
        return seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h"
    }
}

/// The clock of long-running simulated stores: the stores' own or the machine's.
enum StoreClockChoice: String, CaseIterable {
    case store, wall
}
