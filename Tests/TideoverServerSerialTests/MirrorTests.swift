import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverJSON
import TideoverLocks
import TideoverRehearsal
import TideoverSandbox
import TideoverServer
import TideoverTestProcesses

@testable import TideoverTestServer

/// The programs of `Examples/Mirror`, compared with the server's answers.
@Suite struct MirrorTests {
    /// Each story has its own database and two processes; all at once would exceed the limit of
    /// open files.
    private static let turns = ConcurrencyLimiter(WorkLimits(running: 8, waiting: 1_000))

    @Test(arguments: ScenarioTests.files)
    func `after each drained event a mirror has the answer of the server`(file: String) async throws
    {
        try await Self.turns.pass { try await Self.check(file) }
    }

    private static func check(_ file: String) async throws {
        let bytes = Array(
            try Data(contentsOf: ScenarioTests.folder.appending(path: file))
        )
        let log = try await Self.log(of: try Scenario(reading: bytes))
        let visits = await log.visits
        #expect(!visits.isEmpty)
        for program in MirrorProgram.allCases where program.isPresent {
            let said = try program.run(program.comparison, visits)
            #expect(said.code == 0, "\(program): \(said.messages)")
            #expect(said.results == "", "\(program)")
        }
        let schemas = try await Self.schemas(of: log)
        let page = try EventPage.page.get()
        for event in await log.events {
            let document = try JSONDocument(event.encoded())
            #expect(schemas.faults(of: document.root, named: "Event") == [], "\(event)")
            #expect(page.undocumented(in: event) == [], "\(event)")
        }
    }

    /// Returns the schemas of the first log; every service serves the same document.
    private static func schemas(of log: MirrorLog) async throws -> Schemas {
        if let known = served.withLock({ $0 }) { return known }
        let schemas = Schemas(try await log.document())
        served.withLock { $0 = schemas }
        return schemas
    }

    private static let served = Locked<Schemas?>(nil)

    /// Plays a scenario. Before each request of a device or a support person, the server processes
    /// due deadlines, as a running one does.
    private static func log(of scenario: Scenario) async throws -> MirrorLog {
        let log = MirrorLog(app: scenario.app.id)
        try await Rehearsal.played(
            scenario,
            planting: { rehearsal, target in
                let ask = target.readBack
                target.readBack = { request in
                    // A report of a prompt reads no answer.
                    guard request.path.contains("/customers/"), !request.path.hasSuffix("/prompts")
                    else {
                        return try await ask(request)
                    }
                    _ = await rehearsal.service.meetDueDeadlines()
                    let before = try await log.drain(rehearsal)
                    let response = try await ask(request)
                    let after = try await log.drain(rehearsal)
                    try await log.add(request, response, before: before, after: after)
                    return response
                }
            },
            then: { rehearsal, _ in try await log.keepDocument(of: rehearsal) }
        )
        return log
    }

    @Test(
        .enabled(if: MirrorProgram.python.isPresent, "python3 is not installed"),
        arguments: MirrorProgram.samples
    )
    func `the Python mirror reads a customer once for an old event without an answer`(
        events: JSONValue
    ) throws {
        try check(.python, events)
    }

    @Test(
        .enabled(if: MirrorProgram.node.isPresent, "node is not installed"),
        arguments: MirrorProgram.samples
    )
    func `the Node mirror reads a customer once for an old event without an answer`(
        events: JSONValue
    ) throws {
        try check(.node, events)
    }

    private func check(_ program: MirrorProgram, _ events: JSONValue) throws {
        let said = try program.run(program.oldEvents, [events])
        #expect(said.code == 0, "\(said.messages)")
        #expect(said.results == "a b\n")
    }

    @Test(
        .enabled(if: MirrorProgram.python.isPresent, "python3 is not installed")
    )
    func `the Python mirror follows the feed of a served app`() async throws {
        try await follow(.python)
    }

    @Test(.enabled(if: MirrorProgram.node.isPresent, "node is not installed"))
    func `the Node mirror follows the feed of a served app`() async throws {
        try await follow(.node)
    }

    private func follow(_ program: MirrorProgram) async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let socket = try HTTPServer(port: 0, handler: server.service.handler)
        let key = try #require(TestServer.credentials["Authorization"]).dropFirst("Bearer ".count)
        let command = [
            try #require(program.path), program.file, "http://127.0.0.1:\(socket.port)", "cards",
            "sandbox", "--once",
        ]
        let (code, results, messages) = try await said(command, key: String(key))
        await socket.stop(within: .zero)
        #expect(code == 0, "\(messages)")
        #expect(results.contains(TestServer.anna))
        #expect(results.contains("cards.pro.monthly"))
        await server.close()
    }
}

/// Returns a program's output. A separate thread waits for it, since the server that it queries
/// needs the pool's threads.
private func said(
    _ command: [String],
    key: String
) async throws -> (code: Int32, results: String, messages: String) {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(
                with: Result {
                    let said = try ChildProcess.run(command, variables: ["TIDEOVER_KEY": key])
                    return (said.code, said.results, said.messages)
                }
            )
        }
    }
}

/// The data for a mirror: the pages of the feed, and each answer of a scenario.
private actor MirrorLog {
    private let app: String
    private var cursor: String?
    private(set) var visits: [JSONValue] = []
    private(set) var events: [JSONValue] = []
    private var openAPI: [UInt8] = []

    init(app: String) { self.app = app }

    func keepDocument(of rehearsal: Rehearsal) async throws {
        openAPI = try await rehearsal.get("/openapi.json").encoded()
    }

    func document() throws -> JSONDocument { try JSONDocument(openAPI, limits: .local) }

    /// Returns the new pages of the feed; they are small, so that there are several.
    func drain(_ rehearsal: Rehearsal) async throws -> [JSONValue] {
        var pages: [JSONValue] = []
        while pages.last?["more"]?.bool ?? true {
            let after = cursor.map { "&after=\($0)" } ?? ""
            let page = try await rehearsal.get("/v1/apps/\(app)/events?limit=7\(after)")
            cursor = page["next"]?.string
            events += page["events"]?.array ?? []
            pages.append(page)
        }
        return pages
    }

    func add(
        _ request: Request,
        _ response: Response,
        before: [JSONValue],
        after: [JSONValue]
    ) throws {
        guard response.status == 200 else { return }
        visits.append([
            "reads": .bool(request.method == "GET"), "before": .array(before),
            "after": .array(after), "answer": JSONValue(try JSONDocument(response.body).root),
        ])
    }
}

/// A program of `Examples/Mirror`, and the code that queries its mirror.
enum MirrorProgram: String, CaseIterable {
    case python, node

    static let folder = ScenarioTests.folder.deletingLastPathComponent()
        .appending(path: "Examples/Mirror").path

    /// Two events of two customers, one stored by an earlier version.
    static let samples: [JSONValue] = {
        let answer: JSONValue = ["premium": ["access": true, "accessUntil": .null]]
        func event(_ customer: String, _ data: JSONValue) -> JSONValue {
            [
                "customer": .string(customer), "customerVersion": 1, "environment": "simulated",
                "kind": "started", "data": data,
            ]
        }
        return [[event("a", [:]), event("a", [:]), event("b", ["answer": answer])]]
    }()

    var file: String {
        switch self {
        case .python: "\(Self.folder)/mirror.py"
        case .node: "\(Self.folder)/mirror.mjs"
        }
    }

    var path: String? {
        let name = self == .python ? "python3" : "node"
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return (["/usr/bin"] + folders.map(String.init)).map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    var isPresent: Bool { path != nil }

    /// Runs code beside the program, with a line of JSON for each value.
    func run(_ code: String, _ lines: [JSONValue]) throws -> ChildProcess.Said {
        let options = self == .python ? ["-B", "-c"] : ["--input-type=module", "-e"]
        return try ChildProcess.run(
            [path ?? rawValue] + options + [code, Self.folder],
            input: lines.flatMap { $0.encoded() + [UInt8(ascii: "\n")] }
        )
    }

    /// Feeds one mirror the events in order, and another one each event repeatedly in random order.
    /// Prints each answer that differs from the server's.
    var comparison: String {
        switch self {
        case .python:
            """
            import json, random, sys
            sys.path.insert(0, sys.argv[1])
            import mirror
            MEMBERS = ["access", "state", "reason", "confidence", "productId", "store",
                       "accessUntil", "graceUntil", "willRenew"]
            def never(customer):
                raise AssertionError("an event has no answer")
            mirrors = {"plain": mirror.Mirror("simulated", never),
                       "shuffled": mirror.Mirror("simulated", never)}
            chance, seen = random.Random(1), []
            def drain(pages):
                source = iter(pages)
                mirrors["plain"].drain(lambda cursor: next(source))
                fresh = [event for page in pages for event in page["events"]]
                seen.extend(fresh)
                late = fresh * 2 + chance.sample(seen, min(len(seen), 5))
                chance.shuffle(late)
                for event in late:
                    mirrors["shuffled"].apply(event)
            def compare(when, answer):
                now, customer = mirror.instant(answer["asOf"]), answer["customer"]
                for name, truth in answer["entitlements"].items():
                    for kind, one in mirrors.items():
                        held = one.answers.get(customer, (0, {}))[1].get(name)
                        expected = {member: truth[member] for member in MEMBERS}
                        same = held == expected if held else truth["state"] == "never"
                        if not same or one.access(customer, name, now) != truth["access"]:
                            print(kind, when, answer["asOf"], customer, name, held, expected)
            for line in sys.stdin:
                visit = json.loads(line)
                drain(visit["before"])
                if visit["reads"]:
                    compare("before", visit["answer"])
                drain(visit["after"])
                compare("after", visit["answer"])
            """
        case .node:
            """
            import { createInterface } from "node:readline";
            const { Mirror } = await import(process.argv[1] + "/mirror.mjs");
            const MEMBERS = ["access", "state", "reason", "confidence", "productId", "store",
              "accessUntil", "graceUntil", "willRenew"];
            const never = () => { throw new Error("an event has no answer"); };
            const mirrors = { plain: new Mirror("simulated", never),
              shuffled: new Mirror("simulated", never) };
            const seen = [];
            const drain = async (pages) => {
              const source = pages[Symbol.iterator]();
              await mirrors.plain.drain(() => source.next().value);
              const fresh = pages.flatMap((page) => page.events);
              seen.push(...fresh);
              const late = [...fresh, ...fresh, ...seen.slice(-9, -4)].reverse();
              for (const event of late) await mirrors.shuffled.apply(event);
            };
            const same = (held, truth) => held === undefined ? truth.state === "never"
              : MEMBERS.every((member) => held[member] === truth[member]);
            const compare = (when, answer) => {
              const { customer, asOf } = answer;
              for (const [name, truth] of Object.entries(answer.entitlements)) {
                for (const [kind, one] of Object.entries(mirrors)) {
                  const held = one.answers.get(customer)?.answer[name];
                  const access = one.access(customer, name, Date.parse(asOf));
                  if (!same(held, truth) || access !== truth.access) {
                    console.log(kind, when, asOf, customer, name, held, truth);
                  }
                }
              }
            };
            for await (const line of createInterface({ input: process.stdin })) {
              const visit = JSON.parse(line);
              await drain(visit.before);
              if (visit.reads) compare("before", visit.answer);
              await drain(visit.after);
              compare("after", visit.answer);
            }
            """
        }
    }

    /// Prints the customers with an answer in the mirror, and those with access.
    var oldEvents: String {
        switch self {
        case .python:
            """
            import datetime, json, sys
            sys.path.insert(0, sys.argv[1])
            import mirror
            reads = []
            def read(customer):
                reads.append(customer)
                answer = {"premium": {"access": True, "accessUntil": None}}
                return {"customerVersion": 1, "entitlements": answer}
            one = mirror.Mirror("simulated", read)
            for event in json.load(sys.stdin):
                one.apply(event)
            now = datetime.datetime.now(datetime.timezone.utc)
            if reads == ["a"]:
                print(*[name for name in "abc" if one.access(name, "premium", now)])
            """
        case .node:
            """
            const { Mirror } = await import(process.argv[1] + "/mirror.mjs");
            const { readFileSync } = await import("node:fs");
            const reads = [];
            const one = new Mirror("simulated", async (customer) => {
              reads.push(customer);
              const answer = { premium: { access: true, accessUntil: null } };
              return { customerVersion: 1, entitlements: answer };
            });
            for (const event of JSON.parse(readFileSync(0, "utf8"))) await one.apply(event);
            if (reads.join() === "a") {
              console.log([..."abc"].filter((id) => one.access(id, "premium", Date.now())).join(" "));
            }
            """
        }
    }
}
