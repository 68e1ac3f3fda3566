import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Reads the history of notifications that the store sent or tried to send.
extension Backfiller {
    /// How far before the end of the last walk the next one starts. A notification signed before
    /// that end may have been sent, and listed, after it.
    private static let overlap = Milliseconds.hours(1)
    /// The history of a store that does not reach back 180 days.
    private static let shortReach = Milliseconds.days(30)
    /// The margin for the difference of the store's clock and ours.
    private static let margin = Milliseconds.minutes(10)
    private static let mostPages = 1_000_000
    /// The window at the earliest start. Each later window is longer, by its distance from there.
    private static let shortestWindow = Milliseconds.days(1)
    /// The maximum number of windows in one run. Eight reach from the earliest start until now.
    private static let mostWindows = 16

    /// Reads the history from the end of the last walk until now: window by window, and each page
    /// by page.
    func readNotifications(onlyFailures: Bool) async throws {
        let step: BackfillStep = onlyFailures ? .failedNotifications : .notifications
        let begun = timing.clock()
        var mark = try cursors.history(step.rawValue)
        for _ in 0..<Self.mostWindows where mark.finishedUntil.map({ $0 < begun }) ?? true {
            mark = try await walk(mark, onlyFailures: onlyFailures, step)
        }
    }

    private func walk(
        _ mark: HistoryBookmark,
        onlyFailures: Bool,
        _ step: BackfillStep
    ) async throws -> HistoryBookmark {
        var mark = mark
        do {
            return try await pages(askable(mark), onlyFailures: onlyFailures, step)
        } catch let failure as AppStoreAPIFailure {
            // Retry once: from the first page, or with the shortest history that every store has.
            // A simulated store's clock may advance by years before the request is sent.
            mark = try cursors.history(step.rawValue)
            switch failure.knownCode {
            case _ where failure.isStartTooOld: mark.window = nil
            case .invalidPaginationToken, .paginationTokenExpired: break
            case .startDateTooFarInPast where mark.place != nil: mark.window = nil
            case .startDateTooFarInPast:
                let now = timing.clock()
                mark.window = .init(from: now - Self.shortReach + Self.margin, to: now)
            default: throw failure
            }
            mark.place = nil
            // Should it fail again, the next run does not begin with the refused place.
            try await cursors.keep(mark, step.rawValue)
            return try await pages(askable(mark), onlyFailures: onlyFailures, step)
        }
    }

    /// Returns the walk with a window that the store accepts.
    ///
    /// A window with a place goes on, however old its start. A new one is short if its start soon
    /// leaves the store's history: all its pages must be read before.
    private func askable(
        _ mark: HistoryBookmark
    ) -> (mark: HistoryBookmark, window: HistoryBookmark.Window) {
        let now = timing.clock()
        let earliest = earliestStart(at: now)
        if let window = mark.window, window.from < window.to,
            mark.place != nil || window.from >= earliest
        {
            return (mark, window)
        }
        var mark = mark
        let start = mark.finishedUntil.map { max($0 - Self.overlap, earliest) } ?? earliest
        let from = min(start, now - Self.overlap)
        let length = from - earliest + Self.shortestWindow
        let window = HistoryBookmark.Window(from: from, to: min(from + length, now))
        mark.window = window
        mark.place = nil
        return (mark, window)
    }

    /// Returns when the next walk could no longer begin where the last one ended; nil before the
    /// first walk. Notifications that were missed since are then lost.
    func historyEnd() throws(StorageError) -> Instant? {
        let now = timing.clock()
        let mark = try cursors.history(BackfillStep.notifications.rawValue)
        return mark.finishedUntil.map { $0 + (now - earliestStart(at: now)) }
    }

    private func earliestStart(at now: Instant) -> Instant {
        switch environment {
        case .sandbox: now - Self.shortReach + Self.margin
        case .production, .xcode, .simulated: NotificationHistoryFilter.earliestStart(at: now)
        }
    }

    /// Reads the pages of one window, and stores the progress after each.
    private func pages(
        _ begun: (mark: HistoryBookmark, window: HistoryBookmark.Window),
        onlyFailures: Bool,
        _ step: BackfillStep
    ) async throws -> HistoryBookmark {
        var (mark, window) = begun
        let filter = NotificationHistoryFilter(
            from: window.from,
            to: window.to,
            onlyFailures: onlyFailures
        )
        _ = try await walkPages(from: mark.place, atMost: Self.mostPages) { place in
            try await ask(.notificationHistory) {
                try await api.notificationHistory(filter, paginationToken: place)
            }
        } each: { answer in
            let page = answer.content
            try await take(try await read(page), in: step)
            note(step) { $0.pages += 1 }
            guard page.hasMore else { return true }
            mark.place = page.paginationToken
            try await cursors.keep(mark, step.rawValue)
            return true
        }
        note(step) { $0.until = window.to }
        mark = HistoryBookmark(finishedUntil: window.to)
        try await cursors.keep(mark, step.rawValue)
        return mark
    }

    private func read(_ page: NotificationHistoryPage) async throws -> [AppStoreAnswerItem] {
        let (trust, now) = (trust, timing.clock())
        return try await onPool { [api] in api.reader.read(page, check: trust.check(at: now)) }
    }
}
