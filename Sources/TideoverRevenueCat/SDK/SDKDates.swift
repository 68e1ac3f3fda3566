import TideoverCore

// The SDKs read dates as `2031-05-06T10:00:00Z`. Whole seconds are the only form that every version
// reads.

extension Instant {
    private static let second: Int64 = 1000

    /// The last whole second that is not later.
    var roundedDown: Instant {
        let rest = millisecondsSince1970 % Self.second
        return self - Milliseconds(rest < 0 ? rest + Self.second : rest)
    }

    /// The first whole second that is not earlier.
    var roundedUp: Instant {
        let down = roundedDown
        return down == self ? down : down + .seconds(1)
    }

    /// The instant, rounded down, in the form that the SDKs read.
    var sdkText: String { String(roundedDown.rfc3339.dropLast(5)) + "Z" }
}

extension SDKCustomerInfo.Expiry {
    /// The end in the form that the SDKs read; nil for never.
    var sdkText: String? {
        switch self {
        case .never: nil
        case .active(let end): end.roundedUp.sdkText
        case .ended(let end): end.sdkText
        }
    }
}
