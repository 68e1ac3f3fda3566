import TideoverCore
import TideoverHTTP
import TideoverStorage

/// Answers `GET /metrics`: the counters, and the current state of the server.
struct MetricsRoute {
    private let service: Service
    private var text = MetricText()

    init(_ service: Service) {
        self.service = service
    }

    consuming func respond() -> Response {
        counted()
        verification()
        if let revocation = service.revocation { write(revocation.list) }
        reports()
        deadlines()
        silence()
        replays()
        workers()
        acknowledgements()
        unclaimed()
        if let bytes = service.probes.writeAheadLogBytes() {
            gauge("wal_bytes", "Size of the database's write-ahead log.", Int(clamping: bytes))
        }
        if let count = service.probes.transactionRepetitions() {
            counter(
                "storage_repetitions_total",
                "Transactions repeated because the database ended them in favour of others.",
                count
            )
        }
        if let count = service.probes.commitStatements() {
            counter("commit_statements_total", "SQL statements that commits ran.", count)
        }
        if let servers = service.probes.servers() {
            gauge("servers", "Servers on this database.", servers.running)
            gauge(
                "servers_differing",
                "Servers on this database with another configuration than this one.",
                servers.differing
            )
        }
        counter(
            "log_lines_dropped_total",
            "Lines of the log dropped because standard error did not accept them.",
            service.probes.droppedLogLines()
        )
        if let sockets = service.probes.sockets() { write(sockets) }
        if let process = service.probes.process() { write(process) }
        text.family(
            "tideover_build_info",
            .gauge,
            "Always 1; the label is the version.",
            [([("version", service.version)], 1)]
        )
        return Response(
            headers: ["Content-Type": MetricText.contentType, "Cache-Control": "no-store"],
            body: Array(text.text.utf8)
        )
    }

    /// The histogram that the doctor reads.
    static let commitDuration = "tideover_storage_commit_duration_seconds"

    private mutating func counted() {
        let reading = service.metrics.reading
        for family in CounterFamily.all {
            let series = (reading.counters[family] ?? [:]).sorted {
                $0.key.lexicographicallyPrecedes($1.key)
            }
            text.family(
                family.name,
                .counter,
                family.help,
                series.map { (Array(zip(family.labels, $0.key)), Double($0.value)) }
            )
        }
        text.histograms(
            "tideover_http_request_duration_seconds",
            "From the arrival of a request's last byte to its answer, by route template.",
            reading.requestDurations.sorted { $0.key < $1.key }.map {
                ([("route", $0.key)], $0.value)
            }
        )
        text.histograms(
            Self.commitDuration,
            "From the request for a commit to its outcome, including the wait for the writer.",
            [([], reading.commitDurations)]
        )
    }

    private mutating func verification() {
        let concurrencyLimiter = service.verifications.reading
        let chains = service.apps.compactMap { app in
            app.appStore.map { ([("app", app.id)], $0.chainReading) }
        }
        gauge(
            "verifications_running",
            "Notifications being verified now.",
            concurrencyLimiter.running
        )
        gauge(
            "verifications_waiting",
            "Notifications waiting to be verified.",
            concurrencyLimiter.waiting
        )
        counter(
            "verifications_turned_away_total",
            "Notifications answered 503 because too many were waiting.",
            concurrencyLimiter.turnedAway
        )
        gauge(
            "refused_senders",
            "Addresses with counted refused notifications, by app.",
            service.rateLimiter.senders
        )
        text.family(
            "tideover_verified_chains",
            .gauge,
            "Chains of certificates remembered as verified.",
            chains.map { ($0.0, Double($0.1.remembered)) }
        )
        text.family(
            "tideover_chain_public_key_operations_total",
            .counter,
            "Public-key operations spent on chains of certificates that were not remembered.",
            chains.map { ($0.0, Double($0.1.operations)) }
        )
    }

    /// The gauge that the doctor reads.
    static let certificates = "tideover_signing_certificates"

    private mutating func write(_ list: RevocationList) {
        let counts = list.counts(at: service.clock())
        text.family(
            Self.certificates,
            .gauge,
            "Certificates that signed verified data, by what is known of their revocation.",
            RevocationTable.State.allCases.map {
                ([("state", $0.rawValue)], Double(counts[$0] ?? 0))
            }
        )
    }

    /// Writes the reports in progress; one at a time reads the storage for each app.
    private mutating func reports() {
        let readings = service.apps.map { app in
            (labels: [("app", app.id)], reading: service.longReads[app.id].reading)
        }
        text.family(
            "tideover_reports_running",
            .gauge,
            "Reports being made now, at most one for each app.",
            readings.map { ($0.labels, Double($0.reading.running)) }
        )
        text.family(
            "tideover_reports_waiting",
            .gauge,
            "Reports waiting to be made.",
            readings.map { ($0.labels, Double($0.reading.waiting)) }
        )
        text.family(
            "tideover_reports_turned_away_total",
            .counter,
            "Reports answered 503 because too many were waiting.",
            readings.map { ($0.labels, Double($0.reading.turnedAway)) }
        )
    }

    /// The maximum count, which keeps a scrape fast.
    private static let mostDue = 10_000

    /// Writes nothing while the storage cannot be read.
    private mutating func deadlines() {
        let now = service.clock()
        var counts: [(labels: [(String, String)], value: Double)] = []
        var lateness: [(labels: [(String, String)], value: Double)] = []
        for app in service.apps {
            for environment in app.environments {
                guard
                    let due = try? service.storage.due(
                        in: AppScope(app.id, environment),
                        now: now,
                        limit: Self.mostDue
                    )
                else { continue }
                let labels = [("app", app.id), ("environment", environment.rawValue)]
                let late = due.oldest.map { (now - $0).count } ?? 0
                counts.append((labels, Double(due.count)))
                lateness.append((labels, Double(late) / 1_000))
            }
        }
        text.family(
            "tideover_deadlines_due",
            .gauge,
            "Customers with answers that fell due and are not derived again yet, up to 10000.",
            counts
        )
        text.family(
            "tideover_deadlines_oldest_lateness_seconds",
            .gauge,
            "How long ago the longest waiting one of them fell due.",
            lateness
        )
    }

    /// Writes nothing while the storage cannot be read.
    private mutating func unclaimed() {
        var counts: [(labels: [(String, String)], value: Double)] = []
        for app in service.apps {
            for environment in app.environments {
                guard
                    let count = try? service.storage.unclaimedCount(
                        in: AppScope(app.id, environment),
                        limit: UnclaimedRoute.mostCounted
                    )
                else { continue }
                counts.append(
                    ([("app", app.id), ("environment", environment.rawValue)], Double(count))
                )
            }
        }
        text.family(
            "tideover_unclaimed_purchases",
            .gauge,
            "Purchases that no customer ever claimed, counted up to 10000.",
            counts
        )
    }

    private mutating func acknowledgements() {
        let now = service.clock()
        var awaited: [(labels: [(String, String)], value: Double)] = []
        var late: [(labels: [(String, String)], value: Double)] = []
        for poller in service.clients.pollers {
            let reading = poller.pollQueue.reading(at: now)
            let labels = [("app", poller.app.id), ("environment", poller.environment.rawValue)]
            awaited.append((labels, Double(reading.awaited)))
            late.append((labels, Double(reading.late)))
        }
        text.family(
            "tideover_play_acknowledgements_awaited",
            .gauge,
            "Purchases that are not acknowledged to Google Play yet.",
            awaited
        )
        text.family(
            "tideover_play_acknowledgements_late",
            .gauge,
            "Unacknowledged purchases that Google Play refunds soon.",
            late
        )
    }

    /// The gauge that the doctor reads.
    static let workers = "tideover_workers"

    private mutating func workers() {
        let readings = service.workerWatch.readings(at: service.probes.uptime())
        let kinds = Dictionary(grouping: readings, by: \.id.kind.rawValue)
            .sorted { $0.key < $1.key }
        text.family(
            Self.workers,
            .gauge,
            "Workers of the server by kind and state: running, failing or stuck.",
            kinds.flatMap { kind, readings in
                WorkerState.Condition.allCases.map { condition in
                    (
                        [("worker", kind), ("state", condition.rawValue)],
                        Double(readings.count { $0.condition == condition })
                    )
                }
            }
        )
        text.family(
            "tideover_worker_round_seconds",
            .gauge,
            "How long the current round of a worker has taken, the longest of each kind.",
            kinds.map { kind, readings in
                let longest = readings.map(\.round).max() ?? 0
                return ([("worker", kind)], Double(longest) / 1e9)
            }
        )
    }

    private mutating func replays() {
        text.family(
            "tideover_replay_set_aside",
            .gauge,
            "1 while a replay that crashed twice waits for a request to resume it, else 0.",
            service.replayers.map { replayer in
                let labels = [
                    ("app", replayer.app.id), ("environment", replayer.environment.rawValue),
                ]
                return (labels, replayer.isSetAside ? 1 : 0)
            }
        )
    }

    private mutating func silence() {
        let now = service.clock()
        var lengths: [(labels: [(String, String)], value: Double)] = []
        var alarms: [(labels: [(String, String)], value: Double)] = []
        for place in service.arrivals.places {
            guard let silence = service.arrivals.page(place)?.silence else { continue }
            let labels = [
                ("app", place.app), ("environment", place.environment.rawValue),
                ("store", place.store.rawValue),
            ]
            lengths.append((labels, silence.length(at: now).seconds))
            alarms.append((labels, silence.raisedAt == nil ? 0 : 1))
        }
        text.family(
            "tideover_notifications_silence_seconds",
            .gauge,
            "Time since the last notification; if none, since the server first listened.",
            lengths
        )
        text.family(
            "tideover_notifications_silence_alarm",
            .gauge,
            "1 if a renewal fell due and nothing has arrived for too long, else 0.",
            alarms
        )
    }

    private mutating func write(_ sockets: SocketReading) {
        gauge("http_connections_open", "Connections open now.", sockets.connectionsOpen)
        counter("http_connections_total", "Connections taken.", sockets.connectionsTaken)
        counter(
            "http_connections_refused_total",
            "Connections closed at once: their address had too many, or memory was short.",
            sockets.connectionsRefused
        )
        counter(
            "http_connections_evicted_total",
            "Connections closed to make room for other connections or for their bodies.",
            sockets.connectionsEvicted
        )
        counter(
            "http_connections_timed_out_total",
            "Connections closed because the client was too slow or silent for too long.",
            sockets.connectionsTimedOut
        )
        counter(
            "http_requests_answered_at_once_total",
            "Requests answered without waiting for anything.",
            sockets.answeredAtOnce
        )
        counter(
            "http_requests_suspended_total",
            "Requests that waited for verification or the storage.",
            sockets.suspended
        )
        counter(
            "http_requests_malformed_total",
            "Requests refused before any route, for their form or a limit.",
            sockets.requestsRefused
        )
        counter(
            "http_clients_gone_total",
            "Requests given up because their client had gone.",
            sockets.clientsGone
        )
    }

    private mutating func write(_ process: ProcessReading) {
        text.single(
            "tideover_process_start_time_seconds",
            .gauge,
            "When the process started, in seconds since 1970.",
            Double(process.startedAt.millisecondsSince1970) / 1_000
        )
        text.single(
            "tideover_process_cpu_seconds_total",
            .counter,
            "Processor time used, user and system.",
            Double(process.processorMilliseconds) / 1_000
        )
        text.single(
            "tideover_process_resident_memory_bytes",
            .gauge,
            "Memory held.",
            Double(process.residentBytes)
        )
        text.single(
            "tideover_process_open_file_descriptors",
            .gauge,
            "File descriptors open now.",
            Double(process.openFileDescriptors)
        )
        text.single(
            "tideover_process_max_file_descriptors",
            .gauge,
            "The limit of open file descriptors.",
            Double(process.mostFileDescriptors)
        )
    }

    private mutating func gauge(_ name: String, _ help: String, _ value: Int) {
        text.single("tideover_\(name)", .gauge, help, Double(value))
    }

    private mutating func counter(_ name: String, _ help: String, _ value: Int) {
        text.single("tideover_\(name)", .counter, help, Double(value))
    }
}
