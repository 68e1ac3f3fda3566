public import TideoverJSON

// A store that is laid aside and taken up again: what it knows, as JSON.

/// Why a saved store cannot be taken up.
public enum SavedStoreError: Error, Hashable, Sendable {
    /// It is not JSON.
    case syntax(JSONError)
    /// It was saved in a form that this version does not read.
    case format(String?)
    /// A part of it is missing or is of another kind; the place and what is wrong there.
    case content(String)
}

/// Everything that a store knows, apart from the keys that it signs with and those that open its API.
private struct SavedAppStore: Codable {
    static let format = "tideover.simulated-app-store.1"

    let format: String
    let machine: AppStoreMachine
    let post: AppStorePost
    let faults: FaultPlan<AppStoreFault, AppStoreOperation>
    let wireFaults: AppStoreWireFaultPlan
    let disturbed: [AppStorePost.Number]
    let overtaken: [AppStorePost.Number]
    let allowance: AppStoreAllowance
    let hasNotificationURL: Bool
    let tests: [AppStoreService.Test]
    let consumptions: [AppStoreConsumption]
    let finished: [String]
    let calls: [AppStoreCallRecord]

    init(_ service: AppStoreService) {
        format = SavedAppStore.format
        machine = service.machine
        post = service.post
        faults = service.faults
        wireFaults = service.wireFaults
        disturbed = service.disturbed.sorted()
        overtaken = service.overtaken
        allowance = service.allowance
        hasNotificationURL = service.hasNotificationURL
        tests = service.tests
        consumptions = service.consumptions
        finished = service.finished.sorted()
        calls = service.calls
    }

    func service(
        _ keys: [AppStoreAPIKey],
        _ authority: SandboxAuthority
    ) -> AppStoreService {
        var service = AppStoreService(
            machine: machine,
            seed: 0,
            lag: 0,
            keys: keys,
            authority: authority
        )
        service.post = post
        service.faults = faults
        service.wireFaults = wireFaults
        service.disturbed = Set(disturbed)
        service.overtaken = overtaken
        service.allowance = allowance
        service.hasNotificationURL = hasNotificationURL
        service.tests = tests
        service.consumptions = consumptions
        service.finished = Set(finished)
        service.calls = calls
        return service
    }
}

extension SimulatedAppStore {
    /// What the store knows, as JSON: a store made from it goes on as this one would. Keys are not part of
    /// it; an attempt at sending that is under way is to be ended before.
    public func saved() -> [UInt8] {
        do {
            return try StateEncoder.encode(SavedAppStore(service)).encoded()
        } catch {
            preconditionFailure("everything that a store knows can be written: \(error)")
        }
    }

    /// A store that goes on where another was saved.
    ///
    /// - Parameters:
    ///   - bytes: What `saved` wrote.
    ///   - authority: What everything it says is signed with from now on.
    ///   - keys: Whose tokens open the Server API.
    ///   - wait: How a slow answer is waited for; without one in real time.
    /// - Throws: why nothing can be made of the bytes.
    public init(
        resuming bytes: [UInt8],
        authority: SandboxAuthority,
        keys: [AppStoreAPIKey] = [],
        wait: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void = {
            try await Task.sleep(for: .milliseconds($0))
        }
    ) throws(SavedStoreError) {
        let json: JSONValue
        do {
            json = JSONValue(try JSONDocument(bytes, limits: .local).root)
        } catch {
            throw .syntax(error)
        }
        guard json["format"]?.string == SavedAppStore.format else {
            throw .format(json["format"]?.string)
        }
        let saved: SavedAppStore
        do {
            saved = try StateDecoder.decode(SavedAppStore.self, from: json)
        } catch let error as DecodingError {
            throw .content(error.words)
        } catch {
            throw .content("\(error)")
        }
        self.init(saved.service(keys, authority), wait: wait)
    }
}

extension DecodingError {
    fileprivate var words: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            let place = context.codingPath.map(\.stringValue).joined(separator: ".")
            return place.isEmpty
                ? context.debugDescription : "\(place): \(context.debugDescription)"
        @unknown default: return "\(self)"
        }
    }
}
