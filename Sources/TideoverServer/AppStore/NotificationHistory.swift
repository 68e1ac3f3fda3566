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

    /// Reads the history from the end of the last walk until now, page by page.
    func readNotifications(onlyFailures: Bool) async throws {
        let step: BackfillStep = onlyFailures ? .failedNotifications : .notifications
        let begun = timing.clock()
        var mark = try cursors.history(step.rawValue)
        // A walk resumed from an earlier process ends in the past, so a second one follows.
        for _ in 0..<2 where mark.finishedUntil.map({ $0 < begun }) ?? true {
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
            switch failure.knownCode {
            case .invalidPaginationToken, .paginationTokenExpired:
                mark = try cursors.history(step.rawValue)
                mark.place = nil
            case .startDateTooFarInPast:
                let now = timing.clock()
                mark.window = .init(from: now - Self.shortReach + Self.margin, to: now)
                mark.place = nil
            default: throw failure
            }
            return try await pages(askable(mark), onlyFailures: onlyFailures, step)
        }
    }

    /// Returns the walk with a window that the store accepts.
    private func askable(
        _ mark: HistoryBookmark
    ) -> (mark: HistoryBookmark, window: HistoryBookmark.Window) {
        let now = timing.clock()
        let earliest = earliestStart(at: now)
        if let window = mark.window, window.from >= earliest, window.from < window.to {
            return (mark, window)
        }
        var mark = mark
        let from = mark.finishedUntil.map { max($0 - Self.overlap, earliest) } ?? earliest
        let window = HistoryBookmark.Window(from: min(from, now - Self.overlap), to: now)
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
