import TideoverCommandLine
import TideoverCore
import TideoverJSON
import TideoverSandbox

/// Prints a story as a table: the events, the customer's access and its reason, and a naive check's
/// answer.
struct StoryPrinter {
    private let output: Output

    init(_ output: Output) {
        self.output = output
    }

    func print(_ report: ScenarioReport) {
        output.print(styled(report.scenario.name, .strong))
        paragraph(
            "Simulated stores sign it all; \"use\" is what the back end answers, \"naive\" what a check of "
                + "the expiry date alone would say, and (!) marks where that is wrong."
        )
        for name in report.scenario.customers.map(\.name) {
            output.print("\n\(styled(name, .strong))")
            var table = Table(columns)
            for scene in scenes(of: report, about: name) {
                table.add(isNarrow ? narrowRow(scene) : row(scene))
            }
            output.print(table)
        }
        printVerdict(report)
    }

    /// Below this width, the short cells move into the column of events.
    private static let narrowestTable = 80

    private var isNarrow: Bool {
        let terminal = output.resultTerminal
        return terminal.isInteractive && terminal.width < Self.narrowestTable
    }

    private var columns: [Table.Column] {
        if isNarrow { return [.init("day"), .init("use"), .init("why, and what happened")] }
        return [
            .init("day"), .init("use"), .init("why"), .init("naive"), .init("prompt"),
            .init("what happened"),
        ]
    }

    /// The events of a customer within one moment: an action, the store's messages about it, and
    /// the answer after it.
    private struct Scene {
        let at: Int64
        var sentences: [String] = []
        var note: String?
        var reading: Reading?
    }

    private func scenes(of report: ScenarioReport, about name: String) -> [Scene] {
        report.moments.filter { $0.customer == name }.reduce(into: []) { scenes, moment in
            let isNew = scenes.last.map { moment.at > $0.at + report.scenario.lag + 1000 } ?? true
            if isNew { scenes.append(Scene(at: moment.at)) }
            let last = scenes.count - 1
            switch moment.happening {
            case .action(let deed):
                scenes[last].note = deed.note
                scenes[last].sentences.append(deed.words)
            case .notification(let delivery):
                scenes[last].sentences.append(delivery.notification.words)
                scenes[last].reading = delivery.reading ?? scenes[last].reading
            case .push(let push):
                scenes[last].sentences.append(push.words)
                scenes[last].reading = push.reading ?? scenes[last].reading
            case .webhook(let webhook):
                scenes[last].sentences.append(webhook.words)
                scenes[last].reading = webhook.reading ?? scenes[last].reading
            case .readBack(let readBack):
                scenes[last].note = readBack.note ?? scenes[last].note
                scenes[last].reading = readBack.reading
            }
        }
    }

    private func scenes(of report: ScenarioReport) -> [Scene] {
        report.scenario.customers.flatMap { scenes(of: report, about: $0.name) }
    }

    /// Returns the mistakes of an expiry-date check, one for each moment with a mistake.
    func naiveMistakes(in report: ScenarioReport) -> [Mistake] {
        scenes(of: report).compactMap { $0.reading?.naiveMistake }
    }

    private func row(_ scene: Scene) -> [Table.Cell] {
        let day = Table.Cell(String(InstantText.writeForPeople(scene.at).prefix(10)))
        let words = Table.Cell(scene.note ?? scene.sentences.last ?? "")
        guard let reading = scene.reading, let (_, answer) = reading.firstEntitlement else {
            return [day, "", "", "", "", words]
        }
        let access = answer["access"]?.bool ?? false
        let prompt = reading.document?["prompt"]?["kind"]?.string ?? ""
        return [
            day, access ? Table.Cell("yes", .good) : Table.Cell("no", .bad), .init(why(answer)),
            naive(reading), .init(prompt == "none" ? "" : prompt), words,
        ]
    }

    /// A back end that reports only access gives no state or reason.
    private func why(_ answer: JSONValue) -> String {
        ["state", "reason"].compactMap { answer[$0]?.string }.joined(separator: ", ")
    }

    private func narrowRow(_ scene: Scene) -> [Table.Cell] {
        let cells = row(scene)
        let reason = scene.reading?.firstEntitlement.map { why($0.answer) } ?? ""
        let mistake = scene.reading?.naiveMistake.map { mistake in
            mistake == .lockedOut ? "naive: no (!)" : "naive: yes (!)"
        }
        let head = [reason, mistake ?? ""].filter { !$0.isEmpty }.joined(separator: "; ")
        let words = [head, scene.note ?? scene.sentences.last ?? ""].filter { !$0.isEmpty }
        return [cells[0], cells[1], Table.Cell(words.joined(separator: ": "))]
    }

    private func naive(_ reading: Reading) -> Table.Cell {
        switch reading.naiveMistake {
        case .lockedOut: Table.Cell("no (!)", .bad)
        case .servedUnpaid: Table.Cell("yes (!)", .bad)
        case nil: Table.Cell(reading.naiveServes ? "yes" : "no")
        }
    }

    private func printVerdict(_ report: ScenarioReport) {
        let mistakes = naiveMistakes(in: report)
        output.print()
        paragraph(
            "The expiry date alone would have locked out a paying customer at "
                + "\(mistakes.count { $0 == .lockedOut }) of these "
                + "\(TextLayout.counted(scenes(of: report).count, "moment")), "
                + "and served one who had the money back at "
                + "\(mistakes.count { $0 == .servedUnpaid })."
        )
        printTroubles(report)
    }

    /// Prints the failures and the number of passed expectations.
    func printTroubles(_ report: ScenarioReport) {
        let verdicts = report.verdicts
        let held = verdicts.count(where: \.holds)
        for moment in report.failures { output.print(styled(moment.trouble, .bad)) }
        output.print(
            styled(
                "\(held) of \(TextLayout.counted(verdicts.count, "expectation")) held.",
                report.passed ? .good : .bad
            )
        )
    }

    private func paragraph(_ text: String) {
        let width = min(Terminal.assumedWidth, output.resultTerminal.width)
        for line in TextLayout.wrapped(text, to: width) { output.print(line) }
    }

    /// Returns one line in a style. Scenarios of others and answers of a back end are in it.
    private func styled(_ line: String, _ style: Style) -> String {
        output.resultTerminal.styled(TextLayout.visible(line), style)
    }
}

extension Reading {
    /// The story's entitlement: the first of the answer.
    var firstEntitlement: (name: String, answer: JSONValue)? {
        document?["entitlements"]?.object?.first.map { ($0.key, $0.value) }
    }
}

extension ScenarioReport {
    /// The story as JSON, with the instant of its clock.
    func json(asOf now: Instant) -> JSONValue {
        [
            "scenario": .string(scenario.name),
            "asOf": .string(now.rfc3339),
            "app": .string(scenario.app.id),
            "environment": "simulated",
            "customers": .object(customers),
            "passed": .bool(passed),
            "expectations": .integer(Int64(verdicts.count)),
            "held": .integer(Int64(verdicts.count(where: \.holds))),
            "moments": .array(moments.map(\.json)),
        ]
    }

    /// The server's id of each customer.
    private var customers: JSONObject {
        scenario.customers.reduce(into: [:]) {
            $0[$1.name] = .string($1.appAccountToken ?? $1.name)
        }
    }
}

extension TraceEntry {
    /// The event as JSON.
    var json: JSONValue {
        var object: JSONObject = [
            "at": .string(Instant(millisecondsSince1970: at).rfc3339),
            "customer": customer.map(JSONValue.string) ?? .null,
            "passed": .bool(passed),
        ]
        switch happening {
        case .action(let deed):
            object["did"] = .string(deed.words)
            if let verdict = deed.verdict {
                if verdict.label == "refused", verdict.actual != "done" {
                    object["refused"] = verdict.actual
                } else {
                    object["expectations"] = [verdict.json]
                }
            }
        case .notification(let delivery):
            object["notificationType"] = .string(delivery.notification.event.notificationType)
            object["subtype"] = delivery.notification.event.subtype.map(JSONValue.string) ?? .null
            switch delivery.outcome {
            case .answered(let status): object["status"] = .integer(Int64(status))
            case .failed(let why): object["failure"] = .string(why)
            }
            object["accepted"] = .bool(delivery.isAccepted)
            object["fault"] = delivery.fault.map { .string($0.words) }
            object["answer"] = delivery.reading?.document ?? .null
            object["naive"] = delivery.reading.map { .bool($0.naiveServes) } ?? .null
        case .push(let push):
            object["notificationType"] = .string(push.name)
            if let status = push.status {
                object["status"] = .integer(Int64(status))
            } else {
                object["failure"] = "no answer"
            }
            object["accepted"] = .bool(push.isAcknowledged)
            object["fault"] = push.fault.map { .string($0.words) }
            object["answer"] = push.reading?.document ?? .null
            object["naive"] = push.reading.map { .bool($0.naiveServes) } ?? .null
        case .webhook(let webhook):
            object["webhook"] = .string(webhook.event.type.rawValue)
            object["answer"] = webhook.reading?.document ?? .null
            object["naive"] = webhook.reading.map { .bool($0.naiveServes) } ?? .null
        case .readBack(let readBack):
            object["note"] = readBack.note.map(JSONValue.string) ?? .null
            object["answer"] = readBack.reading.document ?? .null
            object["naive"] = .bool(readBack.reading.naiveServes)
            object["expectations"] = .array(readBack.verdicts.map(\.json))
        }
        return .object(object)
    }
}

extension Verdict {
    fileprivate var json: JSONValue {
        [
            "place": .string(label), "expected": .string(expected), "actual": actual ?? .null,
            "holds": .bool(holds),
        ]
    }
}
