import Foundation
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverTestProcesses

@testable import TideoverTestServer

/// The GitHub CI action: its inputs, and the command that it runs.
@Suite(
    .withExecutable,
    .enabled(if: ShellTools.canReadYAML, "python3 with PyYAML is missing"),
    .timeLimit(.minutes(20))
)
final class ActionProgramTests: SuiteWithFolder {
    /// Converts a YAML text to JSON.
    private static func read(_ yaml: String) throws -> JSONNode {
        let program = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"
        let said = try ChildProcess.run(
            ["/usr/bin/env", "python3", "-c", program],
            input: Array(yaml.utf8)
        )
        try #require(said.code == 0, "\(said.messages)")
        return try JSONDocument(Array(said.results.utf8)).root
    }

    private static func action() throws -> JSONNode {
        let file = Guide.project.appending(path: "action.yml")
        return try read(String(contentsOf: file, encoding: .utf8))
    }

    /// Returns the only step of the action.
    private static func step() throws -> (variables: [String: String], script: String) {
        let action = try action()
        #expect(action["runs"]?["using"]?.string == "composite")
        #expect(action["runs"]?["steps"]?.count == 1)
        let step = try #require(action["runs"]?["steps"]?[0])
        #expect(step["shell"]?.string == "bash")
        let variables = try #require(step["env"]).members.map { name, value in
            (String(name), value.string ?? "")
        }
        return (
            Dictionary(uniqueKeysWithValues: variables), try #require(step["run"]?.string)
        )
    }

    @Test func `the step passes every input, and only inputs, to the command`() throws {
        let inputs = try #require(try Self.action()["inputs"]).members.map { String($0.key) }
        let (variables, script) = try Self.step()
        #expect(
            variables.values.sorted() == inputs.map { "${{ inputs.\($0) }}" }.sorted()
        )
        // An input inside the script would be executed by the shell.
        #expect(!script.contains("${{"))
        for name in variables.keys { #expect(script.contains("$\(name)\""), "\(name)") }
    }

    @Test func `the step uses only flags that the command has`() throws {
        // The arguments before those of docker.
        let script = try Self.step().script.components(separatedBy: "docker run")[0]
        let help = try Executable.run(["sandbox", "run", "--help"]).results
        let flags = script.matches(of: /(?:add |words\+=\(|" )(--[a-z-]+)/).map { String($0.1) }
        #expect(flags.count >= 9)
        for flag in flags { #expect(help.contains("  \(flag)"), "\(flag)") }
    }

    @Test func `the guide uses only existing inputs and every required one`() throws {
        let page = try #require(Guide.all().first { $0.name == "rehearsal.md" })
        let block = try #require(page.blocks("yaml").first)
        let steps = try #require(try Self.read(block)["steps"])
        let used = try #require(steps.elements.compactMap { $0["with"] }.last).members
            .map { String($0.key) }
        let inputs = try #require(try Self.action()["inputs"])
        let required = inputs.members.filter { $0.value["required"]?.bool == true }
            .map { String($0.key) }
        #expect(required.sorted() == ["image", "target"])
        #expect(Set(required).isSubset(of: used))
        for name in used { #expect(inputs[name] != nil, "\(name)") }
    }

    /// Runs the action's script. The program beside the tests replaces `docker run`: it receives
    /// the arguments after the image.
    private func rehearse(_ values: [String: String]) throws -> ChildProcess.Said {
        let docker = """
            #!/bin/bash
            while [ "$1" != "the-image" ]; do shift; done
            shift
            exec '\(Executable.url.path)' "$@"
            """
        let file = try write(docker, to: "docker")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: file
        )
        let (names, script) = try Self.step()
        var variables = [
            "PATH": "\(folder.path):\(ShellTools.path)", "GITHUB_OUTPUT": output.path,
            "GITHUB_ACTION_PATH": Guide.project.path,
        ]
        for (name, input) in names {
            let key = String(input.dropFirst("${{ inputs.".count).dropLast(" }}".count))
            variables[name] = values[key] ?? ""
        }
        let place = "cd '\(folder.path)'\n"
        return try ChildProcess.run(["/bin/bash", "-c", place + script], variables: variables)
    }

    private var output: URL { folder.appending(path: "output") }

    @Test func `the step writes a JUnit file when the back end does not run`() throws {
        let port = try ShellTools.freePorts(1)[0]
        let scenario = Guide.project.appending(path: "Scenarios/app-store-recovered-in-grace.json5")
        let said = try rehearse([
            "target": "http://127.0.0.1:\(port)", "image": "the-image", "access": "premium",
            "scenarios": scenario.path, "deliver": "/notifications",
            "read-back": "/customers/{customer}", "junit": "out.xml",
        ])
        #expect(said.code == 1, "\(said.messages)")
        let xml = try String(contentsOf: folder.appending(path: "out.xml"), encoding: .utf8)
        #expect(xml.contains(#"tests="1" failures="1""#))
        #expect(try String(contentsOf: output, encoding: .utf8) == "junit=out.xml\n")
    }
}
