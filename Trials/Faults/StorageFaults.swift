import Glibc
import TideoverHTTP

// Disk faults. Each trial ends with a check of the file.

extension FaultTrial {
    static let diskFull = FaultTrial(
        name: "disk-full",
        summary: "fill the disk under the database, kill and start it there, free the disk"
    ) { ground in
        if let obstacle = ground.obstacleToMounts { return .skipped(obstacle) }
        return try ground.inFolder { folder in try FullDisk(folder, ground).run() }
    }

    static let readOnly = FaultTrial(
        name: "read-only",
        summary: "start on a file system that is read-only; make one so under a running server"
    ) { ground in
        if let obstacle = ground.obstacleToMounts { return .skipped(obstacle) }
        return try ground.inFolder { folder in
            var finding = Finding()
            try ReadOnlyStart(folder, ground).run(into: &finding)
            do {
                try FailingDisk(folder, ground).run(into: &finding)
            } catch let failure as Mount.Failure {
                finding.note(
                    "no disk can be mounted here, so none was made to fail: \(failure.message)"
                )
            }
            return finding
        }
    }

    static let secondServer = FaultTrial(
        name: "second-server",
        summary: "start a second server on the file of a running one, by its name and by a link"
    ) { ground in
        try ground.inFolder { folder in try SecondServer(folder, ground).run() }
    }
}

/// A server's responses while it cannot write.
private struct Unwritable {
    let wire: Wire

    /// Notifications are deferred; requests that only read still work.
    func check(_ mail: inout Mailbag, into finding: inout Finding) throws {
        try putOff(&mail, &finding)
        let wrong = try mail.wrongAnswers(over: wire)
        finding.expect(wrong == 0, "\(wrong) snapshots are wrong while nothing can be written")
        let health = try wire.get("/healthz")
        finding.expect(health.status == 200, "/healthz answers \(health.status)")
        let isUnready = waited(upTo: 5_000) { (try? wire.get("/readyz"))?.status == 503 }
        finding.expect(isUnready, "/readyz does not report that writes fail")
    }

    /// Space that SQLite has reserved may still accept a few.
    private func putOff(_ mail: inout Mailbag, _ finding: inout Finding) throws {
        var taken = 0
        for _ in 0..<2_000 where mail.refused.count < 20 {
            let answer = try mail.sendNext(over: wire)
            if answer.status == 200 { taken += 1 }
            guard answer.status != 200 else { continue }
            finding.expect(
                answer.status == 503 && answer.problem == "storage-unavailable"
                    && answer.headers["Retry-After"] != nil,
                "a notification was answered \(answer.status) \(answer.problem ?? "")"
            )
        }
        finding.expect(mail.refused.count == 20, "notifications are still taken")
        finding.note("\(taken) more taken, then 503 storage-unavailable")
    }
}

private struct FullDisk {
    let disk: String
    let filler: String
    let site: Site
    let ground: Ground

    init(_ folder: String, _ ground: Ground) throws {
        disk = "\(folder)/disk"
        filler = "\(disk)/filler"
        self.ground = ground
        try Mount.memory(24, at: disk, in: folder)
        site = try Site(folder: folder, database: "\(disk)/tideover.db")
    }

    func run() throws -> Finding {
        defer { try? Mount.remove(disk, in: site.folder) }
        var finding = Finding()
        var mail = Mailbag(site)
        let server = try site.start(ground.server)
        let wire = try Wire(server.port())
        for _ in 0..<100 { _ = try mail.sendNext(over: wire) }
        finding.expect(mail.refused.isEmpty, "notifications are refused before the disk is full")
        try fill()
        try Unwritable(wire: wire).check(&mail, into: &finding)
        try restartWhileFull(server, &mail, &finding)
        try mail.inspect(into: &finding)
        return finding
    }

    /// A machine may restart before its disk is repaired.
    private func restartWhileFull(
        _ first: ServerProcess,
        _ mail: inout Mailbag,
        _ finding: inout Finding
    ) throws {
        finding.expect(first.kill() == .signalled(SIGKILL), "the server ended by itself")
        let server = try site.start(ground.server, log: "again")
        let wire = try Wire(server.port())
        let wrong = try mail.wrongAnswers(over: wire)
        finding.expect(wrong == 0, "\(wrong) snapshots are wrong after a start on a full disk")
        finding.note("killed and started while full: reads go on")
        unlink(filler)
        // A commit that did not fit counts for 30 seconds, unless another one succeeds.
        let isReady = waited(upTo: 35_000) { (try? wire.get("/readyz"))?.status == 200 }
        finding.expect(isReady, "/readyz does not report the recovery")
        let refused = try mail.sendRefused(over: wire)
        finding.expect(refused.isEmpty, "\(refused.count) are refused with space free again")
        finding.note("works again without a restart once space is free")
        finding.expect(server.stop() == .exited(0), "it did not stop in order: \(server.lastWords)")
    }

    /// Fills the disk to the last byte.
    private func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        var size = 1 << 20
        let bytes = [UInt8](repeating: 0x5A, count: size)
        while size > 0 {
            if Glibc.write(file, bytes, size) <= 0 { size /= 2 }
        }
    }
}

private struct ReadOnlyStart {
    let site: Site
    let disk: String
    let ground: Ground

    init(_ folder: String, _ ground: Ground) throws {
        disk = "\(folder)/memory"
        self.ground = ground
        try Mount.memory(16, at: disk, in: folder)
        site = try Site(folder: folder, database: "\(disk)/tideover.db")
    }

    func run(into finding: inout Finding) throws {
        defer { try? Mount.remove(disk, in: site.folder) }
        for state in ["without a database", "with one"] {
            try Mount.change(disk, to: "ro", in: site.folder)
            let server = try site.start(ground.server)
            _ = waited(upTo: 60_000) { server.hasEnded }
            let isTold = server.lastWords.contains("cannot be written to")
            finding.expect(
                server.end == .exited(73) && isTold,
                "started read-only \(state): \(String(describing: server.end)) \(server.lastWords)"
            )
            try Mount.change(disk, to: "rw", in: site.folder)
            let other = try site.start(ground.server)
            _ = try other.port()
            finding.expect(other.stop() == .exited(0), "it did not stop: \(other.lastWords)")
        }
        finding.note("a start there says \"cannot be written to\", exit code 73")
    }
}

/// A disk that the kernel makes read-only under a running server, as it does after errors.
private struct FailingDisk {
    let site: Site
    let image: String
    let disk: String
    let ground: Ground

    init(_ folder: String, _ ground: Ground) throws {
        image = "\(folder)/image"
        disk = "\(folder)/disk"
        self.ground = ground
        try Mount.makeDisk(image, in: folder)
        try Mount.disk(image, at: disk, in: folder)
        site = try Site(folder: folder, database: "\(disk)/tideover.db")
    }

    func run(into finding: inout Finding) throws {
        defer { try? Mount.remove(disk, in: site.folder) }
        var mail = Mailbag(site)
        let server = try site.start(ground.server)
        let wire = try Wire(server.port())
        for _ in 0..<100 { _ = try mail.sendNext(over: wire) }
        try Mount.change(disk, to: "abort", in: site.folder)
        try Unwritable(wire: wire).check(&mail, into: &finding)
        let end = server.stop()
        finding.expect(end == .exited(0), "it did not stop: \(String(describing: end))")
        try Mount.remove(disk, in: site.folder)
        try Mount.disk(image, at: disk, in: site.folder)
        let again = try site.start(ground.server)
        let refused = try mail.sendRefused(over: Wire(again.port()))
        finding.expect(refused.isEmpty, "\(refused.count) are refused on the repaired disk")
        finding.expect(again.stop() == .exited(0), "it did not stop: \(again.lastWords)")
        try mail.inspect(into: &finding)
        finding.note("mounted anew and started: nothing lost")
    }
}

private struct SecondServer {
    let site: Site
    let ground: Ground

    init(_ folder: String, _ ground: Ground) throws {
        self.ground = ground
        site = try Site(folder: folder)
    }

    func run() throws -> Finding {
        var finding = Finding()
        var mail = Mailbag(site)
        let first = try site.start(ground.server)
        let wire = try Wire(first.port())
        for site in [site, try linkedSite(), try hardLinkedSite()] {
            _ = try mail.sendNext(over: wire)
            let second = try site.start(ground.server, log: "second")
            _ = waited(upTo: 60_000) { second.hasEnded }
            finding.expect(
                second.end == .exited(73)
                    && (second.lastWords.contains("in use by process \(first.id)")
                        || second.lastWords.contains("in use by another process")),
                "a second server: \(String(describing: second.end)) \(second.lastWords)"
            )
            _ = try mail.sendNext(over: wire)
        }
        finding.note("refused with the first one's process id, exit code 73; the first goes on")
        first.kill()
        let next = try site.start(ground.server, log: "next")
        finding.expect(try mail.wrongAnswers(over: Wire(next.port())) == 0, "answers are wrong")
        finding.expect(next.stop() == .exited(0), "it did not stop: \(next.lastWords)")
        finding.expect(mail.refused.isEmpty, "the first refused notifications")
        try mail.inspect(into: &finding)
        finding.note("the first killed, another one starts")
        return finding
    }

    /// Links the file under a second name, so that its lock file and log have other names.
    private func hardLinkedSite() throws -> Site {
        let folder = "\(site.folder)/hard"
        mkdir(folder, 0o700)
        link(site.database, "\(folder)/linked.db")
        return try Site(folder: folder, database: "\(folder)/linked.db")
    }

    /// Links to the file under another name.
    private func linkedSite() throws -> Site {
        let folder = "\(site.folder)/other"
        mkdir(folder, 0o700)
        symlink(site.database, "\(folder)/linked.db")
        return try Site(folder: folder, database: "\(folder)/linked.db")
    }
}
