import TideoverCalendar
import TideoverHTTP
import TideoverJSON

// The Server API's endpoints for notifications: the history of those sent, and tests.

extension AppStoreService {
    /// Sent notifications, oldest first, 20 a page.
    /// https://developer.apple.com/documentation/appstoreserverapi/get-notification-history
    func notificationHistory(_ call: AppStoreCall) throws(Failure) -> JSONObject {
        let query = try AppStoreNotificationQuery(try body(of: call), machine, dial)
        let token = call.request.queryValue("paginationToken")
        let start = min(try query.number(behind: token), post.end)
        var rest = post.letters.dropFirst(max(0, start - post.first))
        var records: [JSONValue] = []
        while records.count < 20, let letter = rest.popFirst() {
            if query.matches(letter) { records.append(.object(try record(of: letter))) }
        }
        let hasMore = rest.contains(where: query.matches)
        var answer: JSONObject = [
            "hasMore": .bool(hasMore), "notificationHistory": .array(records),
        ]
        if hasMore { answer["paginationToken"] = .string(query.token(post.end - rest.count)) }
        return answer
    }

    private func record(of letter: AppStorePost.DeliveryRecord) throws(Failure) -> JSONObject {
        let payload: JSONValue
        do {
            payload = try authority.signed(letter.notification)
        } catch {
            throw .signing(error)
        }
        let attempts = letter.attempts.map { attempt in
            JSONValue.object([
                "attemptDate": .integer(attempt.at),
                "sendAttemptResult": .string(attempt.result.rawValue),
            ])
        }
        return ["signedPayload": payload, "sendAttempts": .array(attempts)]
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/request-a-test-notification
    mutating func requestTest() throws(Failure) -> JSONObject {
        guard hasNotificationURL else { throw .api(.noNotificationURL) }
        let notification = machine.requestTestNotification()
        let token = "\(notification.uuid)_\(notification.signedDate)"
        tests.append(Test(token: token, at: now, letter: post.post([notification])))
        return ["testNotificationToken": .string(token)]
    }

    /// A test has a status from its first attempt until half a year after it.
    /// https://developer.apple.com/documentation/appstoreserverapi/get-test-notification-status
    func testStatus(_ call: AppStoreCall) throws(Failure) -> JSONObject {
        let parts = call.id.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, isUUID(String(parts[0])), Int64(parts[1]) != nil else {
            throw .api(.testNotificationToken)
        }
        guard let test = tests.first(where: { $0.token == call.id }),
            now - test.at <= Self.longestMemory,
            let letter = post.letter(test.letter), !letter.attempts.isEmpty
        else { throw .api(.testNotificationNotFound) }
        return try record(of: letter)
    }

    // MARK: Expiry

    /// How long the API reports anything that was sent or requested, in milliseconds.
    private static let longestMemory = 180 * CivilDate.millisecondsPerDay

    /// Drops records that no response reports any more; never customers and their purchases. No
    /// notification may be in progress.
    mutating func forget() {
        let (oldest, shown) = (
            now - Self.longestMemory, dial.present(at: now) - Self.longestMemory
        )
        post.forget { [dial] letter in
            let date = letter.notification.signedDate
            return letter.attempts.isEmpty || date >= oldest || dial.shown(date) >= shown
        }
        wire.forget(before: post.first)
        tests.removeAll { $0.at < oldest }
        consumptions.removeAll { $0.at < oldest }
    }
}

/// Whether a text is a UUID, in upper or lower case.
func isUUID(_ text: String) -> Bool {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
        && groups.allSatisfy { $0.allSatisfy(isHex) }
}

private func isHex(_ character: Character) -> Bool {
    character.isASCII && character.isHexDigit
}

/// The parameters of a request for the notification history.
private struct AppStoreNotificationQuery {
    private let start: Int64
    private let end: Int64
    private let onlyFailures: Bool
    private let type: String?
    private let subtype: String?
    private let customer: String?
    /// A short digest of the request: a token is valid only for the request that created it.
    private let digest: String

    /// Returns the number of days in the history.
    private static func keptDays(_ environment: AppStoreEnvironment) -> Int64 {
        switch environment {
        case .production: 180
        case .sandbox: 30
        }
    }

    init(
        _ body: JSONNode,
        _ store: AppStoreMachine,
        _ dial: StoreTimeScale
    ) throws(AppStoreService.Failure) {
        guard let start = body["startDate"]?.int64 else { throw .api(.startDate) }
        guard let end = body["endDate"]?.int64 else { throw .api(.endDate) }
        let kept = Self.keptDays(store.app.environment) * CivilDate.millisecondsPerDay
        guard start >= dial.present(at: store.now) - kept else { throw .api(.startDateTooOld) }
        guard start < end else { throw .api(.startAfterEnd) }
        self.start = dial.first(at: start)
        self.end = min(dial.last(at: end), store.now)
        (type, subtype) = try Self.kind(body)
        customer = try Self.customer(body, store)
        guard type == nil || customer == nil else { throw .api(.multipleFilters) }
        onlyFailures = body["onlyFailures"]?.bool ?? false
        digest = storeHash(
            of: "\(start) \(end) \(type ?? "") \(subtype ?? "") \(customer ?? "") \(onlyFailures)"
        )
    }

    private static func kind(
        _ body: JSONNode
    ) throws(AppStoreService.Failure) -> (type: String?, subtype: String?) {
        let subtype = body["notificationSubtype"]
        guard let node = body["notificationType"] else {
            guard subtype == nil else { throw .api(.notificationType) }
            return (nil, nil)
        }
        guard let type = node.string, let known = AppStoreWire.notificationKinds[type],
            subtype == nil || known.contains(subtype?.string ?? "")
        else { throw .api(.notificationType) }
        return (type, subtype?.string)
    }

    private static func customer(
        _ body: JSONNode,
        _ store: AppStoreMachine
    ) throws(AppStoreService.Failure) -> String? {
        guard let node = body["transactionId"] else { return nil }
        guard let id = node.string, !id.isEmpty else { throw .api(.transactionId) }
        guard let customer = store.customer(of: id) else { throw .api(.transactionNotFound) }
        return customer
    }

    /// A notification without an attempt is not in the history yet.
    func matches(_ letter: AppStorePost.DeliveryRecord) -> Bool {
        let notification = letter.notification
        let date = notification.signedDate
        return !letter.attempts.isEmpty && start <= date && date <= end
            && (!onlyFailures || !letter.isDelivered)
            && (customer.map { $0 == notification.customer } ?? true)
            && (type.map { $0 == notification.event.notificationType } ?? true)
            && (subtype.map { $0 == notification.event.subtype } ?? true)
    }

    func token(_ number: Int) -> String { "\(number)_\(digest)" }

    /// Returns the start of the next page; 0 without a token.
    func number(behind token: String?) throws(AppStoreService.Failure) -> Int {
        guard let token else { return 0 }
        let parts = token.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int(parts[0]), number >= 0, parts[1] == digest else {
            throw .api(.paginationToken)
        }
        return number
    }
}
