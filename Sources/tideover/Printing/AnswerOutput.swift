import TideoverCommandLine
import TideoverJSON

extension Output {
    /// Returns a text of the results in a style.
    func styled(_ text: String, _ style: Style) -> String { resultTerminal.styled(text, style) }

    /// Writes a server's answer as one JSON document, or prints it for people. Returns success.
    func write(
        _ answer: JSONNode,
        asJSON: Bool,
        forPeople: (JSONNode) -> Void
    ) -> ExitCode {
        if asJSON {
            write(JSONValue(answer).encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            forPeople(answer)
        }
        return .success
    }
}
