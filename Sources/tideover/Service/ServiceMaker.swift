import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverServer
import TideoverStorage

/// Creates the service of a configuration on one database, at the start and at each reload.
struct ServiceMaker: Sendable {
    let path: String
    let storage: OpenStorage
    let replica: ReplicaReading?
    let probes: Probes
    let clock: Clock
    /// The maximum wait for a store that throttles.
    let patience: Milliseconds
    /// The key of requests through the local socket.
    let localKey: APIKey
    /// The proxies from the start, because the socket server cannot change them.
    let trustedProxies: TrustedProxies
    let log: Log
    /// The stores of a rehearsal; nil for any other server.
    var sandbox: SandboxConnection?
    /// The answers about revoked certificates, which outlive a reload.
    let revocations = RevocationList()

    /// Makes the service. With `adoptsRules`, catalogues and policies are the newest recorded ones.
    /// Without `settings`, they are those of the former service.
    func make(
        _ configuration: Configuration,
        settings: [Configuration.Setting]? = nil,
        succeeding former: Service? = nil,
        adoptsRules: Bool = false,
        reload: Reload? = nil
    ) throws -> ServedConfiguration {
        let passes = try ConfigurationFile.passes(of: configuration)
        let adminKey = try ConfigurationFile.adminKey(of: configuration)
        let connections = try StoreConnections(configuration, clock: clock)
        let webhooks = try WebhookConnections.setup(configuration)
        let revocation =
            configuration.server.checksRevocation
            ? try RevocationConnections(configuration).checks(revocations) : nil
        let apps = try configuration.apps.map {
            try App(
                $0,
                googlePlay: connections.googlePlay[$0.id],
                revenueCat: connections.revenueCat[$0.id],
                sdkSigner: connections.sdkSigners[$0.id],
                passes: passes,
                revocations: revocation == nil ? nil : revocations
            )
        }
        for notice in connections.notices { log(LogLine(.warning, "store", detail: notice)) }
        do {
            let service = try Service(
                apps: apps,
                storage: storage.storage,
                replica: replica,
                version: Tideover.version,
                clock: clock,
                log: log,
                adminKey: adminKey,
                localKey: localKey,
                probes: probes,
                verifications: .processors,
                clients: ClientLimits(
                    trustedProxies: trustedProxies,
                    refusalsPerMinute: configuration.server.limits.refusalsPerMinute
                ),
                access: connections.access,
                succeeding: former,
                adoptsRules: adoptsRules,
                reload: reload ?? former?.reload,
                copier: storage.copier,
                webhooks: webhooks,
                revocation: revocation,
                dashboard: configuration.isDashboardEnabled,
                effective: EffectiveConfiguration(
                    configuration,
                    settings: settings ?? former?.settings ?? []
                ),
                simulatedStores: sandbox?.controls(configuration) ?? [:],
                patience: patience,
                threads: storage.threads
            )
            return ServedConfiguration(configuration: configuration, service: service)
        } catch {
            throw CommandFailure(.io, "\(error)")
        }
    }
}
