import TideoverHTTP
import TideoverJSON

// The calls of a back end that pulls from a subscription.
// https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions

extension PubSubQueue {
    /// Answers a permitted call, with the messages' instants converted by a dial.
    mutating func respond(
        to call: PlayCall,
        at now: Int64,
        _ dial: StoreTimeScale
    ) throws(PlayAPIError) -> JSONObject {
        guard call.ids.count == 2, name == "projects/\(call.ids[0])/subscriptions/\(call.ids[1])"
        else { throw .subscriptionNotFound }
        let body = try call.body()
        switch call.operation {
        case .pull:
            guard let count = body["maxMessages"]?.int64, (1...1000).contains(count) else {
                throw .invalid
            }
            let received = pull(Int(count), at: now)
            // Proto3 omits empty fields.
            guard !received.isEmpty else { return [:] }
            return ["receivedMessages": .array(received.map { .object($0.resource(dial)) })]
        case .acknowledgeMessages:
            acknowledge(try Self.ids(in: body), at: now)
        case .setDeadline:
            guard let seconds = body["ackDeadlineSeconds"]?.int64, (0...600).contains(seconds)
            else { throw .invalid }
            setDeadline(of: try Self.ids(in: body), seconds: seconds, at: now)
        default: throw .invalid
        }
        return [:]
    }

    private static func ids(in body: JSONNode) throws(PlayAPIError) -> [String] {
        let ids = body["ackIds"]?.elements.map { $0.string } ?? []
        guard !ids.isEmpty, !ids.contains(nil) else { throw .invalid }
        return ids.compactMap(\.self)
    }
}

extension PlayCall {
    /// The request body, an object; empty if there is no body.
    func body() throws(PlayAPIError) -> JSONNode {
        do {
            let text = request.body.isEmpty ? Array("{}".utf8) : request.body
            let root = try JSONDocument(text).root
            guard root.kind == .object else { throw PlayAPIError.invalid }
            return root
        } catch {
            throw .invalid
        }
    }
}
