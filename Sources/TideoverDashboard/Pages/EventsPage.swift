import TideoverCore
package import TideoverJSON

/// An event of the feed.
package struct EventView: Hashable, Sendable {
    let id: String
    let kind: String
    let at: Instant
    let customer: String
    package let environment: String
    /// The entitlement or the product that it is about.
    let subject: String?
    /// The answer that was stored with it; empty in events of old versions.
    let answers: [Answer]

    struct Answer: Hashable, Sendable {
        let entitlement: String
        let access: Bool
        let phase: Phase
    }

    package init(_ node: JSONNode) throws(UnexpectedAnswer) {
        id = try node.needText("id")
        kind = try node.needText("kind")
        at = try node.needInstant("effectiveAt")
        customer = try node.needText("customer")
        environment = try node.needText("environment")
        let data = try node.need("data")
        subject = data.text("entitlement") ?? data.text("productId")
        var answers: [Answer] = []
        if let stored = data["answer"] {
            for (name, answer) in stored.members {
                answers.append(
                    Answer(
                        entitlement: name,
                        access: try answer.needBool("access"),
                        phase: try Phase(answer: answer)
                    )
                )
            }
        }
        self.answers = answers.sorted { $0.entitlement < $1.entitlement }
    }
}

/// The page with the latest events of an app, which adds further ones while it is open.
package enum EventsPage {
    /// The maximum number of events on the page.
    package static let most = 100

    /// `events` are of the place, oldest first.
    package static func page(_ place: Place, _ events: [EventView]) -> Page {
        Page(
            "Events",
            place: place,
            [
                .tag(.h1, [], "Events of ", .name(place.app)),
                Parts.card(
                    "The latest events",
                    "events",
                    [
                        Parts.quiet("The feed of the API, newest first."),
                        Parts.table(
                            "What happened to customers, and their access after it",
                            columns,
                            events.reversed().map { cells($0, in: place) },
                            ids: events.reversed().map(\.id)
                        ),
                    ]
                ),
            ]
        )
    }

    /// Returns events as server-sent events, each with its row of the table. A browser requests the
    /// next ones some seconds after the end of the response, by the id that it received last. That
    /// is `next`, the place in the feed, which can have events of other environments in between.
    package static func stream(_ place: Place, _ events: [EventView], next: String?) -> [UInt8] {
        var bytes = Array("retry: 2000\n\n".utf8)
        for event in events {
            var writer = HTMLWriter()
            writer.write(Parts.row(columns, cells(event, in: place), id: event.id))
            bytes += "id: \(event.id)\n".utf8
            for line in writer.bytes.split(separator: UInt8(ascii: "\n")) {
                bytes += Array("data: ".utf8) + line + [UInt8(ascii: "\n")]
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        if let next { bytes += "id: \(next)\n\n".utf8 }
        return bytes
    }

    private static let columns: [Parts.Column] = [
        .init(title: "When"), .init(title: "Customer"), .init(title: "What happened"),
        .init(title: "About"), .init(title: "The answer then"),
    ]

    private static func cells(_ event: EventView, in place: Place) -> [HTML] {
        [
            Shown.time(event.at),
            .tag(.a, [.href(place.customer(event.customer))], .name(event.customer)),
            .name(Shown.words(event.kind)), event.subject.map(HTML.name) ?? "none",
            .group(event.answers.map(answer)),
        ]
    }

    private static func answer(_ answer: EventView.Answer) -> HTML {
        .tag(
            .div,
            [],
            Parts.badge(answer.phase),
            " ",
            .name(answer.entitlement),
            answer.access ? ": access" : ": no access"
        )
    }
}
