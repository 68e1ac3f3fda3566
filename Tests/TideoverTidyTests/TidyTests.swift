import Foundation
import Testing

/// Checks the project itself.
@Suite struct TidyTests {
    @Test func `the project is found`() {
        #expect(SourceTree.sources.count > 10)
        #expect(SourceTree.file("Package.swift") != nil)
        #expect(SourceTree.file(".ci/run") != nil)
        #expect(SourceTree.modules.contains("TideoverCore"))
    }

    @Test func `imports only go down and libraries of the system have one owner`() {
        #expect(SourceTree.sources.flatMap(HouseRules.wrongImports) == [])
    }

    @Test func `every module has a level or is a library of the system with an owner`() {
        let known = HouseRules.levels.reduce(Set(HouseRules.owners.keys)) { $0.union($1) }
        #expect(SourceTree.modules.filter { !known.contains($0) } == [])
    }

    @Test func `the core reads no clock, rolls no dice and waits for nothing`() {
        #expect(SourceTree.sources.flatMap(HouseRules.impureCore) == [])
    }

    @Test func `what an app embeds needs no newer system than it says`() {
        #expect(SourceTree.sources.flatMap(HouseRules.tooNewForTheKit) == [])
    }

    @Test func `nothing is left unfinished`() {
        #expect(SourceTree.files.flatMap(HouseRules.unfinishedWork) == [])
    }

    @Test func `a broken assumption is told by a precondition`() {
        #expect(SourceTree.sources.flatMap(HouseRules.crashesWithoutAReason) == [])
    }

    @Test func `the thread sanitizer sees every lock`() {
        #expect(SourceTree.sources.flatMap(HouseRules.invisibleLocks) == [])
    }

    @Test func `programs are started in one way`() {
        #expect(SourceTree.files.flatMap(HouseRules.foundationsProcesses) == [])
    }

    @Test func `every way around the checks of concurrency says why`() {
        #expect(SourceTree.files.flatMap(HouseRules.unexplainedEscapes) == [])
    }

    @Test func `documents, comments and texts are in plain English`() {
        #expect(SourceTree.files.flatMap(PlainEnglish.idioms) == [])
    }

    @Test func `no file names a path of one machine`() {
        #expect(SourceTree.files.flatMap(HouseRules.pathsOfOneMachine) == [])
    }

    @Test func `statements for a database stand in its module`() {
        #expect(SourceTree.sources.flatMap(HouseRules.strayStatements) == [])
    }

    @Test func `every target carries the project's name`() throws {
        let manifest = try #require(SourceTree.file("Package.swift"))
        #expect(HouseRules.foreignTargetNames(manifest) == [])
        let names = Set(HouseRules.targets(of: manifest).map(\.name))
        #expect(SourceTree.modules.filter { !names.contains($0) } == [])
    }

    @Test(
        .enabled(
            if: SourceTree.exists("ARCHITECTURE.md") || SourceTree.exists("README.md"),
            "neither README.md nor ARCHITECTURE.md is written yet"
        )
    )
    func `the architecture page names every module`() throws {
        let page = try #require(SourceTree.file("ARCHITECTURE.md"), "README.md has come before it")
        let text = page.written.text
        #expect(HouseRules.undrawnModules(text, modules: SourceTree.modules) == [])
    }

    @Test func `every threat has something in the tree that shows what stands against it`() throws {
        let page = try #require(SourceTree.file("docs/threats.md"))
        let faults = ThreatPage.faults(in: page) { ThreatPage.exists($0, in: SourceTree.files) }
        #expect(faults == [])
    }

    @Test func `every link inside the project leads somewhere`() {
        let documents = SourceTree.files.filter {
            $0.path.hasSuffix(".md") && (!$0.path.contains("/") || $0.path.hasPrefix("docs/"))
        }
        let broken = documents.flatMap { document in
            MarkdownLinks.broken(document) { path in
                SourceTree.file(path)?.written.text
                    ?? (SourceTree.exists(path) ? "" : nil)
            }
        }
        #expect(broken == [])
    }
}
