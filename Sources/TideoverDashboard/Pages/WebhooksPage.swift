import TideoverCore
package import TideoverJSON

/// A change of a webhook that a person can make.
package enum WebhookAction: String, Hashable, Sendable, CaseIterable {
    case test, disable, enable

    /// What came of it.
    package enum Done: String, Hashable, Sendable {
        case delivered, undelivered, disabled, enabled

        var sentence: String {
            switch self {
            case .delivered: "The receiver accepted the test message."
            case .undelivered: "The receiver did not accept the test message."
            case .disabled: "The webhook is disabled. Its events wait."
            case .enabled: "The webhook is enabled. Events that waited are sent."
            }
        }
    }

    /// `isDelivered` is whether the receiver accepted the test message.
    package func done(isDelivered: Bool) -> Done {
        switch self {
        case .test: isDelivered ? .delivered : .undelivered
        case .disable: .disabled
        case .enable: .enabled
        }
    }

    fileprivate var label: String {
        switch self {
        case .test: "Send a test message"
        case .disable: "Disable"
        case .enable: "Enable"
        }
    }
}

/// A webhook with its latest attempts.
package struct WebhookView: Hashable, Sendable {
    let id: String
    let url: String
    let events: [String]
    /// Why it is disabled; nil if it is enabled.
    let disabled: String?
    let failingSince: Instant?
    let waiting: Figure
    let attempts: [Attempt]

    struct Attempt: Hashable, Sendable {
        let event: String
        let at: Instant
        let ordinal: Figure
        let outcome: String
        let status: Figure
        let detail: String?
    }

    package init(_ node: JSONNode, attempts: JSONNode) throws(UnexpectedAnswer) {
        id = try node.needText("id")
        url = try node.needText("url")
        events = node.texts("events")
        disabled = node.text("disabled")
        failingSince = node.instant("failingSince")
        waiting = try node.figure("waiting")
        self.attempts = try attempts.list("attempts").map { attempt throws(UnexpectedAnswer) in
            Attempt(
                event: try attempt.needText("event"),
                at: try attempt.needInstant("at"),
                ordinal: try attempt.figure("attempt"),
                outcome: try attempt.needText("outcome"),
                status: try attempt.figure("status"),
                detail: attempt.text("detail")
            )
        }
    }
}

/// The page with the webhooks of an app.
package enum WebhooksPage {
    package static func page(
        _ place: Place,
        _ webhooks: [WebhookView],
        formToken: String,
        done: WebhookAction.Done?
    ) -> Page {
        Page(
            "Webhooks",
            place: place,
            [
                .tag(.h1, [], "Webhooks of ", .name(place.app)),
                done.map {
                    .tag(.p, [.class("done"), .of(.role, "status")], .text($0.sentence))
                } ?? .nothing, webhooks.isEmpty ? none : .nothing,
                .group(
                    webhooks.enumerated().map { card($1, "webhook-\($0)", place, formToken) }
                ),
            ]
        )
    }

    private static let none = Parts.card(
        "No webhook",
        "none",
        [
            .tag(.p, [], "This app sends its events nowhere. Add a receiver with "),
            .tag(.p, [], .tag(.code, [], "tideover webhooks add")),
        ]
    )

    private static func card(
        _ webhook: WebhookView,
        _ id: String,
        _ place: Place,
        _ token: String
    ) -> HTML {
        let state: HTML =
            webhook.disabled.map { reason in
                .tag(.span, [.class("alarm")], "disabled: ", .name(Shown.words(reason)))
            } ?? "enabled"
        return Parts.card(
            .name(webhook.url),
            id,
            [
                Parts.facts([
                    ("State", state),
                    ("Failing since", Shown.time(webhook.failingSince, or: "does not fail")),
                    ("Events that wait", Shown.figure(webhook.waiting)),
                    ("Kinds of events", .name(webhook.events.joined(separator: ", "))),
                    ("Id", .tag(.code, [], .text(webhook.id))),
                ]),
                .tag(
                    .div,
                    [.class("buttons")],
                    form(.test, webhook, place, token),
                    form(webhook.disabled == nil ? .disable : .enable, webhook, place, token)
                ), attempts(webhook),
            ]
        )
    }

    private static func form(
        _ action: WebhookAction,
        _ webhook: WebhookView,
        _ place: Place,
        _ token: String
    ) -> HTML {
        Page.button(action.label, place.webhook(webhook.id, action), token)
    }

    private static func attempts(_ webhook: WebhookView) -> HTML {
        guard !webhook.attempts.isEmpty else { return Parts.quiet("Nothing was sent so far.") }
        return Parts.table(
            "The latest attempts, newest first",
            [
                .init(title: "At"), .init(title: "Event"), .init(title: "Attempt", isNumber: true),
                .init(title: "Outcome"), .init(title: "Status", isNumber: true),
                .init(title: "Detail"),
            ],
            webhook.attempts.map { attempt in
                [
                    Shown.time(attempt.at), .tag(.code, [], .text(attempt.event)),
                    Shown.figure(attempt.ordinal), .text(Shown.words(attempt.outcome)),
                    Shown.figure(attempt.status), attempt.detail.map(HTML.name) ?? "none",
                ]
            }
        )
    }
}
