import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures

/// Asks OCSP responders about the certificates that signed verified data, apart from any request.
struct RevocationWorker: Sendable {
    let checks: RevocationChecks
    let clock: Clock
    /// A monotonic clock in nanoseconds.
    let uptime: @Sendable () -> Int64
    let metrics: Metrics
    let log: Log

    /// The longest time until a new certificate is asked about.
    static let interval = Duration.seconds(5)
    private static let mostRequests = 8

    var worker: Worker { Worker(.revocation, every: Self.interval) { await look() } }

    /// Asks about the certificates that are due.
    func look() async {
        let (now, uptime) = (clock(), uptime())
        let due = checks.list.withTable {
            $0.due(at: now, uptime: uptime, limit: Self.mostRequests)
        }
        await withTaskGroup { group in
            for entry in due { group.addTask { await ask(entry) } }
        }
    }

    private func ask(_ entry: RevocationTable.Entry) async {
        let certificate = entry.certificate
        guard let responder = entry.responder, let body = certificate.ocspRequest else { return }
        let request = Request(
            method: "POST",
            path: "/",
            headers: [
                "Content-Type": "application/ocsp-request", "Accept": "application/ocsp-response",
            ],
            body: body
        )
        let exchange = await checks.send(responder, certificate.anchor, request)
        // A request that the stop of the server ended shows nothing about the responder.
        guard !Task.isCancelled else { return }
        judge(exchange, about: certificate)
    }

    private func judge(
        _ exchange: RevocationChecks.Exchange,
        about certificate: IssuedCertificate
    ) {
        switch exchange {
        case .forbidden:
            failed(.forbidden, certificate, "its responder's URL is not allowed")
        case .failure(let reason):
            failed(.unreachable, certificate, reason)
        case .response(let status, _) where status != 200:
            failed(.unreachable, certificate, "the responder answered \(status)")
        case .response(_, let body):
            do {
                let now = clock()
                let statement = try OCSPResponse.verify(
                    body,
                    about: certificate,
                    at: now.millisecondsSince1970
                )
                answered(statement, certificate, at: now)
            } catch {
                failed(.unverified, certificate, error.rawValue)
            }
        }
    }

    private func answered(
        _ statement: RevocationStatement,
        _ certificate: IssuedCertificate,
        at now: Instant
    ) {
        let uptime = uptime()
        let (outcome, change) = checks.list.withTable {
            $0.record(statement, about: certificate, at: now, uptime: uptime)
        }
        report(outcome, certificate, change, "the responder's answer is \(outcome.rawValue)")
    }

    private func failed(
        _ outcome: RevocationOutcome,
        _ certificate: IssuedCertificate,
        _ reason: String
    ) {
        let (now, uptime) = (clock(), uptime())
        let change = checks.list.withTable {
            $0.recordFailure(about: certificate, at: now, uptime: uptime)
        }
        report(outcome, certificate, change, reason)
    }

    /// Counts each request, and logs a line when the state of the certificate changes.
    private func report(
        _ outcome: RevocationOutcome,
        _ certificate: IssuedCertificate,
        _ change: RevocationTable.Change?,
        _ reason: String
    ) {
        metrics.count(.revocationChecks, outcome.rawValue)
        guard let change, change.before != change.after,
            let (level, event) = Self.line(change)
        else { return }
        let serial = Hexadecimal.text(certificate.serialNumber)
        log(
            LogLine(
                level,
                event,
                code: outcome.rawValue,
                detail: "\(certificate.position.rawValue) certificate \(serial) below the root "
                    + "\(certificate.anchor.name): \(reason)"
            )
        )
    }

    private static func line(
        _ change: RevocationTable.Change
    ) -> (LogLine.Level, String)? {
        switch (change.before, change.after) {
        case (_, .revoked): (.error, "signing certificate is revoked")
        case (_, .failing), (_, .unchecked): (.warning, "revocation not checked")
        case (.failing, .good), (.unchecked, .good): (.info, "revocation checked again")
        case (.revoked, .good): (.warning, "signing certificate is no longer revoked")
        default: nil
        }
    }
}

extension Service {
    /// Asks about the certificates that are due now.
    package func checkDueRevocation() async { await revocationWorker?.look() }

    /// Nil if the configuration does not ask for it.
    var revocationWorker: RevocationWorker? {
        revocation.map { checks in
            RevocationWorker(
                checks: checks,
                clock: clock,
                uptime: probes.uptime,
                metrics: metrics,
                log: log
            )
        }
    }
}
