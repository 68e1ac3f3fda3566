import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// A device's report, the server's answer, and the resulting drift.
@Suite struct DriftTests {
    private static let now: Instant = "2026-05-20T10:00:00Z"
    private static let start: Instant = "2026-04-15T10:00:00Z"
    private static let end: Instant = "2026-05-15T10:00:00Z"
    private static let nextEnd: Instant = "2026-06-15T10:00:00Z"
    private static let lineage = Lineage(
        store: .appStore,
        environment: .production,
        id: "2000000000000001"
    )

    private static let allows = ServerWord(
        state: .active,
        confidence: .confirmed,
        until: nextEnd,
        productId: "cards.pro.monthly",
        lineage: lineage,
        saidAt: end
    )
    private static let denies = ServerWord(
        state: .expired,
        confidence: .confirmed,
        until: end,
        productId: "cards.pro.monthly",
        lineage: lineage,
        saidAt: start
    )
    private static let assumes = ServerWord(
        state: .expired,
        confidence: .unknown,
        until: end,
        lineage: lineage,
        saidAt: start
    )

    private func judge(
        _ conclusion: DeviceConclusion?,
        _ after: ServerWord,
        before: ServerWord? = nil,
        byDeviceClock: ServerWord? = nil,
        purchases: [String: DeviceReport.Purchase] = [:],
        news: [DriftJudge.News] = [],
        asked: [Lineage: Instant] = [:],
        at now: Instant = now
    ) throws -> DriftJudge {
        DriftJudge(
            customer: try #require(CustomerID("u_42")),
            environment: .production,
            now: now,
            report: conclusion.map { DeviceReport($0, purchases: purchases) },
            before: ["premium": before ?? after],
            after: ["premium": after],
            byDeviceClock: byDeviceClock.map { ["premium": $0] } ?? [:],
            news: news,
            asked: asked
        )
    }

    private func news(
        _ source: Source? = .deviceTransaction,
        since: Instant = end,
        wasKnown: Bool = true,
        _ ownership: OwnershipEntry.Why? = nil
    ) -> DriftJudge.News {
        DriftJudge.News(
            lineage: Self.lineage,
            source: source,
            since: since,
            wasKnown: wasKnown,
            ownership: ownership
        )
    }

    private func said(_ word: DeviceWord) -> DeviceConclusion {
        DeviceConclusion(words: ["premium": word])
    }

    // MARK: Direction

    @Test(
        arguments: [
            (DeviceWord(access: true, end: .at(nextEnd)), allows, nil),
            (DeviceWord(access: true, end: .at(nextEnd + .seconds(59))), allows, nil),
            (DeviceWord(access: true), allows, nil),
            (DeviceWord(access: false), denies, nil),
            (DeviceWord(access: false, end: .at(end)), allows, .deviceDeniesServerAllows),
            (DeviceWord(access: true, end: .at(nextEnd)), denies, .deviceAllowsServerDenies),
            (DeviceWord(access: true, end: .at(nextEnd + .seconds(61))), allows, .untilDiffers),
            (DeviceWord(access: true, end: .never), allows, .untilDiffers),
        ] as [(DeviceWord, ServerWord, Drift.Direction?)]
    )
    func `a difference has a direction, and agreement has none`(
        _ word: DeviceWord,
        _ server: ServerWord,
        _ direction: Drift.Direction?
    ) throws {
        let found = try judge(said(word), server).drifts(open: [])
        #expect(found.map(\.direction) == [direction].compactMap(\.self))
        #expect(found.allSatisfy { $0.isOpen && $0.openedAt == Self.now })
    }

    @Test func `an entitlement outside of the catalogue is not judged`() throws {
        let strange = DeviceConclusion(words: ["gold": DeviceWord(access: true)])
        #expect(try judge(strange, Self.denies).drifts(open: []).isEmpty)
    }

    // MARK: Cause

    private struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var conclusion: DeviceConclusion
        var server: ServerWord
        var byDeviceClock: ServerWord?
        var holder: DeviceReport.Holder?
        let cause: Drift.Cause
    }

    private static let cases: [Case] = [
        Case(
            testDescription: "the server is certain, and the device only has the old end",
            conclusion: DeviceConclusion(words: [
                "premium": DeviceWord(access: false, end: .at(end))
            ]),
            server: allows,
            cause: .staleDeviceCache
        ),
        Case(
            testDescription: "the device read the store before it reported the server's facts",
            conclusion: DeviceConclusion(
                askedAt: end - .hours(1),
                words: ["premium": DeviceWord(access: false)]
            ),
            server: allows,
            cause: .staleDeviceCache
        ),
        Case(
            testDescription: "the device read the store later and has newer facts",
            conclusion: DeviceConclusion(
                askedAt: now - .hours(1),
                words: ["premium": DeviceWord(access: false)]
            ),
            server: allows,
            cause: .missedNotification
        ),
        Case(
            testDescription: "the device has a later end",
            conclusion: DeviceConclusion(
                words: ["premium": DeviceWord(access: true, end: .at(nextEnd))]
            ),
            server: denies,
            cause: .missedNotification
        ),
        Case(
            testDescription: "the server only presumes",
            conclusion: DeviceConclusion(words: ["premium": DeviceWord(access: true)]),
            server: assumes,
            cause: .missedNotification
        ),
        Case(
            testDescription: "a refund that the device has not received",
            conclusion: DeviceConclusion(words: ["premium": DeviceWord(access: true, end: .at(end))]
            ),
            server: denies,
            cause: .staleDeviceCache
        ),
        Case(
            testDescription: "another environment",
            conclusion: DeviceConclusion(
                environment: "Sandbox",
                words: ["premium": DeviceWord(access: true, isVerified: false)]
            ),
            server: denies,
            cause: .environment
        ),
        Case(
            testDescription: "not verified",
            conclusion: DeviceConclusion(
                environment: "Production",
                words: ["premium": DeviceWord(access: false, end: .at(nextEnd), isVerified: false)]
            ),
            server: allows,
            cause: .unverifiedOnDevice
        ),
        Case(
            testDescription: "a clock a month ahead with the same end",
            conclusion: DeviceConclusion(
                at: now + .days(30),
                words: ["premium": DeviceWord(access: false, end: .at(nextEnd))]
            ),
            server: allows,
            cause: .clock
        ),
        Case(
            testDescription: "a slow clock that explains the difference",
            conclusion: DeviceConclusion(
                at: end - .days(1),
                words: ["premium": DeviceWord(access: true)]
            ),
            server: denies,
            byDeviceClock: allows,
            cause: .clock
        ),
        Case(
            testDescription: "a wrong clock that does not explain the difference",
            conclusion: DeviceConclusion(
                at: now + .minutes(6),
                words: ["premium": DeviceWord(access: true, end: .at(nextEnd))]
            ),
            server: denies,
            byDeviceClock: denies,
            cause: .missedNotification
        ),
        Case(
            testDescription: "a purchase of another customer",
            conclusion: DeviceConclusion(
                words: ["premium": DeviceWord(access: true, originalTransactionId: lineage.id)]
            ),
            server: ServerWord(state: .never, confidence: .unknown),
            holder: .another,
            cause: .otherCustomer
        ),
        Case(
            testDescription: "an unclaimed purchase",
            conclusion: DeviceConclusion(
                words: ["premium": DeviceWord(access: true, originalTransactionId: lineage.id)]
            ),
            server: ServerWord(state: .never, confidence: .unknown),
            holder: .nobody,
            cause: .unclaimedPurchase
        ),
        Case(
            testDescription: "an unfinished transaction",
            conclusion: DeviceConclusion(
                words: ["premium": DeviceWord(access: false, unfinished: ["2000000000000002"])]
            ),
            server: allows,
            holder: .customer,
            cause: .unfinishedTransaction
        ),
    ]

    @Test(arguments: cases)
    private func `a lasting difference has a cause`(_ example: Case) throws {
        let purchases = example.holder.map {
            [Self.lineage.id: DeviceReport.Purchase(lineage: Self.lineage, holder: $0)]
        }
        let found = try judge(
            example.conclusion,
            example.server,
            byDeviceClock: example.byDeviceClock,
            purchases: purchases ?? [:]
        ).drifts(open: [])
        #expect(found.map(\.cause) == [example.cause])
    }

    @Test func `a device report without a product refers to the refused purchase`() throws {
        var report = DeviceReport(said(DeviceWord(access: true)))
        report.refused = Self.lineage
        let judge = DriftJudge(
            customer: try #require(CustomerID("u_42")),
            environment: .production,
            now: Self.now,
            report: report,
            before: [:],
            after: ["premium": ServerWord(state: .never, confidence: .unknown)]
        )
        let found = judge.drifts(open: [])
        #expect(found.map(\.cause) == [.otherCustomer])
        #expect(found.map(\.lineage) == [Self.lineage])
    }

    @Test func `every cause has a case and a sentence`() {
        #expect(Set(Self.cases.map(\.cause)) == Set(Drift.Cause.allCases))
        #expect(Set(Drift.Cause.allCases.map(\.sentence)).count == Drift.Cause.allCases.count)
    }

    // MARK: Presented purchases

    @Test(arguments: [
        (DriftJudge.News?.none, [String](), Drift.Cause?.none, Drift.Healer?.none),
        (.some(.presented()), [], .missedNotification, .device),
        (.some(.presented()), ["1"], .unfinishedTransaction, .device),
        (.some(.presented(.claimed)), [], .unclaimedPurchase, .ownership),
        (.some(.presented(.claimed, wasKnown: false)), [], .missedNotification, .device),
        (.some(.presented(.transferred)), [], .otherCustomer, .ownership),
        (.some(.presented(since: now - .minutes(4))), [], nil, nil),
    ])
    func `a drift that the device's own evidence resolves is found and healed at once`(
        _ news: DriftJudge.News?,
        _ unfinished: [String],
        _ cause: Drift.Cause?,
        _ healer: Drift.Healer?
    ) throws {
        let word = DeviceWord(access: true, end: .at(Self.nextEnd), unfinished: unfinished)
        let found = try judge(
            said(word),
            Self.allows,
            before: Self.denies,
            news: [news].compactMap(\.self)
        ).drifts(open: [])
        #expect(found.map(\.cause) == [cause].compactMap(\.self))
        #expect(found.compactMap(\.healing?.by) == [healer].compactMap(\.self))
        #expect(found.allSatisfy { $0.timeToHeal == .zero && $0.server == Self.denies })
    }

    @Test func `a resolved drift is not found a second time`() throws {
        let word = DeviceWord(access: true, end: .at(Self.nextEnd))
        let judge = DriftJudge(
            customer: try #require(CustomerID("u_42")),
            environment: .production,
            now: Self.now,
            report: DeviceReport(said(word), mended: ["premium"]),
            before: ["premium": Self.denies],
            after: ["premium": Self.allows],
            news: [.presented()]
        )
        #expect(judge.drifts(open: []).isEmpty)
    }

    // MARK: Open drifts

    private func open(
        _ word: DeviceWord = DeviceWord(access: true, end: .at(nextEnd)),
        _ server: ServerWord = denies
    ) throws -> Drift {
        try #require(try judge(said(word), server).drifts(open: []).first)
    }

    @Test func `a repeated report opens nothing and heals nothing`() throws {
        let drift = try open()
        let again = try judge(
            said(drift.device),
            Self.denies,
            at: Self.now + .hours(1)
        ).drifts(open: [drift])
        #expect(again.isEmpty)
    }

    @Test(arguments: [
        (Source.appStoreNotification, Drift.Healer.notification), (.appStoreAPI, .asked),
        (.deviceTransaction, .device), (.operator, .operator),
    ])
    func `facts that lead to agreement heal the drift and name their source`(
        _ source: Source,
        _ healer: Drift.Healer
    ) throws {
        let drift = try open()
        let later = Self.now + .hours(5)
        let healed = try judge(nil, Self.allows, news: [news(source)], at: later)
            .drifts(open: [drift])
        #expect(healed.map(\.id) == [drift.id])
        #expect(healed.first?.healing == Drift.Healing(at: later, by: healer, access: true))
        #expect(healed.first?.timeToHeal == .hours(5))
    }

    @Test func `a device that agrees heals the drift`() throws {
        let drift = try open(DeviceWord(access: false, end: .at(Self.end)), Self.allows)
        let later = Self.now + .hours(2)
        let healed = try judge(
            said(DeviceWord(access: true, end: .at(Self.nextEnd))),
            Self.allows,
            at: later
        ).drifts(open: [drift])
        #expect(healed.map(\.healing) == [Drift.Healing(at: later, by: .device, access: true)])
    }

    @Test func `a device that reverses its answer heals one drift and opens another`() throws {
        let drift = try open(DeviceWord(access: false, end: .at(Self.end)), Self.allows)
        let found = try judge(
            said(DeviceWord(access: true, end: .never)),
            Self.allows,
            at: Self.now + .hours(2)
        ).drifts(open: [drift])
        #expect(found.map(\.direction) == [.deviceDeniesServerAllows, .untilDiffers])
        #expect(found.map(\.isOpen) == [false, true])
    }

    @Test func `the end stated by the device heals the drift`() throws {
        let drift = try open()
        let before = try judge(nil, Self.denies, at: Self.nextEnd - Milliseconds(1))
        #expect(before.drifts(open: [drift]).isEmpty)
        let then = try judge(nil, Self.denies, at: Self.nextEnd).drifts(open: [drift])
        #expect(then.map(\.healing?.by) == [.time])
    }

    @Test(arguments: [
        (Drift.Direction.deviceDeniesServerAllows, true, Milliseconds.hours(3)),
        (.deviceDeniesServerAllows, false, .zero), (.deviceAllowsServerDenies, true, .hours(3)),
        (.deviceAllowsServerDenies, false, .zero), (.untilDiffers, true, .zero),
    ])
    func `the side that denied access and later grants it caused the lockout`(
        _ direction: Drift.Direction,
        _ access: Bool,
        _ lockout: Milliseconds
    ) throws {
        var drift = try open()
        drift.direction = direction
        #expect(drift.lockout == nil)
        drift.healing = Drift.Healing(at: Self.now + .hours(3), by: .device, access: access)
        #expect(drift.lockout == lockout)
    }

    @Test func `a device that later denies access too records no lockout`() throws {
        let drift = try open()
        let healed = try judge(
            said(DeviceWord(access: false)),
            Self.denies,
            at: Self.now + .hours(1)
        ).drifts(open: [drift])
        #expect(healed.map(\.healing?.access) == [false])
        #expect(healed.map(\.lockout) == [.zero])
    }

    @Test func `a lookup that confirms the server makes the cause the device's cache`() throws {
        let drift = try open()
        #expect(drift.cause == .missedNotification)
        #expect(drift.asksStore)
        let later = Self.now + .seconds(1)
        let before = [Self.lineage: Self.now - Milliseconds(1)]
        #expect(try judge(nil, Self.denies, asked: before, at: later).drifts(open: [drift]).isEmpty)
        let found = try judge(nil, Self.denies, asked: [Self.lineage: later], at: later)
            .drifts(open: [drift])
        #expect(found.map(\.cause) == [.staleDeviceCache])
        #expect(found.allSatisfy { $0.isOpen && !$0.asksStore })
    }

    // MARK: Form

    @Test func `an open and a healed drift survive their JSON form`() throws {
        var drift = try open(
            DeviceWord(
                access: true,
                end: .never,
                productId: "cards.pro.monthly",
                originalTransactionId: "1",
                isVerified: false,
                unfinished: ["1", "2"]
            ),
            Self.denies
        )
        #expect(try readBack(drift) == drift)
        drift.healing = Drift.Healing(at: Self.now + .days(1), by: .operator, access: false)
        drift.lineage = nil
        drift.device = DeviceWord(access: false)
        drift.server = ServerWord(state: .never, confidence: .unknown)
        #expect(try readBack(drift) == drift)
    }

    private func readBack(_ drift: Drift) throws -> Drift {
        var writer = JSONWriter()
        drift.write(to: &writer)
        return try Drift(json: try JSONDocument(writer.bytes).root)
    }

    @Test func `required fields of a device report are strict, and the others are optional`()
        throws
    {
        let full = """
            {"deviceTime": "2026-05-20T10:00:00Z", "askedAt": "2026-05-20T09:00:00Z",
            "environment": "Production", "entitlements": {"premium": {"access": true, "until": null,
            "productId": "p", "originalTransactionId": "1", "verified": false, "unfinished": ["2"]},
            "extra": {"access": false}}, "somethingElse": 1}
            """
        let read = try DeviceConclusion(json: try JSONDocument(Array(full.utf8)).root)
        #expect(
            read
                == DeviceConclusion(
                    at: Self.now,
                    askedAt: Self.now - .hours(1),
                    environment: "Production",
                    words: [
                        "premium": DeviceWord(
                            access: true,
                            end: .never,
                            productId: "p",
                            originalTransactionId: "1",
                            isVerified: false,
                            unfinished: ["2"]
                        ), "extra": DeviceWord(access: false),
                    ]
                )
        )
        let long = String(repeating: "x", count: 256)
        for bad in [
            "[]", #"{"deviceTime": 7}"#, #"{"entitlements": []}"#,
            #"{"entitlements": {"premium": {}}}"#, #"{"entitlements": {"premium": true}}"#,
            #"{"entitlements": {"premium": {"access": true, "until": "soon"}}}"#,
            #"{"environment": "\#(long)"}"#,
        ] {
            #expect(throws: FormError.self, "\(bad)") {
                try DeviceConclusion(json: try JSONDocument(Array(bad.utf8)).root)
            }
        }
    }

    @Test func `ids increase with time and identify one difference at one instant`() throws {
        let drift = try open()
        let later = try #require(
            try judge(said(drift.device), Self.denies, at: Self.now + Milliseconds(1))
                .drifts(open: []).first
        )
        #expect(drift.id < later.id)
        #expect(try open().id == drift.id)
        #expect(drift.id.count == 29)
    }
}

extension DriftJudge.News {
    /// A purchase that a device presented, five days after the store dated it.
    fileprivate static func presented(
        _ ownership: OwnershipEntry.Why? = nil,
        since: Instant = "2026-05-15T10:00:00Z",
        wasKnown: Bool = true
    ) -> Self {
        Self(
            lineage: Lineage(store: .appStore, environment: .production, id: "2000000000000001"),
            source: .deviceTransaction,
            since: since,
            wasKnown: wasKnown,
            ownership: ownership
        )
    }
}

/// Sentences on drift for support staff.
@Suite struct DriftReplyTests {
    private static func drift(_ direction: Drift.Direction, _ cause: Drift.Cause) throws -> Drift {
        Drift(
            customer: try #require(CustomerID("u_42")),
            environment: .production,
            entitlement: "premium",
            lineage: nil,
            direction: direction,
            cause: cause,
            openedAt: "2026-05-20T10:00:00Z",
            device: DeviceWord(access: true),
            server: ServerWord(state: .expired, confidence: .confirmed)
        )
    }

    @Test func `an open drift contains the device's report and the remedy`() throws {
        #expect(
            try Self.drift(.deviceDeniesServerAllows, .clock).reply == [
                "On 20 May 2026 your device showed no access, although our records do.",
                "Please let your device set its date and time automatically.",
            ]
        )
    }

    @Test func `a healed drift contains only its time`() throws {
        var drift = try Self.drift(.untilDiffers, .missedNotification)
        drift.healing = Drift.Healing(
            at: "2026-05-21T09:00:00Z",
            by: .notification,
            access: true
        )
        #expect(
            drift.reply == [
                "A difference between your device and our records was settled on 21 May 2026."
            ]
        )
    }

    @Test(arguments: [
        (Milliseconds.seconds(59), String?.none), (.minutes(1), "1 minute"),
        (.minutes(119), "119 minutes"), (.hours(50), "50 hours"),
    ])
    func `a lockout is given in minutes, then in hours`(
        _ denied: Milliseconds,
        _ length: String?
    ) {
        let reply = Lockouts.reply(denied: denied)
        #expect((reply != nil) == (length != nil))
        if let length { #expect(reply?.contains("without access for \(length) in all") == true) }
    }

    @Test func `no reply contains an id or an identifier of the code`() throws {
        for direction in Drift.Direction.allCases {
            for cause in Drift.Cause.allCases {
                let reply = try Self.drift(direction, cause).reply.joined(separator: " ")
                #expect(!reply.contains("u_42") && !reply.contains(cause.rawValue + " "))
            }
        }
    }
}
