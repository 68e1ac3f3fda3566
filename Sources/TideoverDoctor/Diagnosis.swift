package import TideoverConfiguration
package import TideoverCore
package import TideoverHTTP
package import TideoverJSON
import TideoverSignatures
package import TideoverStorage

// Turns the readings of the doctor into findings: all verdicts and messages.

// MARK: - The configuration

extension Finding {
    /// Reports a usable configuration with its notices.
    package static func configuration(_ configuration: Configuration) -> [Finding] {
        let ids = configuration.apps.map(\.id).joined(separator: ", ")
        let noun = configuration.apps.count == 1 ? "app" : "apps"
        return [Finding(.configuration, .ok, "it is valid and has the \(noun) \(ids)")]
            + configuration.notices.map { Finding(.configuration, .warning, $0) }
    }

    /// Reports the problems of an unusable configuration.
    package static func configuration(problems: [String]) -> [Finding] {
        problems.map { Finding(.configuration, .problem, $0) }
    }

    /// Checks that purchases of an app unlock something, and that their periods are known.
    package static func products(of app: Configuration.App) -> Finding {
        let products = app.catalogue.products
        guard !products.isEmpty else {
            return Finding(
                .products,
                of: app.id,
                .warning,
                "the app has no products",
                advice: "List them in apps[].products; until then purchases are stored and unlock "
                    + "nothing."
            )
        }
        let endless = products.filter { $0.value.kind == .autoRenewable && $0.value.period == nil }
        guard endless.isEmpty else {
            return Finding(
                .products,
                of: app.id,
                .warning,
                "these have no period: \(endless.keys.sorted().joined(separator: ", "))",
                advice: "Add `period`; it determines the pace of a sandbox."
            )
        }
        let unlocked = app.catalogue.entitlements.joined(separator: ", ")
        return Finding(
            .products,
            of: app.id,
            .ok,
            "\(counted(products.count, "product")) \(products.count == 1 ? "unlocks" : "unlock") "
                + (unlocked.isEmpty ? "nothing" : unlocked)
        )
    }

    /// Checks that stores can deliver to the public URL.
    package static func publicURL(_ configuration: Configuration) -> Finding {
        guard let url = configuration.server.publicURL else {
            return Finding(.publicURL, .ok, "it is not set")
        }
        guard configuration.apps.contains(where: { $0.environments.contains(.production) }) else {
            return Finding(.publicURL, .ok, "production is not served")
        }
        guard url.hasPrefix("https://") else {
            return Finding(
                .publicURL,
                .problem,
                "production is served, but server.publicURL is not https",
                advice: "Stores deliver to https only: run a proxy with TLS in front of the server."
            )
        }
        return Finding(.publicURL, .ok, "it is https")
    }

    /// Checks that only the owner of a file with a secret can read it.
    package static func secretFile(_ path: String, named key: String, _ reading: FileReading)
        -> Finding
    {
        switch reading {
        case .missing:
            return Finding(
                .secretFile,
                of: key,
                .warning,
                "\(path) does not exist",
                advice: "Create the file; the server does not start without it."
            )
        case .unreadable:
            return Finding(
                .secretFile,
                of: key,
                .warning,
                "this user may not read \(path)",
                advice: "Run this as the user who runs the server. If that user may not read it "
                    + "either, change the owner of the file."
            )
        case .readable(let rights) where rights & 0o077 != 0:
            return Finding(
                .secretFile,
                of: key,
                .warning,
                "\(path) is open to other users of this machine",
                advice: "chmod go= \(path); the server refuses to start with it unless "
                    + "server.allowReadableSecrets is true."
            )
        case .readable:
            return Finding(.secretFile, of: key, .ok, "\(path) is closed to other users")
        }
    }
}

extension Finding {
    /// Checks the key that signs offline passes.
    package static func pass(_ opened: Result<PassReading, UnusablePassKey>?) -> Finding {
        switch opened {
        case nil:
            return Finding(
                .pass,
                .ok,
                "pass.keyFile is not set, so devices get no pass to trust offline; "
                    + "`tideover keys pass` creates a key"
            )
        case .failure(let error):
            return Finding(
                .pass,
                .problem,
                "\(error)",
                advice: "Correct it: the server does not start before that."
            )
        case .success(let pass):
            return Finding(
                .pass,
                .ok,
                "\(pass.issuer) signs with the key \(pass.keyId)"
                    + (pass.others > 0 ? ", and \(pass.others) more are valid" : "")
            )
        }
    }

    /// Reports the state of an app's webhooks, as the server lists them.
    package static func webhooks(of app: Configuration.App, _ answer: JSONNode) -> [Finding] {
        (answer["webhooks"]?.elements.map { $0 } ?? []).map { webhook in
            let id = webhook["id"]?.string ?? ""
            let subject = "\(app.id) \(id)"
            let since = webhook["failingSince"]?.string
            if let reason = webhook["disabled"]?.string, reason != "operator" {
                return Finding(
                    .webhook,
                    of: subject,
                    .problem,
                    "it is disabled: \(reason)",
                    advice: "Fix the receiver, then "
                        + "`tideover webhooks enable \(id) --app \(app.id)`."
                )
            }
            guard webhook["disabled"]?.string == nil else {
                return Finding(.webhook, of: subject, .warning, "an operator disabled it")
            }
            guard let since else { return notFailing(webhook, subject, app) }
            return Finding(
                .webhook,
                of: subject,
                .warning,
                "every delivery failed since \(since)",
                advice: "See `tideover webhooks attempts \(id) --app \(app.id)`."
            )
        }
    }

    private static func notFailing(
        _ webhook: JSONNode,
        _ subject: String,
        _ app: Configuration.App
    ) -> Finding {
        let unserved = app.unserved(inWebhook: webhook)
        guard unserved.isEmpty else {
            return Finding(
                .webhook,
                of: subject,
                .warning,
                "the app does not serve these environments of it: "
                    + unserved.joined(separator: ", "),
                advice: "It gets no events of them. Correct its environments, or those of the app."
            )
        }
        return Finding(.webhook, of: subject, .ok, "it does not fail")
    }

    /// Reports the private networks that webhooks may be sent to, so that the operator knows.
    package static func allowedNetworks(_ settings: [Configuration.Setting]) -> [Finding] {
        settings.filter { $0.path.hasSuffix(".allowNetworks") && !$0.text.isEmpty }.map {
            Finding(
                .allowedNetworks,
                of: $0.path,
                .ok,
                "besides public addresses, webhooks may be sent to \($0.text)"
            )
        }
    }
}

extension Configuration.App {
    /// Returns the environments that a webhook names and the app does not serve. `webhook` is an
    /// element of a response to `GET /v1/apps/{app}/webhooks`.
    package func unserved(inWebhook webhook: JSONNode) -> [String] {
        // Another app of a configured one may serve them; else the configuration has a notice.
        guard webhook["configured"]?.bool != true else { return [] }
        return (webhook["environments"]?.elements.compactMap(\.string) ?? [])
            .filter { name in !environments.contains { $0.rawValue == name } }
    }
}

// MARK: - What is stored

extension Finding {
    /// Checks that the storage can be opened and is not damaged.
    package static func storage(
        _ path: String,
        _ reading: StorageReading,
        in folder: FolderReading
    ) -> Finding {
        switch reading {
        case .failed(let error):
            return Finding(.storage, .problem, "\(error)")
        case .read(let faults, _, _) where !faults.isEmpty:
            let more = faults.count > 1 ? ", and \(faults.count - 1) more" : ""
            return Finding(
                .storage,
                .problem,
                "\(path) is damaged: \(faults[0])\(more)",
                advice: StorageError(.corrupt, place: path).advice
            )
        case .missing where !folder.isWritable, .read where !folder.isWritable:
            return Finding(
                .storage,
                .problem,
                "this user may not write to the folder of \(path)",
                advice: "Allow the server's user to write there, and run this as that user."
            )
        case .missing:
            return Finding(.storage, .ok, "the server creates \(path) at its first start")
        case .inUse(let holder):
            let process = holder.map { "process \($0)" } ?? "another process"
            return Finding(
                .storage,
                .ok,
                "\(path) is in use by \(process), most likely the server, and was not read"
            )
        case .read:
            return Finding(.storage, .ok, "\(path) is sound, and no process has it open")
        }
    }

    /// Checks that a PostgreSQL database answers and has tables that this version can use.
    package static func database(_ reading: Result<DatabaseReading, StorageError>) -> Finding {
        switch reading {
        case .success(let database):
            let newer = database.newerSchema.map { "schema \($0), which this version can use" }
            let tables = newer ?? "the tables of this version"
            return Finding(.storage, .ok, "\(database.place) answers, with \(tables)")
        case .failure(let error):
            guard error.reason == .notAStorage else {
                return Finding(.storage, .problem, "\(error)")
            }
            return Finding(
                .storage,
                .ok,
                "the server creates its tables in \(error.place) at its first start"
            )
        }
    }

    /// Compares the configurations of the servers on a database with the one that was read.
    package static func servers(_ servers: [ServerRecord], fingerprint: String) -> Finding {
        let differing = servers.count { $0.configuration != fingerprint }
        guard differing > 0 else {
            let detail = "\(servers.count) on this database, with this configuration"
            return Finding(.servers, .ok, servers.isEmpty ? "none on this database" : detail)
        }
        let list = servers.map { "\($0.id) (\($0.version)) has \($0.configuration)" }
        return Finding(
            .servers,
            .warning,
            "\(differing) of \(servers.count) have another configuration than this file, which is "
                + "\(fingerprint): \(list.joined(separator: ", "))",
            advice: "Give all servers the same file and the same variables, and reload them."
        )
    }

    /// Checks the free space of the disk.
    package static func disk(_ folder: FolderReading) -> Finding {
        guard let free = folder.freeBytes else {
            return Finding(.disk, .warning, "the system does not report the free space")
        }
        let detail = "\(free >> 20) MiB are free beside the storage"
        let advice = "Free some space; a full disk makes every notification fail until there is."
        if free < 64 << 20 { return Finding(.disk, .problem, detail, advice: advice) }
        if free < 1 << 30 { return Finding(.disk, .warning, detail, advice: advice) }
        return Finding(.disk, .ok, detail)
    }
}

// MARK: - Replays

extension Finding {
    /// Reports the replays that a server of this version does not resume, because it crashed during
    /// them.
    package static func replays(_ storage: StorageReading) -> [Finding] {
        guard case .read(_, _, let setAside) = storage else { return [] }
        return setAside.map { "\($0.app) \($0.environment.rawValue)" }.sorted()
            .map(replaySetAside)
    }

    /// Reports a replay that a running server has set aside, from a response to `GET
    /// /v1/apps/{app}/replay`; nil if there is none.
    package static func replay(
        of app: String,
        in environment: Environment,
        _ answer: JSONNode
    ) -> Finding? {
        guard answer["setAside"]?.bool == true else { return nil }
        return replaySetAside(of: "\(app) \(environment.rawValue)")
    }

    private static func replaySetAside(of subject: String) -> Finding {
        Finding(
            .replay,
            of: subject,
            .problem,
            "the server crashed twice while it replayed the stored evidence, and set the replay aside",
            advice: "Report the crash. `tideover replay --apply` resumes it, in this version too."
        )
    }
}

// MARK: - Time

extension Finding {
    /// The maximum difference of two clocks; the server allows signatures to be this far ahead.
    private static let tolerance = Milliseconds.clockTolerance

    /// Checks that this machine's clock is not earlier than the newest stored evidence.
    package static func clock(_ now: Instant, _ storage: StorageReading) -> Finding {
        guard case .read(_, let newest, _) = storage else {
            return Finding(
                .clock,
                .ok,
                "it says \(now.rfc3339); no stored evidence was read to compare it with"
            )
        }
        // The clock of a simulated store is independent.
        guard let latest = newest.filter({ $0.key != .simulated }).values.max() else {
            return Finding(
                .clock,
                .ok,
                "it says \(now.rfc3339); no evidence is stored to compare it with"
            )
        }
        guard latest <= now + tolerance else {
            return Finding(
                .clock,
                .problem,
                "it says \(now.rfc3339), but evidence of \(latest.rfc3339) is stored",
                advice:
                    "Set the clock, and synchronize it by NTP; notifications are rejected while it "
                    + "is slow."
            )
        }
        return Finding(.clock, .ok, "it says \(now.rfc3339), after the newest stored evidence")
    }

    /// Checks that a simulated store and the server have the same time. `url` is the URL of the
    /// store's clock, and `served` the time of the running server, if one answers.
    package static func storeClock(
        of app: String,
        at url: String,
        _ reading: Result<Instant, some Error>,
        now: Instant,
        served: Instant? = nil,
        following: ClockFollowing = .possible
    ) -> Finding {
        switch reading {
        case .failure(let error):
            return Finding(
                .storeClock,
                of: app,
                .warning,
                "no time is available at \(url): \(error)",
                advice: "Start the simulated store if the rehearsal needs it."
            )
        case .success(let instant) where !instant.isWithin(tolerance, of: served ?? now):
            let owner = served == nil ? "this machine's" : "the server's"
            return Finding(
                .storeClock,
                of: app,
                .warning,
                "it says \(instant.rfc3339), which is not \(owner) time",
                advice: following.advice(at: url)
                    + " Otherwise the server checks the store's signatures at another time than "
                    + "the store's."
            )
        case .success(let instant):
            return Finding(
                .storeClock,
                of: app,
                .ok,
                "it says \(instant.rfc3339), like \(served == nil ? "this machine" : "the server")"
            )
        }
    }

    /// Whether one server can follow the clocks of the simulated stores by `--clock`.
    package enum ClockFollowing: Hashable, Sendable {
        case possible
        case severalClocks
        case otherEnvironments

        /// Judges from the time that each store's clock shows, by the URL of the clock. Two apps
        /// at one URL have one clock.
        package init(_ apps: [Configuration.App], _ times: [String: Instant]) {
            guard apps.allSatisfy({ $0.environments == [.simulated] }) else {
                self = .otherEnvironments
                return
            }
            let first = times.values.min()
            let isOneTime = times.values.allSatisfy { time in
                first.map { time.isWithin(tolerance, of: $0) } ?? true
            }
            self = isOneTime ? .possible : .severalClocks
        }

        fileprivate func advice(at url: String) -> String {
            let today =
                "start `tideover sandbox serve` with --month, so that its store begins today"
            return switch self {
            case .possible: "Serve with --clock \(url)."
            case .severalClocks:
                "The simulated stores have different times, and --clock follows one of them: give "
                    + "each app a server of its own, or \(today)."
            case .otherEnvironments:
                "--clock needs a configuration of simulated apps only: give this app one, or "
                    + "\(today)."
            }
        }
    }

    /// Checks that a simulated store's root is valid at the store's time; nil if the app has none.
    package static func simulatedRoot(of app: Configuration.App, at instant: Instant) -> Finding? {
        guard let root = app.simulatedStore?.root else { return nil }
        let from = Instant(millisecondsSince1970: root.validity.lowerBound)
        let until = Instant(millisecondsSince1970: root.validity.upperBound)
        let detail = "it is valid from \(from.rfc3339) until \(until.rfc3339)"
        guard from <= instant, instant <= until else {
            return Finding(
                .simulatedRoot,
                of: app.id,
                .problem,
                "\(detail), not at \(instant.rfc3339)",
                advice: "Let the simulated store create a new root, and configure that one."
            )
        }
        guard instant + .days(30) <= until else {
            return Finding(
                .simulatedRoot,
                of: app.id,
                .warning,
                detail,
                advice: "It expires soon: let the simulated store create a new root."
            )
        }
        return Finding(.simulatedRoot, of: app.id, .ok, detail)
    }
}

// MARK: - The machine

extension Finding {
    /// Checks that the server can listen, or is already running. `isDatabaseOpen` is true if a
    /// process has the configured database open, nil if the database could not be read.
    package static func listen(
        at address: ListenAddress,
        as setting: String = "server.listen",
        _ reading: ListenReading,
        version: String,
        isDatabaseOpen: Bool?
    ) -> Finding {
        let subject = setting == "server.listen" ? nil : setting
        switch reading {
        case .tideover where isDatabaseOpen == false:
            return Finding(
                .listen,
                of: subject,
                .problem,
                "a Tideover with another database answers at \(address)",
                advice: "Stop it, or set another \(setting)."
            )
        case .free:
            return Finding(.listen, of: subject, .ok, "\(address) is free")
        case .tideover(version):
            return Finding(
                .listen,
                of: subject,
                .ok,
                "a Tideover \(version) answers at \(address)"
            )
        case .tideover(let other):
            return Finding(
                .listen,
                of: subject,
                .warning,
                "a Tideover \(other) answers at \(address), and this is \(version)",
                advice: "Restart the server to run the version that is installed."
            )
        case .stranger:
            return Finding(
                .listen,
                of: subject,
                .problem,
                "\(address) is in use by a program that does not answer like Tideover",
                advice: "Stop it, or set another \(setting)."
            )
        case .impossible(let reason):
            return Finding(
                .listen,
                of: subject,
                .problem,
                reason,
                advice: "Set another \(setting)."
            )
        }
    }

    /// Checks the address of RevenueCat's SDKs. Its answers state no version, so that of the
    /// server's own address counts.
    package static func sdkListen(
        at address: ListenAddress,
        _ reading: ListenReading,
        version: String,
        isDatabaseOpen: Bool?,
        isServing: Bool
    ) -> Finding {
        // Port 0 is any free one, which is not known here.
        guard reading != .free || !isServing || address.port == 0 else {
            return Finding(
                .listen,
                of: "server.sdkListen",
                .problem,
                "the server runs, but not at \(address)",
                advice: "Restart it: a change of server.sdkListen takes effect at the next start."
            )
        }
        return listen(
            at: address,
            as: "server.sdkListen",
            reading,
            version: version,
            isDatabaseOpen: isDatabaseOpen
        )
    }

    /// Checks that a running server sees its clients' addresses; nil if it does not count those
    /// that it does not see.
    package static func clientAddresses(_ metrics: MetricsReading) -> Finding? {
        guard let count = metrics.untrustedForwarding else { return nil }
        guard count > 0 else {
            return Finding(.clientAddresses, .ok, "no untrusted peer sent X-Forwarded-For")
        }
        return Finding(
            .clientAddresses,
            .warning,
            "\(counted(count, "request")) had X-Forwarded-For from a peer that is not a trusted "
                + "proxy",
            advice: "List your proxies in server.trustedProxies; otherwise all their clients share "
                + "one rate limit."
        )
    }

    /// Checks what a running server knows about revoked certificates; nil if it does not ask.
    package static func revocation(_ metrics: MetricsReading) -> Finding? {
        guard let certificates = metrics.certificates else { return nil }
        guard certificates.revoked == 0 else {
            return Finding(
                .revocation,
                .problem,
                "\(counted(certificates.revoked, "certificate")) that signed data "
                    + "\(certificates.revoked == 1 ? "is" : "are") revoked; new data is rejected",
                advice: "The log names them. Check who sends the data, and Apple's announcements."
            )
        }
        let unchecked = certificates.unchecked
        let failing = certificates.failing + unchecked
        guard failing == 0 else {
            return Finding(
                .revocation,
                .warning,
                "\(counted(failing, "certificate")) could not be checked at their last request, "
                    + "\(unchecked) of them without a current answer",
                advice: "Allow outgoing HTTP to ocsp.apple.com; the log has the reason. Data is "
                    + "accepted meanwhile."
            )
        }
        return Finding(.revocation, .ok, "no certificate that signed data is known to be revoked")
    }

    /// Checks that the workers of a running server complete their rounds; nil if it has none.
    package static func workers(_ metrics: MetricsReading) -> Finding? {
        guard let failing = metrics.failingWorkers else { return nil }
        guard failing.isEmpty else {
            return Finding(
                .workers,
                .warning,
                "failing or stuck: \(failing.sorted().joined(separator: ", "))",
                advice: "The log has the reason in lines with event `worker failed`. If a worker "
                    + "is stuck, keep the log and restart the server."
            )
        }
        return Finding(.workers, .ok, "all workers of the server complete their rounds")
    }

    /// Compares the commits of a running server, on a file of some bytes, with those of the measured
    /// machine at its limit; nil if it reports none.
    package static func capacity(ofFile bytes: Int64, _ metrics: MetricsReading) -> Finding? {
        guard let commits = metrics.commits else { return nil }
        let file = "the file has \(bytes / 1_000_000) MB"
        guard commits.count >= 1_000 else {
            return Finding(.capacity, .ok, "\(file); too few commits to judge: \(commits.count)")
        }
        let slow = commits.count - commits.prompt
        let detail = "\(file); \(slow) of \(commits.count) commits took longer than 0.25 s"
        guard slow * 100 > commits.count else { return Finding(.capacity, .ok, detail) }
        return Finding(
            .capacity,
            .warning,
            "\(detail), more than one of a hundred",
            advice: "The machine is at its limit. Look for what else uses its disk and processors. "
                + "PostgreSQL commits fewer on the same machine; move to it so as to lose no machine, "
                + "or to read from more of them. docs/scaling.md has figures."
        )
    }

    /// Checks that the limit of open files is high enough for the connections and the server
    /// itself.
    package static func fileDescriptors(
        _ reading: FileLimitReading,
        needed: Int,
        connections: Int
    ) -> Finding {
        let whose = reading.process.map { "process \($0)" } ?? "a process started from here"
        let detail = "\(whose) may have \(reading.most) files open"
        guard reading.most >= Int64(needed) else {
            return Finding(
                .fileDescriptors,
                .warning,
                "\(detail), and \(connections) connections need \(needed), so fewer are accepted",
                advice: "Raise the limit for the server: ulimit -n, or LimitNOFILE= of systemd."
            )
        }
        return Finding(.fileDescriptors, .ok, detail)
    }

    /// Checks that root certificates for TLS connections are installed.
    package static func roots(arePresent: Bool, places: [String]) -> Finding {
        let places = places.joined(separator: " or ")
        guard arePresent else {
            return Finding(
                .roots,
                .warning,
                "no roots are at \(places.isEmpty ? "any place" : places)",
                advice: "Install the package ca-certificates; TLS connections fail without it."
            )
        }
        return Finding(.roots, .ok, "roots are at \(places)")
    }
}
