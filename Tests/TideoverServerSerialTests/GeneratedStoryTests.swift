import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

@testable import TideoverTestServer

/// Stories generated from a seed, with faulty messages and responses. `scripts/stories.sh` plays
/// many more.
@Suite struct GeneratedStoryTests {
    private func verdict(
        _ scenario: Scenario,
        planting: (inout ScenarioTarget) -> Void = { _ in }
    ) async throws -> StoryOracle {
        try await Rehearsal.played(scenario, keepsUp: true, planting: { planting(&$1) }) {
            $1.storyOracle
        }
    }

    @Test(arguments: StoryKind.allCases)
    func `without disturbances the answer matches the state of the store`(
        kind: StoryKind
    ) async throws {
        let verdict = try await verdict(.generated(seed: 1, of: kind))
        #expect(verdict.faults == [])
        #expect(verdict.lockoutMinutes == 0)
        #expect(verdict.quietAnswers >= (kind == .appStore ? 6 : 3))
    }

    /// With Google Play purchases that only the device reports.
    @Test(arguments: [3, 34] as [UInt64])
    func `a device presents its purchases of one store`(seed: UInt64) async throws {
        let verdict = try await verdict(.generated(seed: seed, of: .googlePlay))
        #expect(verdict.faults == [])
        #expect(verdict.lockoutMinutes == 0)
    }

    @Test(arguments: StoryKind.allCases)
    func `disturbances also affect the requests to the stores`(
        kind: StoryKind
    ) async throws {
        let statuses = Locked<Set<Int>>([])
        _ = try await verdict(beginning(of: kind)) { target in
            let note: @Sendable (@escaping Handler) -> Handler = { store in
                { request in
                    let response = try await store(request)
                    statuses.withLock { _ = $0.insert(response.status) }
                    return response
                }
            }
            let (meet, meetGoogle) = (target.meetStore, target.googlePlay.meetGoogle)
            target.meetStore = { await meet(note($0)) }
            target.googlePlay.meetGoogle = { await meetGoogle(note($0)) }
        }
        let seen = statuses.withLock { $0 }
        #expect(seen.isSuperset(of: [200, 429, 503]), "\(seen)")
    }

    @Test func `a story is the same for the same seed`() {
        for kind in StoryKind.allCases {
            let story = Scenario.generated(seed: 5, of: kind)
            #expect(story == Scenario.generated(seed: 5, of: kind))
            #expect(story != Scenario.generated(seed: 6, of: kind))
        }
    }

    // MARK: Planted faults

    /// Returns a story until its first quiet point.
    private func beginning(of kind: StoryKind, seed: UInt64 = 1) -> Scenario {
        let story = Scenario.generated(seed: seed, of: kind)
        let recovery = story.steps.first { $0.action == .endDisturbances }?.line ?? .max
        let quiet = story.steps.first { $0.line > recovery && $0.action == .catchUp }?.line ?? .max
        return story.without(Set(story.steps.map(\.line).filter { $0 > quiet + 1 }))
    }

    @Test(arguments: [StoryKind.appStore, .googlePlay])
    func `a story detects a back end that repeats its first answer`(
        kind: StoryKind
    ) async throws {
        let verdict = try await verdict(beginning(of: kind)) { target in
            let answer = target.readBack
            let first = Locked<[String: Response]>([:])
            target.readBack = { request in
                if let kept = first.withLock({ $0[request.path] }) { return kept }
                let response = try await answer(request)
                first.withLock { $0[request.path] = response }
                return response
            }
        }
        #expect(!verdict.faults.isEmpty)
    }

    /// With seeds that reveal the fault: the whole story for the App Store, and the beginning for
    /// others.
    @Test(
        arguments: [
            (PlantedFault.graceByExpiry, StoryKind.appStore, 1), (.holdAsActive, .appStore, 1),
            (.refundOfAnother, .appStore, 2),
            (.graceByExpiry, .googlePlay, 2), (.holdAsActive, .googlePlay, 4),
            (.voidedOrderEnds, .googlePlay, 19),
            (.lastMessageWins, .mixed, 17),
        ] as [(PlantedFault, StoryKind, UInt64)]
    )
    func `a story that passes without a planted fault detects the fault`(
        fault: PlantedFault,
        kind: StoryKind,
        seed: UInt64
    ) async throws {
        let story =
            kind == .appStore
            ? Scenario.generated(seed: seed, of: kind) : beginning(of: kind, seed: seed)
        let planted = try await verdict(story) { fault.plant(in: &$0) }
        #expect(!planted.faults.isEmpty)
        #expect(try await verdict(story).faults == [])
    }

    @Test func `a story detects expiries of Google Play that are a month early`() async throws {
        let story = beginning(of: .googlePlay)
        // Without other disturbances, so that every lockout counts.
        let disturbances = story.steps.filter { step in
            guard case .googlePlay(let action) = step.action else { return false }
            switch action.deed {
            case .disturb, .disturbNotifications, .disturbPubSub: return true
            default: return false
            }
        }
        let calm = story.without(Set(disturbances.map(\.line)))
        let verdict = try await verdict(calm) { target in
            let meet = target.googlePlay.meetGoogle
            target.googlePlay.meetGoogle = { google in
                await meet { try await google($0).withEarlierExpiries }
            }
        }
        #expect(!verdict.faults.isEmpty)
        #expect(verdict.lockoutMinutes > 0)
    }

    @Test func `a failing story is reduced to fewer steps`() async throws {
        let story = Scenario.generated(seed: 1, of: .appStore)
        let shrunk = await story.shrunk { $0.steps.contains { $0.line == 7 } }
        let kept = story.steps.filter { step in
            switch step.action {
            case .openApp, .catchUp, .endDisturbances: true
            default: step.line == 7
            }
        }
        #expect(shrunk.steps == kept)
    }
}

extension Response {
    /// A Google resource with items that expire thirty days earlier.
    fileprivate var withEarlierExpiries: Response {
        guard case .object(var resource)? = try? JSONValue(JSONDocument(body).root),
            case .array(let items)? = resource["lineItems"]
        else { return self }
        resource["lineItems"] = .array(
            items.map { item in
                guard case .object(var item) = item,
                    let expiry = item["expiryTime"]?.string.flatMap(InstantText.read)
                else { return item }
                item["expiryTime"] = .string(InstantText.write(expiry - 30 * 86_400_000))
                return .object(item)
            }
        )
        var response = self
        response.body = JSONValue.object(resource).encoded()
        return response
    }
}
