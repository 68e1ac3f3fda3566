package import TideoverJSON

/// The configuration that a server runs with, as far as a person may see it.
package struct ConfigurationView: Hashable, Sendable {
    /// Whether it includes what concerns the whole server.
    let isWhole: Bool
    let settings: [Setting]
    let findings: [Finding]

    struct Setting: Hashable, Sendable {
        let path: String
        let value: String
        let source: String
        let variable: String?
    }

    struct Finding: Hashable, Sendable {
        let check: String
        let subject: String?
        let verdict: String
        let detail: String
        let advice: String?
    }

    package init(_ answer: JSONNode) throws(UnexpectedAnswer) {
        isWhole = try answer.needBool("isWhole")
        settings = try answer.list("settings").map { node throws(UnexpectedAnswer) in
            let source = try node.needText("source")
            let line = node["line"]?.int64.map { "line \($0)" }
            return Setting(
                path: try node.needText("path"),
                value: Self.text(try node.need("value")),
                source: line ?? source,
                variable: node.text("variable")
            )
        }
        findings = try answer.list("findings").map { node throws(UnexpectedAnswer) in
            Finding(
                check: try node.needText("check"),
                subject: node.text("subject"),
                verdict: try node.needText("verdict"),
                detail: try node.needText("detail"),
                advice: node.text("advice")
            )
        }
    }

    /// Returns a value on one line, with commas between the entries of a list.
    private static func text(_ node: JSONNode) -> String {
        if node.kind == .array { return node.elements.map(text).joined(separator: ", ") }
        return node.string ?? String(decoding: node.source, as: UTF8.self)
    }
}

/// The page with an app's effective configuration, and what the doctor finds about it.
package enum ConfigurationPage {
    package static func page(_ place: Place, _ view: ConfigurationView) -> Page {
        Page(
            "Configuration",
            place: place,
            [
                .tag(.h1, [], "Configuration of ", .name(place.app)),
                Parts.card("Findings", "findings", findings(view)),
                Parts.card("Settings that count", "settings", settings(view)),
            ]
        )
    }

    private static func findings(_ view: ConfigurationView) -> [HTML] {
        let hint = Parts.quiet([
            .tag(.code, [], "tideover doctor"),
            " also checks the machine, the secret files and the stores, and with ",
            .tag(.code, [], "--preflight"), " the purchases.",
        ])
        guard !view.findings.isEmpty else { return [Parts.quiet("There are no findings."), hint] }
        return [
            Parts.table(
                "What the doctor finds, problems first",
                [
                    .init(title: "Check"), .init(title: "Verdict"), .init(title: "Found"),
                    .init(title: "What to do"),
                ],
                view.findings.sorted { $0.rank < $1.rank }.map { finding in
                    [
                        .text(Shown.words(finding.check)), verdict(finding),
                        [
                            finding.subject.map { [.name($0), ": "] } ?? .nothing,
                            .name(finding.detail),
                        ],
                        finding.advice.map(HTML.name) ?? "nothing",
                    ]
                }
            ), hint,
        ]
    }

    private static func verdict(_ finding: ConfigurationView.Finding) -> HTML {
        finding.rank == 2
            ? .text(finding.verdict)
            : .element(.span, [.class("alarm")], [.text(finding.verdict)])
    }

    private static func settings(_ view: ConfigurationView) -> [HTML] {
        guard !view.settings.isEmpty else {
            return [Parts.quiet("No file configured this server.")]
        }
        return [
            Parts.quiet(
                view.isWhole
                    ? "Of the app and the server. Secrets are shown as the names of their files."
                    : "Of the app. Secrets are shown as the names of their files."
            ),
            .element(
                .ul,
                [.class("legend")],
                view.sections.map { section in
                    .tag(
                        .li,
                        [],
                        .tag(.a, [.href(.anchor(section.id))], .tag(.code, [], .name(section.name)))
                    )
                }
            ), .group(view.sections.map(table)),
        ]
    }

    private static func table(_ section: ConfigurationView.Section) -> HTML {
        [
            .tag(.h3, [.of(.id, section.id)], .name(section.name)),
            Parts.table(
                section.settings.count == 1 ? "1 setting" : "\(section.settings.count) settings",
                [
                    .init(title: "Setting"), .init(title: "Value"), .init(title: "From"),
                    .init(title: "Variable"),
                ],
                section.settings.map { setting in
                    [
                        .tag(.code, [], .name(setting.path)),
                        .name(setting.value.isEmpty ? "(none)" : setting.value),
                        .text(setting.source),
                        setting.variable.map { .tag(.code, [], .name($0)) } ?? "none",
                    ]
                }
            ),
        ]
    }
}

extension ConfigurationView {
    /// Settings that are shown together.
    struct Section: Hashable, Sendable {
        let name: String
        var settings: [Setting]

        /// The name of its heading in an address.
        var id: String {
            "settings-" + String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
        }
    }

    /// The settings by top-level section, each section of an app by itself.
    var sections: [Section] {
        settings.reduce(into: []) { sections, setting in
            let name = setting.section
            if let place = sections.firstIndex(where: { $0.name == name }) {
                sections[place].settings.append(setting)
            } else {
                sections.append(Section(name: name, settings: [setting]))
            }
        }
    }
}

extension ConfigurationView.Setting {
    fileprivate var section: String {
        let parts = path.split(separator: ".").map(String.init)
        guard let first = parts.first else { return path }
        let isOfApp = first.hasPrefix("apps[") && parts.count > 2
        return isOfApp ? "\(first).\(parts[1])" : first
    }
}

extension ConfigurationView.Finding {
    /// The place of its verdict in the order of the page.
    fileprivate var rank: Int {
        switch verdict {
        case "problem": 0
        case "warning": 1
        default: 2
        }
    }
}
