import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON

/// `tideover sandbox control`: sends steps to the stores of a running `sandbox serve`.
enum SandboxControl {
    private static let words = Parameter.arguments(
        "STEP",
        "An action, then the fields of its step, such as customer=anna after=\"16 d\"",
        isRequired: false
    )
    private static let store = Parameter.option(
        "--store",
        "URL",
        "Where the store answers",
        as: ValueForm("an http or https URL") { try? HTTPURL($0) },
        default: "http://127.0.0.1:9090"
    )
    private static let json = Parameter.flag("--json", "Print the store's response as it is")

    static let command = Command(
        "control",
        summary: "perform actions in a simulated store",
        examples: [
            Example("tideover sandbox control", "its clock, and the state of its customers"),
            Example(
                "tideover sandbox control subscribe customer=anna product=cards.pro.monthly",
                "a customer buys"
            ),
            Example(
                "tideover sandbox control failPayments customer=anna after=\"2 weeks\"",
                "time passes first"
            ),
            Example(
                "tideover sandbox control buy customer=ben product=cards.pro plan=monthly",
                "in Google Play, where ben buys"
            ),
            Example("tideover sandbox control advance by=\"16 d\"", "let time pass"),
            Example("tideover sandbox control advance to=2026-06-01T10:00:00Z", "up to then"),
            Example("tideover sandbox control nextEvent", "until the store's next own event"),
            Example("tideover sandbox control speed factor=86400", "a day a second from now on"),
            Example("tideover sandbox control speed factor=0", "its clock stops"),
        ],
        parameters: [words, store, json],
        notes: [
            "A step is a step of a scenario file; see Scenarios/README.md. Exit code 1 if "
                + "the store refused, the back end did not accept, or an expectation failed; 65 if "
                + "it is not a step, or lies ahead of the clock or too far away; 69 if no store "
                + "answers."
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        let url = arguments[store]
        let ask = client.handler(under: Destination(url, addresses: .any, limits: .storeAnswer))
        let step = try step(of: arguments[words], arguments)
        let answer: Response
        do {
            answer = try await ask(
                step.map {
                    Request(method: "POST", path: "/control", body: JSONValue.object($0).encoded())
                } ?? Request(path: "/customers")
            )
        } catch HTTPClientError.timedOut(.answering) {
            throw CommandFailure(
                .unavailable,
                "the store at \(url) is busy; a step that was sent may still take place"
            )
        } catch {
            throw CommandFailure(
                .unavailable,
                "no store at \(url): \(error)\n`tideover sandbox serve` runs one."
            )
        }
        guard let document = try? JSONDocument(answer.body, limits: .local) else {
            throw CommandFailure(.unavailable, "\(url) does not answer like a simulated store")
        }
        let root = JSONValue(document.root)
        if let fault = root["fault"]?.string {
            throw CommandFailure(.data, TextLayout.visible(words(of: fault)))
        }
        guard answer.status == 200 else {
            throw CommandFailure(.unavailable, "the store at \(url) answered \(answer.status)")
        }
        let moments = root["moments"]?.array ?? []
        if arguments[json] {
            output.write(root.encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            print(root, moments, output)
        }
        return moments.allSatisfy { $0["passed"]?.bool ?? true } ? .success : .failure
    }

    /// Returns the step that the arguments describe; nil without arguments.
    private static func step(
        of words: [String],
        _ arguments: Arguments
    ) throws -> JSONObject? {
        var step = JSONObject()
        for (position, word) in words.enumerated() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, let key = parts.first, !key.isEmpty {
                step[String(key)] = value(String(parts[1]))
            } else if position == 0 {
                step["do"] = .string(word)
            } else {
                throw arguments.usageError(.unexpectedArgument(word))
            }
        }
        return words.isEmpty ? nil : step
    }

    /// Returns the JSON5 value of a text; the text itself if it is not valid JSON5.
    private static func value(_ text: String) -> JSONValue {
        guard let document = try? JSONDocument(Array(text.utf8), syntax: .relaxed, limits: .local)
        else { return .string(text) }
        return JSONValue(document.root)
    }

    /// Removes the position from an error message, because it refers to text that the user did not
    /// write.
    private static func words(of fault: String) -> String {
        guard fault.hasPrefix("line 1, column "), let colon = fault.firstIndex(of: ":") else {
            return fault
        }
        return String(fault[colon...].dropFirst(2))
    }

    // MARK: For people

    private static func print(_ root: JSONValue, _ moments: [JSONValue], _ output: Output) {
        for line in lines(of: moments) { output.print(line) }
        if let customers = root["customers"]?.array {
            var table = Table(
                [
                    .init("customer"), .init("store"), .init("state"), .init("until"), .init("id"),
                ],
                overflow: .overrun
            )
            for customer in customers {
                table.add([
                    .init(customer["name"]?.string ?? ""), .init(customer["store"]?.string ?? ""),
                    .init(customer["state"]?.string ?? ""), .init(customer["until"]?.string ?? ""),
                    .init(customer["appAccountToken"]?.string ?? ""),
                ])
            }
            output.print(table)
        }
        let speed = root["speed"]?.int64 ?? 0
        let pace =
            switch speed {
            case 0: ""
            case 1: ", as fast as here"
            default: ", \(speed) times as fast as here"
            }
        output.print("It is \(root["now"]?.string ?? "") in the store\(pace).")
    }

    /// Returns a line for each moment. Moments that fail alike have one line together: Google Play
    /// repeats a message that a back end does not accept about a thousand times.
    static func lines(of moments: [JSONValue]) -> [String] {
        var lines: [(text: String, from: String, until: String, count: Int)] = []
        var failures: [String: Int] = [:]
        for moment in moments {
            let (text, at) = (sentence(of: moment), moment["at"]?.string ?? "")
            let isFailure = moment["passed"]?.bool == false
            if isFailure, let index = failures[text] {
                lines[index].until = at
                lines[index].count += 1
                continue
            }
            if isFailure { failures[text] = lines.count }
            lines.append((text, at, at, 1))
        }
        return lines.map { line in
            let more = line.count == 1 ? "" : " (\(line.count) times, until \(line.until))"
            return "\(line.from)  \(line.text)\(more)"
        }
    }

    private static func sentence(of moment: JSONValue) -> String {
        let who = moment["customer"]?.string ?? ""
        let type = moment["notificationType"]?.string
        let what = moment["did"]?.string ?? type ?? moment["note"]?.string ?? "asked"
        let subtype = moment["subtype"]?.string.map { " (\($0))" } ?? ""
        let words = "\(who)  \(what)\(subtype)"
        let trouble = trouble(in: moment).map { ": \($0)" }
        // The failure continues the sentence, so its full stop is removed.
        let start = trouble != nil && words.hasSuffix(".") ? String(words.dropLast()) : words
        return TextLayout.visible(start + (trouble ?? ""))
    }

    /// Returns why a moment failed; nil if it passed.
    private static func trouble(in moment: JSONValue) -> String? {
        guard moment["passed"]?.bool == false else { return nil }
        if let reason = moment["refused"]?.string { return "refused: \(reason)" }
        if let failure = moment["failure"]?.string { return "not delivered: \(failure)" }
        if let status = moment["status"]?.int64 {
            guard moment["accepted"]?.bool == true else { return "not accepted: \(status)" }
            let fault = moment["fault"]?.string.map { ": \($0)" } ?? ""
            return "accepted (\(status)), though it must not be believed\(fault)"
        }
        let broken = moment["expectations"]?.array?.filter { $0["holds"]?.bool == false } ?? []
        return "not as expected: \(broken.map(difference).joined(separator: "; "))"
    }

    /// Returns the actual value in place of the expected one.
    private static func difference(_ expectation: JSONValue) -> String {
        let actual = expectation["actual"].flatMap { $0 == .null ? nil : $0 }
            .map { String(decoding: $0.encoded(), as: UTF8.self) }
        let (place, expected) = (expectation["place"]?.string, expectation["expected"]?.string)
        return "\(place ?? "") is \(actual ?? "absent"), expected \(expected ?? "")"
    }
}
