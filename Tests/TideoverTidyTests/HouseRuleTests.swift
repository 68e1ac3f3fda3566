import Testing

/// Each rule of the house on code that breaks it, and on code that only looks as if it did.
@Suite struct HouseRuleTests {
    private func file(_ text: String, in module: String = "TideoverCore") -> SourceFile {
        SourceFile(path: "Sources/\(module)/Made.swift", text: text)
    }

    @Test(arguments: [
        ("TideoverCore", "import TideoverJSON"),
        ("TideoverSignatures", "import CTideoverOpenSSL"),
        ("TideoverHTTPServer", "import Glibc\npublic import TideoverHTTP"),
        ("TideoverServer", "import TideoverStorage"),
        ("TideoverCore", "// import Foundation"),
        ("TideoverCore", "let word = \"import Foundation\""),
        ("tideover", "import TideoverSQLite"),
    ])
    func `an import of a lower level is accepted`(module: String, code: String) {
        #expect(HouseRules.wrongImports(file(code, in: module)) == [])
    }

    @Test(arguments: [
        ("TideoverCore", "import Foundation"),
        ("TideoverCore", "import struct Foundation.Date"),
        ("tideover", "@preconcurrency import FoundationEssentials"),
        ("TideoverCore", "import Glibc"),
        ("TideoverCore", "public import TideoverHTTP"),
        ("TideoverJSON", "import TideoverCore"),
        ("TideoverSQLite", "import TideoverServer"),
        ("TideoverPostgreSQL", "import TideoverSQLite"),
        ("TideoverStorage", "import CTideoverSQLite"),
        ("TideoverHTTP", "import CTideoverOpenSSL"),
        ("TideoverSandbox", "import TideoverCore"),
        ("TideoverAppStore", "@testable import TideoverSignatures"),
        ("TideoverServer", "import TideoverHTTPServer"),
        ("TideoverCommandLine", "import TideoverCore"),
        ("TideoverCore", "import TideoverUnheardOf"),
    ])
    func `an import of a higher, equal or foreign level is found`(module: String, code: String) {
        #expect(HouseRules.wrongImports(file("\n" + code, in: module)).count == 1)
        let place = "Sources/\(module)/Made.swift:2: "
        #expect(HouseRules.wrongImports(file("\n" + code, in: module))[0].hasPrefix(place))
    }

    @Test(arguments: [
        "let now = Date()", "let id = UUID().uuidString", "clock_gettime(CLOCK_REALTIME, &time)",
        "let dice = Int.random(in: 1...6)", "facts.shuffled()", "Task { }", "func f() async {",
        "await f()", "print(facts)", "let text = \"\\(Date())\"",
    ])
    func `an impure core is found`(code: String) {
        #expect(HouseRules.impureCore(file(code)).count >= 1)
        #expect(HouseRules.impureCore(file(code, in: "TideoverServer")) == [])
    }

    @Test(arguments: [
        "static let mark = \"VALUES ($1, nextval('marks'))\"", "\"CREATE SEQUENCE marks\"",
        "\"\"\"\nCREATE TRIGGER t AFTER INSERT ON fact\n\"\"\"", "\"LOCK TABLE fact\"",
    ])
    func `a statement that distributed databases lack is found`(code: String) {
        #expect(HouseRules.unportableSQL(file(code, in: "TideoverPostgreSQL")).count == 1)
        let common = SourceFile(path: "Sources/TideoverStorage/CommonSQL.swift", text: code)
        #expect(HouseRules.unportableSQL(common).count == 1)
        #expect(HouseRules.unportableSQL(file(code, in: "TideoverSQLite")) == [])
    }

    @Test(arguments: ["// no TRIGGER, no SEQUENCE", "\"SELECT id FROM audit\"", "let LISTEN = 1"])
    func `a portable statement is accepted`(code: String) {
        #expect(HouseRules.unportableSQL(file(code, in: "TideoverPostgreSQL")) == [])
    }

    @Test(arguments: [
        ("SELECT id FROM audit", 0), ("SELECT id FROM audit WHERE app = $1 AND id > $2", 0),
        ("SELECT $1, $2, $1, $3) WHERE a = ($2, $3)", 0), ("SELECT $2, $1", 1),
        ("SELECT $1, $3, $2", 1), ("SELECT $1::text, $2", 1), ("SELECT ?1, ?2", 1),
    ])
    func `a parameter that SQLite numbers differently is found`(sql: String, count: Int) {
        for text in ["\"\(sql)\"", "\"\"\"\n    \(sql)\n    \"\"\""] {
            let code = "package static let a: StaticString = \(text)"
            let common = SourceFile(path: "Sources/TideoverStorage/CommonSQL.swift", text: code)
            #expect(HouseRules.misnumberedParameters(common).count == count)
            #expect(HouseRules.misnumberedParameters(file(code, in: "TideoverSQLite")) == [])
        }
    }

    @Test(arguments: [
        "let date = CivilDate(2026, 5, 6)", "outlook.renewalDate(of: term)", "// no Date() here",
        "let word = \"Date()\"", "let asyncWord = 1", "blueprint(plan)", "TaskKind.x",
        "/* Task { } /* async */ random */ let a = 1",
    ])
    func `a pure core is accepted`(code: String) {
        #expect(HouseRules.impureCore(file(code)) == [])
    }

    @Test func `only modules for Apple apps import Foundation`() {
        let text = "import Foundation\n"
        let path = "Sources/TideoverKit/Apple/Dates.swift"
        #expect(HouseRules.wrongImports(SourceFile(path: path, text: text)) == [])
        let heart = "Sources/TideoverKit/Machine/Rounds.swift"
        #expect(HouseRules.wrongImports(SourceFile(path: heart, text: text)).count == 1)
        let database = SourceFile(path: heart, text: "import TideoverSignatures\n")
        #expect(HouseRules.wrongImports(database).count == 1)
    }

    @Test(arguments: [
        "public struct Page {}", "    @discardableResult public func claim() {}",
        "public import TideoverJSON", "    nonisolated public var id: Int",
    ])
    func `a public declaration outside the library products is found`(code: String) {
        #expect(HouseRules.publicOutsideProducts(file(code, in: "TideoverServer")).count == 1)
        #expect(HouseRules.publicOutsideProducts(file(code, in: "TideoverCore")) == [])
    }

    @Test func `the kind of a key is no declaration`() {
        let code = "case `public`\nif kind == .public {}\npackage let publicURL: String"
        #expect(HouseRules.publicOutsideProducts(file(code, in: "TideoverServer")) == [])
    }

    @Test(arguments: [
        "import Synchronization", "Task.immediate { }", "var a: InlineArray<4, UInt8>",
        "func f(_ bytes: Span<UInt8>)", "let wide: Int128 = 1", "UInt128.max",
        "var all: any AsyncSequence<Int, Never>", "let id = transaction.appTransactionID",
        "for await a in StoreKit.Transaction.all(for: id) {}", "@Entry var style = 1",
    ])
    func `an API too new for the kit is found`(code: String) {
        #expect(HouseRules.tooNewForTheKit(file(code, in: "TideoverJSON")).count == 1)
        #expect(HouseRules.tooNewForTheKit(file(code, in: "TideoverServer")) == [])
    }

    @Test func `a name that ends like a new API is accepted`() {
        #expect(HouseRules.tooNewForTheKit(file("struct TimeSpan<T> {}")) == [])
    }

    @Test func `unfinished work is found at any position`() {
        let word = "TO" + "DO"
        #expect(
            HouseRules.unfinishedWork(SourceFile(path: "README.md", text: "\n\(word): more"))
                == ["README.md:2: unfinished: \(word)"]
        )
        #expect(HouseRules.unfinishedWork(file("// FIX" + "ME")).count == 1)
        #expect(HouseRules.unfinishedWork(file("\"/tmp/a-XXXXXX\" // \(word)S")) == [])
    }

    @Test func `a crash without a message is found`() {
        #expect(HouseRules.crashesWithoutAReason(file("fatalError(\"no\")")).count == 1)
        #expect(HouseRules.crashesWithoutAReason(file("precondition(a, \"no fatalError(\")")) == [])
    }

    @Test func `a trap without a reason is found`() {
        func source(_ module: String, _ text: String) -> SourceFile {
            SourceFile(path: "Sources/\(module)/A.swift", text: text)
        }
        let files = [
            source("TideoverCore", "precondition(a)\n// precondition(b)\nassert(c, \"assert(\")"),
            source("TideoverSandbox", "preconditionFailure(\"no\")"),
        ]
        func found(_ rows: String...) -> [String] {
            let text = rows.joined(separator: "\n")
            let page = SourceFile(path: "docs/traps.md", text: text)
            return HouseRules.unarguedTraps(files, page: page)
        }
        #expect(found("| `TideoverCore/A.swift` | 2 | a reason |") == [])
        let one = "docs/traps.md argues for 1 traps here"
        #expect(
            found("| `TideoverCore/A.swift` | 1 | a |") == [
                "Sources/TideoverCore/A.swift:3: \(one)"
            ]
        )
        #expect(found("").count == 1)
        #expect(found("| `TideoverCore/A.swift` | 2 | |").count == 1)
        #expect(found("| `TideoverCore/A.swift` | 2 | a |", "| `B.swift` | 1 | a |").count == 1)
    }

    @Test func `a threat without a test is found, and a test that does not exist`() {
        func faults(_ change: (String) -> String?) -> [String] {
            let sections = ThreatPage.ids.map { id in
                "### \(id): a threat\n\nText.\n\n" + (change(id) ?? "- `trials here`") + "\n"
            }
            let page = SourceFile(path: "docs/threats.md", text: sections.joined())
            return ThreatPage.faults(in: page) { $0 == "trials here" }
        }
        #expect(faults { _ in nil } == [])
        #expect(faults { $0 == "D5" ? "Nothing to attack yet: no webhooks." : nil } == [])
        #expect(faults { $0 == "D5" ? "No test." : nil }.count == 1)
        #expect(faults { $0 == "S1" ? "- `trials gone`" : nil }.count == 1)
        let one = SourceFile(path: "docs/threats.md", text: "### S1: a threat\n- `trials here`\n")
        #expect(ThreatPage.faults(in: one) { _ in true }.count == 1)
    }

    @Test func `each reference of a threat is looked up in the tree`() {
        let files = [
            SourceFile(
                path: "Tests/TideoverCoreTests/A.swift",
                text: "@Suite struct AgeTests {\n    @Test func `one is young`() {}\n}"
            ),
            SourceFile(path: "Trials/Faults/B.swift", text: "name: \"flood\","),
            SourceFile(path: "Fuzz/TideoverFuzz/C.swift", text: "= Fuzzer(\n        \"json\","),
            SourceFile(path: "scripts/laws.sh", text: ""),
        ]
        for name in [
            "TideoverCoreTests.AgeTests/one is young", "trials flood", "scripts/fuzz.sh json",
            "scripts/laws.sh",
        ] { #expect(ThreatPage.exists(name, in: files), "\(name)") }
        for name in [
            "TideoverCoreTests.AgeTests/one is old", "TideoverCoreTests.OldTests/one is young",
            "TideoverTests.AgeTests/one is young", "trials drought", "scripts/fuzz.sh xml",
            "scripts/lawns.sh", "one is young",
        ] { #expect(!ThreatPage.exists(name, in: files), "\(name)") }
    }

    @Test func `a lock invisible to the thread sanitizer is found`() {
        #expect(HouseRules.invisibleLocks(file("let count = Mutex(0)")).count == 1)
        #expect(HouseRules.invisibleLocks(file("let count: Mutex<Int>")).count == 1)
        let test = SourceFile(path: "Tests/TideoverCoreTests/A.swift", text: "let n = Mutex(0)")
        #expect(HouseRules.invisibleLocks(test).count == 1)
        #expect(HouseRules.invisibleLocks(file("let mutex = SystemMutex(0)")) == [])
    }

    @Test func `a program started by Foundation is found`() {
        #expect(HouseRules.foundationsProcesses(file("let process = Process()")).count == 1)
        #expect(HouseRules.foundationsProcesses(file("let process = ChildProcess([path])")) == [])
    }

    @Test func `an escape needs its reason on its line or the one before`() {
        let escape = "final class A: @unchecked Sendable {}"
        #expect(HouseRules.unexplainedEscapes(file(escape)).count == 1)
        #expect(HouseRules.unexplainedEscapes(file(escape + " // one thread owns it")) == [])
        #expect(HouseRules.unexplainedEscapes(file("// one thread owns it\n" + escape)) == [])
        #expect(HouseRules.unexplainedEscapes(file("// far away\n\n" + escape)).count == 1)
        #expect(HouseRules.unexplainedEscapes(file("nonisolated(unsafe) var a = 1")).count == 1)
    }

    @Test func `a machine-specific path is found`() {
        let path = "/wo" + "rk/main"
        #expect(
            HouseRules.pathsOfOneMachine(SourceFile(path: "a.sh", text: "cd \(path)")).count == 1
        )
        #expect(HouseRules.pathsOfOneMachine(SourceFile(path: "a.sh", text: "cd /var/tmp")) == [])
    }

    @Test func `a statement outside the database's module is found`() {
        let code = "let statement = \"\"\"\n    SELECT id FROM facts\n    \"\"\""
        #expect(HouseRules.strayStatements(file(code, in: "TideoverServer")).count == 1)
        #expect(HouseRules.strayStatements(file(code, in: "TideoverStorage")).count == 1)
        #expect(HouseRules.strayStatements(file(code, in: "TideoverSQLite")) == [])
        let common = SourceFile(path: "Sources/TideoverStorage/CommonSQL.swift", text: code)
        #expect(HouseRules.strayStatements(common) == [])
        #expect(HouseRules.strayStatements(file("// SELECT is not ours")) == [])
        #expect(HouseRules.strayStatements(file("let word = \"SELECTED\"")) == [])
    }

    @Test func `markup in a text of a page is found`() {
        let code = "let page = \"<p>\" + name"
        #expect(HouseRules.writtenMarkup(file(code, in: "TideoverDashboard")).count == 1)
        let route = "Sources/TideoverServer/Dashboard/A.swift"
        #expect(HouseRules.writtenMarkup(SourceFile(path: route, text: code)).count == 1)
        let writer = "Sources/TideoverDashboard/HTML/HTMLWriter.swift"
        #expect(HouseRules.writtenMarkup(SourceFile(path: writer, text: code)) == [])
        #expect(HouseRules.writtenMarkup(file("a < b // <p>", in: "TideoverDashboard")) == [])
        #expect(HouseRules.writtenMarkup(file(code, in: "TideoverServer")) == [])
    }

    @Test func `a target without the project's name is found`() {
        let manifest = SourceFile(
            path: "Package.swift",
            text: """
                func library(_ name: String) -> Target { .target(name: name) }
                    library("TideoverJSON"),
                    library("AppStore", ["TideoverJSON"]),
                    tests(
                        "HTTPTests", []),
                    .systemLibrary(
                        name: "CSQLite"),
                    .executableTarget(name: "tideover", dependencies: ["TideoverJSON"]),
                    .executable(name: "other", targets: ["tideover"]),
                """
        )
        #expect(
            HouseRules.targets(of: manifest).map(\.name) == [
                "TideoverJSON", "AppStore", "HTTPTests", "CSQLite", "tideover",
            ]
        )
        let sentence = "may be a target in a user's package graph too"
        #expect(
            HouseRules.foreignTargetNames(manifest) == [
                "Package.swift:3: `AppStore` \(sentence)",
                "Package.swift:4: `HTTPTests` \(sentence)",
                "Package.swift:6: `CSQLite` \(sentence)",
            ]
        )
    }

    @Test func `a module missing from the architecture page is found`() {
        #expect(
            HouseRules.undrawnModules("`TideoverHTTPServer` runs it", modules: ["TideoverHTTP"])
                == ["ARCHITECTURE.md: does not name TideoverHTTP"]
        )
        #expect(
            HouseRules.undrawnModules("- TideoverHTTP: values", modules: ["TideoverHTTP"]) == []
        )
    }
}

@Suite struct SwiftTextTests {
    @Test(arguments: [
        ("a // b", "a     ", "      "),
        ("a /* b /* c */ d */ e", "a                   e", "                     "),
        ("f(\"a\")", "f(\" \")", "   a  "),
        ("\"a\\\"b\" c", "\"    \" c", " a\\\"b   "),
        ("\"\\(f(\"x\"))\" y", "\"  f(\" \") \" y", "      x      "),
        ("#\"a\"b\"# c", "#\"   \"# c", "  a\"b    "),
        (
            "\"\"\"\na \"b\" // c\n\"\"\" d", "\"\"\"\n          \n\"\"\" d",
            "   \na \"b\" // c\n     "
        ),
        ("\"\" a", "\"\" a", "    "),
    ])
    func `code is distinguished from comments and literals`(
        text: String,
        code: String,
        literals: String
    ) {
        let parts = SwiftText.parts(of: text)
        #expect(parts.code == code)
        #expect(parts.literals == literals)
    }
}

@Suite struct MarkdownLinksTests {
    private let tree = [
        "README.md": "# Top\n## Set-up & use\n", "docs/guide.md": "# Guide", "docs": "",
    ]

    private func broken(_ text: String, at path: String = "README.md") -> [String] {
        MarkdownLinks.broken([SourceFile(path: path, text: text)]) { tree[$0] }
    }

    @Test(arguments: [
        "[guide](docs/guide.md)", "[docs](docs)", "[docs](docs/)", "![top](./README.md)",
        "[web](https://example.com/none.md)", "[here](#top)", "[use](README.md#set-up--use)",
        "`[no](link)`", "```\n[no](link)\n```", "[named]: docs/guide.md",
        "[mail](mailto:a@example.com)",
    ])
    func `a valid link is accepted`(text: String) {
        #expect(broken(text.replacing("(#top)", with: "(README.md#top)")) == [])
    }

    @Test(arguments: [
        "[gone](docs/gone.md)", "[up](../other/README.md)", "[part](docs/guide.md#gone)",
        "[named]: gone.md", "see [a](docs) and [b](gone)",
    ])
    func `a broken link is found`(text: String) {
        #expect(broken("\n" + text).count == 1)
        #expect(broken("\n" + text).first?.hasPrefix("README.md:2: ") == true)
    }

    @Test func `a link is resolved from the document's folder`() {
        #expect(
            broken("[top](../README.md#top) [self](guide.md) [here](#guide)", at: "docs/guide.md")
                == []
        )
        #expect(broken("[top](README.md)", at: "docs/guide.md").count == 1)
    }
}

/// The rule against idioms, on texts that break it, and on texts that only contain their words.
@Suite struct PlainEnglishTests {
    @Test(arguments: [
        ("// Nobody is told.", 2), ("let a = \"compare that which speaks\"", 2),
        ("/* it stood here */", 1), ("let told = heard(whose)", 0), ("// calls `told(by:)`", 0),
        ("let a = \"a \\(told) b\"", 0), ("/// Reports the standing.", 0),
    ])
    func `an idiom in a comment or a text is found`(code: String, count: Int) {
        #expect(
            PlainEnglish.idioms(SourceFile(path: "Sources/A/Made.swift", text: code)).count == count
        )
    }

    @Test func `an idiom in a document is found, unless it is code`() {
        let text = "Tells more.\n```\ntold\n```\nSee `told`, which nobody knows."
        let page = SourceFile(path: "docs/made.md", text: text)
        #expect(
            PlainEnglish.idioms(page).map { $0.prefix(14) } == ["docs/made.md:1", "docs/made.md:5"]
        )
    }
}
