import TideoverCommandLine
import TideoverCore
import TideoverDashboard
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// A played story, with one course for each person.
struct RehearsalReport: Hashable, Sendable {
    let name: String
    let from: Instant
    let until: Instant
    /// One for each person, in the order of the story.
    let tracks: [CustomerTrack]
    /// The number of delivered store messages.
    let messages: Int
    /// The number of answers that the server gave about customers during the story.
    let answers: Int
    /// The number of answers that differ from the stores' own state.
    let wrongAnswers: Int
    /// The duration of the run.
    let took: Duration

    /// The total duration of one kind of mistake of an expiry check.
    func total(_ mistake: Mistake) -> Milliseconds {
        Milliseconds(tracks.reduce(0) { $0 + $1.total(mistake).count })
    }

    /// The number of people affected by one kind of mistake of an expiry check.
    func people(_ mistake: Mistake) -> Int {
        tracks.count { $0.total(mistake) > .zero }
    }

    /// The person to show in detail: one whom an expiry check locks out at the end, else the one
    /// locked out for longest.
    var protagonist: CustomerTrack? {
        let isDeniedNow = { (track: CustomerTrack) in
            track.mistakes.contains { $0.value == .lockedOut && $0.until == until }
        }
        return tracks.first(where: isDeniedNow)
            ?? tracks.max { $0.total(.lockedOut) < $1.total(.lockedOut) }
    }
}

extension RehearsalReport {
    /// Requests each person's timeline from the server that played the story.
    init(
        _ report: ScenarioReport,
        until end: Instant,
        took: Duration,
        asking server: Handler
    ) async throws {
        let scenario = report.scenario
        let people = scenario.customers.reduce(into: [[StoreCustomer]]()) { people, customer in
            if let place = people.firstIndex(where: { $0.first?.person == customer.person }) {
                people[place].append(customer)
            } else {
                people.append([customer])
            }
        }
        var tracks: [CustomerTrack] = []
        for accounts in people {
            let person = accounts.first?.person ?? ""
            tracks.append(
                try CustomerTrack(
                    of: accounts,
                    in: report,
                    timeline: try await Self.answer(
                        "timeline",
                        of: person,
                        scenario.app.id,
                        server
                    ),
                    until: end
                )
            )
        }
        let mistakes = report.readings.map { reading in
            reading.firstEntitlement.flatMap { reading.mistake(about: $0.name) }
        }
        name = scenario.name
        from = Instant(millisecondsSince1970: scenario.start)
        until = end
        self.tracks = tracks
        messages = report.moments.count { moment in
            switch moment.happening {
            case .notification, .push, .webhook: true
            case .action, .readBack: false
            }
        }
        answers = mistakes.count
        wrongAnswers = mistakes.count { $0 != nil }
        self.took = took
    }

    /// Returns a route's answer about a person of a rehearsed app, which needs no key.
    ///
    /// - Throws: `CommandFailure` for every answer that is not a success.
    static func answer(
        _ route: String,
        of person: String,
        _ app: String,
        _ server: Handler
    ) async throws -> JSONNode {
        let response = try await server(
            Request(
                path: "/v1/apps/\(app)/customers/\(person)/\(route)",
                query: [QueryItem(name: "environment", value: "simulated")]
            )
        )
        guard response.status == 200 else {
            throw CommandFailure(
                .software,
                "asked for the \(route), it answered \(response.status)"
            )
        }
        return try JSONDocument(response.body, limits: .local).root
    }
}

// MARK: - JSON

extension RehearsalReport {
    /// The courses and their totals, as JSON.
    var json: JSONObject {
        [
            "tookMilliseconds": .integer(Int64(took / .milliseconds(1))),
            "messages": .integer(Int64(messages)),
            "answers": .integer(Int64(answers)),
            "wrongAnswers": .integer(Int64(wrongAnswers)),
            "lockedOutMilliseconds": .integer(total(.lockedOut).count),
            "servedUnpaidMilliseconds": .integer(total(.servedUnpaid).count),
            "savedInGrace": .integer(Int64(tracks.reduce(0) { $0 + $1.savedInGrace })),
            "savedFromHold": .integer(Int64(tracks.reduce(0) { $0 + $1.savedFromHold })),
            "courses": .array(tracks.map(\.json)),
        ]
    }
}

extension CustomerTrack {
    fileprivate var json: JSONValue {
        [
            "name": .string(name),
            "customer": .string(person),
            "phases": .array(phases.map { $0.json($0.value.word) }),
            "expiryCheck": .array(
                mistakes.map { $0.json($0.value == .lockedOut ? "lockedOut" : "servedUnpaid") }
            ),
        ]
    }
}

extension ValueInterval {
    fileprivate func json(_ word: String) -> JSONValue {
        ["what": .string(word), "from": .string(from.rfc3339), "until": .string(until.rfc3339)]
    }
}
