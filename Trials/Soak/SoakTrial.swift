import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverSandbox
import TideoverServer
import TideoverStorage

/// The attacks on a server during a soak.
enum SoakAttack: String, CaseIterable, Sendable {
    /// One customer has bought many consumables, and continues to buy.
    case purchases
    /// Forged notifications, from the address of honest clients.
    case forgeries
    /// Misuse of an app's public key.
    case publicKey = "public-key"
    /// Repeated long reports.
    case reports
    /// Connections that send nothing.
    case idle
    /// Connections that send very little.
    case slow
    /// A log without a reader.
    case log
}

/// Runs everything at the same time, for any duration: honest senders, devices and reads, and all
/// known attacks.
struct SoakTrial {
    let server: ServerCommand
    let network: SoakNetwork
    let minutes: Int
    let attacks: Set<SoakAttack>
    /// The number of consumables that one customer bought before the start.
    let purchases: Int
    /// The number of other customers with a subscription.
    let customers: Int
    /// Whether times are judged or only printed.
    let judgesTimes: Bool
    let tell: @Sendable (String) -> Void

    /// The 99th percentile that responses may take, in milliseconds.
    private static let longest = (notification: 500.0, read: 50.0)
    /// The number of notifications per thousand that may need a retry.
    private static let refusedPerMille = 10
    /// The allowed growth of the file in KiB: per notification, and in addition.
    private static let (kibibytesEach, kibibytesBesides) = (16, 64 * 1024)
    /// The allowed growth of memory in the second half, in KiB.
    private static let memorySlack = 32 * 1024
    private static let (idleCount, slowCount) = (1_100, 100)

    func run(in folder: String) throws -> (Table, Finding) {
        raiseFileLimit()
        let adminKey = APIKey(.admin) { .random(in: .min ... .max) }.text
        let exposure = Site.Exposure(address: network.server, adminKey: adminKey)
        let site = try Site(folder: folder, exposure: exposure)
        let log = attacks.contains(.log) ? try StalledLog("\(folder)/server.log") : nil
        defer { log?.close() }
        let process = try site.start(server)
        let place = try SoakPlace(site, network, port: process.port(), adminKey: adminKey)
        let cast = try Cast(place, attacks)
        var finding = Finding()
        try load(cast, &finding)
        let gauge = Gauge(process, site.database)
        let readings = try watch(cast, place, gauge, process)
        judge(cast, readings, gauge, &finding)
        judgeEnd(process, &finding)
        try inspect(site, cast, &finding)
        return (table(cast, readings), finding)
    }

    /// All participants.
    private struct Cast {
        let attacks: Set<SoakAttack>
        let senders: HonestSenders
        let devices: HonestDevices
        let buyer: LargeCustomer
        let forger: Forger
        let abuser: KeyAbuser
        let readers: ReportReaders
        let idle: Loiterers
        let slow: Loiterers

        init(_ place: SoakPlace, _ attacks: Set<SoakAttack>) throws {
            let now = systemMilliseconds()
            self.attacks = attacks
            senders = HonestSenders(place, Store(seed: 1, end: now))
            devices = HonestDevices(place, Store(seed: 3, end: now))
            buyer = LargeCustomer(place, Store(seed: 4, end: now))
            forger = try Forger(place)
            abuser = KeyAbuser(place, Store(seed: 1, end: now))
            readers = ReportReaders(place)
            idle = Loiterers(place, SoakTrial.idleCount, from: SoakClients.idle)
            slow = Loiterers(
                place,
                SoakTrial.slowCount,
                from: SoakClients.slow,
                opening: "GET /healthz HTTP/1.1\r\nHost: trial\r\nX-Slow: ",
                morsel: "a"
            )
        }

        var honest: [any SoakParticipant] {
            attacks.contains(.purchases) ? [senders, devices, buyer] : [senders, devices]
        }

        var attackers: [any SoakParticipant] {
            let all: [(SoakAttack, any SoakParticipant)] = [
                (.forgeries, forger), (.publicKey, abuser), (.reports, readers), (.idle, idle),
                (.slow, slow),
            ]
            return all.filter { attacks.contains($0.0) }.map(\.1)
        }

        var acknowledged: [String] { senders.acknowledged + buyer.acknowledged }
    }

    private func load(_ cast: Cast, _ finding: inout Finding) throws {
        let tell = tell
        tell("\(customers) customers subscribe")
        let refused = cast.senders.preload(customers) { tell("    \($0)") }
        finding.expect(refused == 0, "\(refused) of the first subscriptions were not accepted")
        guard attacks.contains(.purchases) else { return }
        tell("one customer buys \(purchases) consumables")
        let begin = ContinuousClock.now
        let failures = cast.buyer.preload(purchases) { tell("    \($0)") }
        let seconds = begin.duration(to: .now).components.seconds
        finding.expect(failures == 0, "\(failures) of the first purchases were not accepted")
        finding.note("the first \(purchases) purchases took \(seconds) s")
    }

    /// Starts all participants and waits. Stops the attackers before the others.
    private func watch(
        _ cast: Cast,
        _ place: SoakPlace,
        _ gauge: Gauge,
        _ process: ServerProcess
    ) throws -> [Prober.Reading] {
        let questions = [
            Prober.Question(target: "/healthz", words: #""status":"ok""#),
            Prober.Question(
                target: Site.snapshot(of: SoakTrial.unheardOf),
                words: #""customer":"\#(SoakTrial.unheardOf)""#
            ),
        ]
        let connect = place.connect(as: SoakClients.prober)
        let prober = Prober(questions, key: place.publicKey, connect: connect)
        return prober.watch {
            let (noAttack, noMore) = (StopFlag(), StopFlag())
            let honest = cast.honest.map { one in
                Threads.start(one.threadCount) { one.run($0, until: noMore) }
            }
            let attackers = cast.attackers.map { one in
                Threads.start(one.threadCount) { one.run($0, until: noAttack) }
            }
            let begin = ContinuousClock.now
            for minute in 1...minutes {
                while begin.duration(to: .now) < .seconds(60 * minute), !process.hasEnded {
                    pause(2_000)
                    gauge.read()
                }
                tell(line(minute, cast, gauge))
            }
            noAttack.set()
            for threads in attackers { threads.join() }
            noMore.set()
            for threads in honest { threads.join() }
            gauge.read()
        }
    }

    private static let unheardOf = "reader"

    private func line(_ minute: Int, _ cast: Cast, _ gauge: Gauge) -> String {
        let record = cast.senders.exchanges.record
        return "minute \(minute): \(record.accepted) of \(record.count) notifications accepted, "
            + "\(record.latencies.text) ms; memory \(gauge.memory.last / 1024) MiB, "
            + "database \(gauge.disk.last / 1024) MiB"
    }

    // MARK: Verdicts

    private func judge(
        _ cast: Cast,
        _ readings: [Prober.Reading],
        _ gauge: Gauge,
        _ finding: inout Finding
    ) {
        let sent = cast.senders.exchanges.record
        let refused = sent.count - sent.accepted
        judgeTime("notifications", sent.latencies, Self.longest.notification, &finding)
        judgeTime("health", readings[0].latencies, Self.longest.read, &finding)
        judgeTime("snapshots", readings[1].latencies, Self.longest.read, &finding)
        for reading in readings {
            let count = reading.wrong.count
            finding.expect(count == 0, "\(count) probes: \(reading.wrong.first ?? "")")
        }
        finding.expect(
            refused * 1_000 <= sent.count * Self.refusedPerMille,
            "\(refused) of \(sent.count) notifications had to be sent again (\(sent.others))"
        )
        finding.expect(cast.senders.open == 0, "\(cast.senders.open) were never accepted")
        finding.expect(
            cast.devices.wrongCount == 0,
            "\(cast.devices.wrongCount) devices were denied what they had bought"
        )
        judgeDevices(cast.devices.exchanges.record, &finding)
        judgeGrowth(sent.accepted, gauge, &finding)
        let answers = cast.forger.answers
        // Its connections are closed to make room for others of its address.
        let strange = answers.filter { ![Flood.broken, 401, 429, 503].contains($0.key) }
        finding.expect(strange.isEmpty, "forgeries were answered with \(strange)")
        finding.note("forgeries: \(answers.sorted { $0.key < $1.key }.map { "\($1)× \($0)" })")
        finding.note(
            "idle connections closed: \(cast.idle.closedCount), slow ones: "
                + "\(cast.slow.closedCount)"
        )
    }

    private func judgeTime(
        _ name: String,
        _ latencies: Latencies,
        _ longest: Double,
        _ finding: inout Finding
    ) {
        finding.expect(latencies.count > 10, "hardly any of the \(name) were made")
        let slow = latencies.percentile(99)
        guard slow >= longest else { return }
        let sentence = "\(name): 99 of 100 within \(Int(slow)) ms, which is over \(Int(longest))"
        if judgesTimes { finding.faults.append(sentence) } else { finding.note(sentence) }
    }

    private func judgeDevices(_ record: Exchanges.Record, _ finding: inout Finding) {
        let refused = record.count - record.accepted
        finding.expect(
            refused * 1_000 <= max(record.count, 100) * Self.refusedPerMille,
            "\(refused) of \(record.count) reconciles were refused (\(record.others))"
        )
    }

    private func judgeGrowth(_ accepted: Int, _ gauge: Gauge, _ finding: inout Finding) {
        let (first, second) = (gauge.memory.peak(inHalf: 0), gauge.memory.peak(inHalf: 1))
        finding.expect(
            second <= first + first / 10 + Self.memorySlack,
            "memory rose from \(first) to \(second) KiB in the second half"
        )
        let grown = gauge.disk.last - gauge.disk.first
        let bound = accepted * Self.kibibytesEach + Self.kibibytesBesides
        finding.expect(grown <= bound, "the database grew by \(grown) KiB, over \(bound)")
        finding.note(
            "memory: \(first / 1024) MiB at most in the first half, \(second / 1024) in the second; "
                + "database: \(gauge.disk.first / 1024) to \(gauge.disk.last / 1024) MiB, "
                + "\(gauge.disk.peak / 1024) at most; descriptors: \(gauge.descriptors.peak) at most"
        )
    }

    /// The server must stop although its log has no reader.
    private func judgeEnd(_ process: ServerProcess, _ finding: inout Finding) {
        let begin = ContinuousClock.now
        let end = process.stop()
        let duration = begin.duration(to: .now)
        finding.expect(end == .exited(0), "it did not stop: \(end?.description ?? "still runs")")
        finding.note("stopped within \(duration.components.seconds + 1) s of SIGTERM")
    }

    private func inspect(_ site: Site, _ cast: Cast, _ finding: inout Finding) throws {
        let audit = try Audit(site.database)
        let acknowledged = cast.acknowledged
        let lost = try acknowledged.count { try !audit.holds($0) }
        let problems = try audit.problems()
        finding.expect(lost == 0, "\(lost) of \(acknowledged.count) acknowledged are lost")
        finding.expect(problems.isEmpty, "the file is damaged: \(problems)")
        finding.note("acknowledged: \(acknowledged.count), lost: \(lost)")
    }

    private func table(_ cast: Cast, _ readings: [Prober.Reading]) -> Table {
        var table = Table([
            .init("requests"), .init("count", .trailing), .init("200", .trailing),
            .init("ms: median/99 %/most", .trailing), .init("others"),
        ])
        let records = [
            ("notifications", cast.senders.exchanges.record),
            ("reconciles beside the forger", cast.devices.exchanges.record),
            ("purchases of the large customer", cast.buyer.exchanges.record),
            ("its presentations of 32", cast.buyer.presentations.record),
            ("reports", cast.readers.exchanges.record),
            ("with the public key", cast.abuser.exchanges.record),
        ]
        for (reading, name) in zip(readings, ["health", "snapshots"]) {
            let (count, wrong) = (reading.latencies.count, reading.wrong.count)
            table.add([
                .init(name, .strong), "\(count)", "\(count - wrong)",
                "\(reading.latencies.text)", "",
            ])
        }
        for (name, record) in records where record.count > 0 {
            table.add([
                .init(name, .strong), "\(record.count)", "\(record.accepted)",
                "\(record.latencies.text)", "\(record.others)",
            ])
        }
        return table
    }

    /// This process has both ends of every connection.
    private func raiseFileLimit() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = min(limit.rlim_max, 8_192)
        setrlimit(resource, &limit)
    }
}

/// A log without a reader once the server listens. A blocking write to it never returns.
private struct StalledLog {
    private let descriptor: Int32

    init(_ path: String) throws {
        guard mkfifo(path, 0o600) == 0 else {
            throw CommandFailure(.cannotCreate, "\(path): \(String(cString: strerror(errno)))")
        }
        // Open at both ends, so that opening does not wait and writes have a reader.
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    }

    func close() { Glibc.close(descriptor) }
}
