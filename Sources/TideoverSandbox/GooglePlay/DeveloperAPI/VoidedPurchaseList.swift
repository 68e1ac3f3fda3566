import TideoverHTTP
import TideoverJSON

/// One page request for voided orders, with its filters.
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases/list
struct VoidedPurchaseList {
    private let since: Int64
    private let until: Int64
    /// The number of entries before the page.
    private let position: Int
    private let pageSize: Int
    private let includesSubscriptions: Bool
    private let includesPartialRefunds: Bool

    /// The age of the oldest orders in the list, in milliseconds.
    private static let reach: Int64 = 30 * 86_400_000

    init(_ call: PlayCall, at now: Int64, _ dial: StoreTimeScale) throws(PlayAPIError) {
        let request = call.request
        pageSize = Int(try Self.number("maxResults", in: 1...1000, of: call) ?? 1000)
        includesSubscriptions = try Self.number("type", in: 0...1, of: call) == 1
        includesPartialRefunds =
            request.queryValue("includeQuantityBasedPartialRefund") == "true"
        if let page = request.queryValue("token") {
            // A later page uses the times of the first one.
            let parts = page.split(separator: "-").map { Int64($0) }
            guard parts.count == 3, let since = parts[0], let until = parts[1],
                let position = parts[2], (0...1_000_000).contains(position)
            else { throw .invalidPageToken }
            (self.since, self.until, self.position) = (since, until, Int(position))
            return
        }
        let present = dial.present(at: now)
        let start = try Self.number("startTime", in: 0...Int64.max, of: call)
        let end = try Self.number("endTime", in: 0...Int64.max, of: call)
        let earliest = present - Self.reach
        guard start ?? earliest >= earliest else { throw .startTooOld }
        guard start ?? earliest < end ?? present else { throw .invalid }
        since = dial.first(at: start ?? earliest)
        until = end.map(dial.first) ?? now
        position = 0
    }

    private static func number(
        _ name: String,
        in range: ClosedRange<Int64>,
        of call: PlayCall
    ) throws(PlayAPIError) -> Int64? {
        guard let text = call.request.queryValue(name) else { return nil }
        guard let number = Int64(text), range.contains(number) else { throw .invalid }
        return number
    }

    func answer(of machine: GooglePlayMachine) -> JSONObject {
        let meant = machine.voided(since: since, until: until).filter { voided in
            (includesSubscriptions || voided.type == .oneTime)
                && (includesPartialRefunds || voided.quantity == nil)
        }
        let page = meant.dropFirst(position).prefix(pageSize)
        // Proto3 omits empty fields.
        var answer: JSONObject = [:]
        if !page.isEmpty {
            answer["voidedPurchases"] = .array(page.map { .object($0.resource) })
        }
        if position + page.count < meant.count {
            let next = "\(since)-\(until)-\(position + page.count)"
            answer["tokenPagination"] = ["nextPageToken": .string(next)]
        }
        return answer
    }
}
