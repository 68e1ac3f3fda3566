import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// The events do not depend on when the worker runs.
@Suite(.timeLimit(.minutes(20))) struct DeadlinePropertyTests {
    private static let seeds: Range<UInt64> = 0..<24

    /// When the worker runs between two messages.
    private enum Wakes {
        /// At each instant with a due deadline.
        case atEachBoundary
        /// At random instants.
        case atRandom(SeededDraws)
        /// Only when a message arrives.
        case never
    }

    /// Returns the kind, instant and id of each event of a life, in order.
    private func told(of life: MadeUpLife, _ wakes: Wakes) async throws -> [String] {
        let server = try TestServer()
        var wakes = wakes
        var now = Message.start
        for (instant, message) in life.messages {
            try await pass(from: now, to: instant, server, &wakes)
            #expect(try await server.post(message).status == 200)
            now = instant
        }
        try await pass(from: now, to: life.end, server, &wakes)
        let lines = try server.events().map { event in
            let body = try JSONDocument(event.event.body).root
            let id = body["id"]?.string ?? body["entitlement"]?.string ?? "?"
            return "\(event.event.at.rfc3339) \(event.event.kind) \(id)"
        }
        await server.close()
        return lines
    }

    private func pass(
        from start: Instant,
        to end: Instant,
        _ server: TestServer,
        _ wakes: inout Wakes
    ) async throws {
        switch wakes {
        case .never: break
        case .atEachBoundary:
            while let next = try next(server), next < end {
                server.set(next)
                #expect(await server.service.meetDueDeadlines())
            }
        case .atRandom(var draws):
            let length = (end - start).count
            let instants = (0..<draws.number(below: 4)).map { _ in
                start + Milliseconds(Int64(draws.number(below: Int(max(1, length)))))
            }
            for instant in instants.sorted() {
                server.set(instant)
                #expect(await server.service.meetDueDeadlines())
            }
            wakes = .atRandom(draws)
        }
        server.set(end)
        #expect(await server.service.meetDueDeadlines())
    }

    /// Returns the next instant with a due deadline.
    private func next(_ server: TestServer) throws -> Instant? {
        let reading = try server.storage.due(
            in: AppScope("cards", .sandbox),
            now: server.now,
            limit: 1
        )
        return reading.next
    }

    @Test(arguments: seeds)
    func `random wake-ups raise the same events as a wake-up at each boundary`(seed: UInt64)
        async throws
    {
        var draws = SeededDraws(seed: seed)
        let life = MadeUpLife(&draws)
        let exact = try await told(of: life, .atEachBoundary)
        #expect(exact.count > life.messages.count / 2, "seed \(seed)")
        #expect(
            Set(exact.filter { !$0.hasSuffix(" premium") }).count
                == exact.filter { !$0.hasSuffix(" premium") }.count,
            "seed \(seed): published twice"
        )
        let atRandom = try await told(of: life, .atRandom(draws))
        #expect(atRandom == exact, "seed \(seed)")
        let late = try await told(of: life, .never)
        #expect(late == exact, "seed \(seed)")
    }
}

/// A valid life of one subscription, as signed messages with their arrival times.
struct MadeUpLife {
    private(set) var messages: [(at: Instant, message: Message)] = []
    private(set) var end: Instant
    private var from = Message.start
    private var until = Message.end
    private var number = 1

    init(_ draws: inout SeededDraws) {
        end = Message.end
        say(at: from) { _ in }
        for _ in 0..<(1 + draws.number(below: 5)) {
            guard live(&draws) else { break }
        }
        end = max(messages.map(\.at).max() ?? until, until) + .days(80)
    }

    private mutating func say(
        at signed: Instant,
        after delay: Milliseconds = .seconds(5),
        _ change: (inout Message) -> Void
    ) {
        var message = Message.purchase("m-\(messages.count)", of: "1000001", signed: signed)
        message.last(from: from, to: until)
        message.transaction?["transactionId"] = .string("1000001-\(number)")
        message.transaction?["webOrderLineItemId"] = .string("1000001-\(number)")
        if number > 1 {
            message.type = "DID_RENEW"
            message.subtype = nil
            message.transaction?["transactionReason"] = "RENEWAL"
        }
        message.transaction?["originalPurchaseDate"] = Message.start.wire
        message.sign(at: signed)
        change(&message)
        messages.append((max(signed + delay, messages.last?.at ?? signed), message))
    }

    private mutating func renew(signed: Instant, from start: Instant, after delay: Milliseconds) {
        number += 1
        (from, until) = (start, start + Period(months: 1))
        say(at: signed, after: delay) { _ in }
    }

    /// Adds one term; false when the subscription ends.
    private mutating func live(_ draws: inout SeededDraws) -> Bool {
        switch draws.number(below: 6) {
        case 0:
            renew(signed: until - .hours(10), from: until, after: .seconds(5))
        case 1:
            // A late message: events for the time between are corrected.
            renew(signed: until, from: until, after: .hours(Int64(draws.number(below: 60))))
        case 2:
            fail(grace: true, &draws)
        case 3:
            fail(grace: false, &draws)
        case 4:
            say(at: from + .days(Int64(2 + draws.number(below: 20)))) { message in
                message.cancel(signed: message.signed)
            }
            return false
        default:
            let signed = from + .days(Int64(1 + draws.number(below: 25)))
            say(at: signed) { message in
                message.type = "REFUND"
                message.status = 5
                message.transaction?["revocationDate"] = signed.wire
                message.transaction?["revocationReason"] = 0
            }
            return false
        }
        return true
    }

    private mutating func fail(grace: Bool, _ draws: inout SeededDraws) {
        let graceUntil = grace ? until + .days(16) : nil
        say(at: until) { $0.fail(graceUntil: graceUntil) }
        let recovered = until + .days(Int64(1 + draws.number(below: 40)))
        // A recovery within grace keeps the billing date.
        let start = graceUntil.map { recovered < $0 } == true ? until : recovered
        renew(signed: recovered, from: start, after: .minutes(Int64(draws.number(below: 600))))
    }
}

/// SplitMix64: the same numbers for the same seed on every machine.
struct SeededDraws: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func number(below bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((z ^ (z >> 31)) % UInt64(bound))
    }
}
