package import TideoverCore
package import TideoverHTTP
import TideoverJSON

/// A Pub/Sub client that pulls the messages of one subscription, for servers that pushes cannot
/// reach. It sends requests through a handler, which adds the URL, and makes no decisions.
/// https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions
package struct PubSubAPI: Sendable {
    package let subscription: PubSubSubscription
    private let access: PlayAccess
    private let handler: Handler

    /// The URL of Google's own Pub/Sub.
    package static let url = "https://pubsub.googleapis.com"
    /// The longest duration of a pull request. After a little more time, the request counts as
    /// lost.
    package static let longestPull = Milliseconds.seconds(90)
    /// The longest delay of a message.
    package static let longestDelay = Milliseconds.seconds(600)

    /// Creates a client. `access` provides tokens for ``ServiceAccount/pubSubScope``.
    package init(
        subscription: PubSubSubscription,
        access: PlayAccess,
        handler: @escaping Handler
    ) {
        self.subscription = subscription
        self.access = access
        self.handler = handler
    }
}

/// The name of a subscription, `projects/P/subscriptions/S`.
package struct PubSubSubscription: Hashable, Sendable {
    package let name: String

    /// Nil for any other format.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "projects", parts[2] == "subscriptions",
            [parts[1], parts[3]].allSatisfy({ Self.isPart($0.utf8) })
        else { return nil }
        name = text
    }

    /// A project ID may have a domain: `example.com:project`.
    private static func isPart(_ part: Substring.UTF8View) -> Bool {
        (1...255).contains(part.count)
            && part.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x3A, 0x5F, 0x7E: true
                default: false
                }
            }
    }
}

/// A pulled message and the ID to acknowledge it with.
package struct PulledMessage: Sendable {
    package let ackId: String
    /// The message, or the reason why it is unreadable. One unreadable message does not affect the
    /// others.
    package let message: Result<PubSubMessage, PlayRefusal>
}

// MARK: - Requests

extension PubSubAPI {
    /// Pulls unacknowledged messages. Returns an empty list if none arrive for a while.
    ///
    /// - Throws: ``PubSubFailure``, or `CancellationError` if the task was cancelled.
    package func pull(atMost count: Int) async throws -> [PulledMessage] {
        let response = try await ask("pull", ["maxMessages": .integer(Int64(count))])
        do {
            let document = try JSONDocument(response.body, limits: .storeAnswer)
            let answer = try WireFields(document.root, path: "answer")
            return try answer.list("receivedMessages", PulledMessage.init)
        } catch let error as JSONError {
            throw PubSubFailure.malformed(.malformedJSON(error))
        } catch let error as PlayRefusal {
            throw PubSubFailure.malformed(error)
        }
    }

    /// Acknowledges stored messages, so Pub/Sub does not deliver them again.
    ///
    /// - Throws: The same errors as a pull.
    package func acknowledge(_ ackIds: [String]) async throws {
        guard !ackIds.isEmpty else { return }
        _ = try await ask("acknowledge", ["ackIds": .array(ackIds.map { .string($0) })])
    }

    /// Requests redelivery of messages after a delay, ten minutes at most.
    ///
    /// - Throws: The same errors as a pull.
    package func putOff(_ ackIds: [String], by delay: Milliseconds) async throws {
        guard !ackIds.isEmpty else { return }
        let seconds = min(max(.zero, delay), Self.longestDelay).count / 1000
        let ids = JSONValue.array(ackIds.map { .string($0) })
        _ = try await ask(
            "modifyAckDeadline",
            ["ackIds": ids, "ackDeadlineSeconds": .integer(seconds)]
        )
    }

    private func ask(_ verb: String, _ body: JSONObject) async throws -> Response {
        let token: PlayAccessToken
        do {
            token = try await access.token()
        } catch let failure as PlayAccessFailure {
            throw PubSubFailure.noAccess(failure)
        }
        let request = Request(
            method: "POST",
            path: "/v1/\(subscription.name):\(verb)",
            headers: [
                "Authorization": "Bearer \(token.text)", "Accept": "application/json",
                "Content-Type": "application/json",
            ],
            body: JSONValue.object(body).encoded()
        )
        let response: Response
        do {
            response = try await handler(request)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw PubSubFailure.unreachable(error)
        }
        guard !(200..<300).contains(response.status) else { return response }
        if response.status == 401 { await access.forget(token) }
        throw PubSubFailure.status(response.status)
    }
}

extension PulledMessage {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        guard let id = try fields.text("ackId") else { throw fields.missing("ackId") }
        ackId = id
        do throws(PlayRefusal) {
            guard let message = try fields.fields("message") else {
                throw fields.missing("message")
            }
            self.message = .success(try PubSubMessage(message, in: fields))
        } catch {
            message = .failure(error)
        }
    }
}

/// Describes why Pub/Sub returned no result.
package enum PubSubFailure: Error, Sendable {
    /// Nothing was sent: Google issued no token.
    case noAccess(PlayAccessFailure)
    case unreachable(any Error)
    case status(Int)
    case malformed(PlayRefusal)
}

extension PubSubFailure: CustomStringConvertible {
    /// A stable code for the reason.
    package var code: String {
        switch self {
        case .noAccess: "no-token"
        case .unreachable: "unreachable"
        case .status(let status): "http-\(status)"
        case .malformed: "malformed"
        }
    }

    /// A description of the reason for logs.
    package var sentence: String {
        switch self {
        case .noAccess(let failure): failure.sentence
        case .unreachable: "Pub/Sub could not be reached."
        case .status(403):
            "The service account cannot pull: give it the role Pub/Sub Subscriber on the "
                + "subscription."
        case .status(404): "Pub/Sub has no subscription with that name."
        case .status(let status): "Pub/Sub answered \(status)."
        case .malformed(let refusal): "Pub/Sub's answer was not understood. \(refusal)"
        }
    }

    package var description: String { sentence }
}
