import TideoverCommandLine
import TideoverJSON

extension Output {
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
