import TideoverCommandLine
import TideoverCore
import TideoverSandbox

/// Rehearsals with a back end that goes by its machine's clock, as the command line describes them.
enum WallPace {
    static let month = Parameter.option(
        "--month",
        "LENGTH",
        "For a back end with a clock of its own: the store begins now, and its month takes so long",
        as: ValueForm("a length such as 30s, 5min or 720h") { milliseconds(in: $0) }
    )

    /// A pace by the machine's clock that tells of longer pauses; without a month the store's dates stay
    /// as they are written.
    static func pace(month: Int64?, _ output: Output) -> ScenarioPace {
        ScenarioPace(
            month: month,
            clock: { SystemClock.now().millisecondsSince1970 },
            // Only a cancelled command is not waited for, and it ends anyway.
            sleep: { try? await Task.sleep(for: .milliseconds($0)) },
            tell: { pause in
                guard pause.length >= 2000 else { return }
                let next = InstantText.writeForPeople(pause.until)
                output.message("tideover: until \(next) in the store \(words(pause.length)) pass")
            }
        )
    }

    /// A number and its unit, without a space; nil for anything else and for nothing at all.
    static func milliseconds(in text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), (1...1_000_000_000).contains(number) else { return nil }
        let units: [Substring: Int64] = [
            "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000,
        ]
        return units[text.dropFirst(digits.count)].map { number * $0 }
    }

    /// A length for people: whole seconds below two minutes, whole minutes below two hours, else hours.
    static func words(_ milliseconds: Int64) -> String {
        let seconds = (milliseconds + 999) / 1000
        if seconds < 120 { return "\(seconds) s" }
        return seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h"
    }
}

/// Whose time counts where simulated stores stay.
enum StoreClockChoice: String, CaseIterable {
    case store, wall
}
