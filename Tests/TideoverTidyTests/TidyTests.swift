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

    @Test func `imports refer to lower levels only, and system libraries have one owner`() {
        #expect(SourceTree.sources.flatMap(HouseRules.wrongImports) == [])
    }

    @Test func `every module has a level or is a system library with an owner`() {
        let known = HouseRules.levels.reduce(Set(HouseRules.owners.keys)) { $0.union($1) }
        #expect(SourceTree.modules.filter { !known.contains($0) } == [])
    }

    @Test func `the core uses no clock, no random numbers and no waiting`() {
        #expect(SourceTree.sources.flatMap(HouseRules.impureCore) == [])
    }

    @Test func `statements for PostgreSQL are portable`() {
        #expect(SourceTree.sources.flatMap(HouseRules.unportableSQL) == [])
    }

    @Test func `both storages number the parameters of a common statement alike`() throws {
        #expect(try #require(SourceTree.file("Sources/TideoverStorage/CommonSQL.swift")).isSwift)
        #expect(SourceTree.sources.flatMap(HouseRules.misnumberedParameters) == [])
    }

    @Test func `modules for apps need no newer system than declared`() {
        #expect(SourceTree.sources.flatMap(HouseRules.tooNewForTheKit) == [])
    }

    @Test func `only library products have public declarations`() {
        #expect(SourceTree.sources.flatMap(HouseRules.publicOutsideProducts) == [])
    }

    @Test func `no unfinished work is left`() {
        #expect(SourceTree.files.flatMap(HouseRules.unfinishedWork) == [])
    }

    @Test func `a broken assumption stops with a precondition and its message`() {
        #expect(SourceTree.sources.flatMap(HouseRules.crashesWithoutAReason) == [])
    }

    @Test func `the thread sanitizer sees every lock`() {
        #expect(SourceTree.sources.flatMap(HouseRules.invisibleLocks) == [])
    }

    @Test func `programs are started with one function`() {
        #expect(SourceTree.files.flatMap(HouseRules.foundationsProcesses) == [])
    }

    @Test func `every exemption from concurrency checks has a reason`() {
        #expect(SourceTree.files.flatMap(HouseRules.unexplainedEscapes) == [])
    }

    @Test func `documents, comments and messages are in plain English`() {
        #expect(SourceTree.files.flatMap(PlainEnglish.idioms) == [])
    }

    @Test func `no file contains a machine-specific path`() {
        #expect(SourceTree.files.flatMap(HouseRules.pathsOfOneMachine) == [])
    }

    @Test func `pages contain no markup as text`() {
        #expect(SourceTree.sources.flatMap(HouseRules.writtenMarkup) == [])
    }

    @Test func `SQL statements are in the database's module`() {
        #expect(SourceTree.sources.flatMap(HouseRules.strayStatements) == [])
    }

    @Test func `every target's name contains the project's name`() throws {
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

    @Test func `every trap has a reason on the page`() throws {
        let page = try #require(SourceTree.file("docs/traps.md"))
        #expect(HouseRules.unarguedTraps(SourceTree.sources, page: page) == [])
    }

    @Test func `every threat has a test or trial in the tree`() throws {
        let page = try #require(SourceTree.file("docs/threats.md"))
        let faults = ThreatPage.faults(in: page) { ThreatPage.exists($0, in: SourceTree.files) }
        #expect(faults == [])
    }

    @Test func `every link within the project is valid`() {
        let documents = SourceTree.files.filter {
            $0.path.hasSuffix(".md") && (!$0.path.contains("/") || $0.path.hasPrefix("docs/"))
        }
        let broken = MarkdownLinks.broken(documents) { path in
            SourceTree.file(path)?.written.text ?? (SourceTree.exists(path) ? "" : nil)
        }
        #expect(broken == [])
    }
}
