#if canImport(Darwin) && canImport(StoreKit)
import CryptoKit
import Foundation
import TideoverCore
import TideoverHTTP

extension Tideover {
    /// Starts the kit with StoreKit, URLSession and a file in Application Support. On tvOS, where
    /// an app may write only to its caches, the file is there. Call it in the app's
    /// initializer, and again for another customer. The former store then ends.
    @MainActor
    public static func start(_ configuration: Configuration) throws -> EntitlementStore {
        let folder = Self.folder.appending(path: "Tideover")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "kept.json").path(percentEncoded: false)
        let (earlier, last) = (formerWrites, current?.stop())
        let writes = Task {
            await earlier?.value
            await last?.value
        }
        formerWrites = writes
        var file = KeptFile.onDisk(path: path).read(after: writes)
        #if os(tvOS)
        file.isLasting = false
        #endif
        let store = start(
            configuration,
            source: .storeKit,
            file: file,
            network: URLSessionNetwork(base: configuration.server?.base).handler,
            verify: { signature, message, key in
                let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key)
                return key?.isValidSignature(signature, for: message) ?? false
            }
        )
        current = store
        return store
    }

    /// The store of the kept file. A view can hold a former one for a while, and both would replace
    /// the file.
    @MainActor private static weak var current: EntitlementStore?

    /// The writes of all former stores. A purchase of a former customer can be in them.
    @MainActor private static var formerWrites: Task<Void, Never>?

    /// An Apple TV refuses to create Application Support; a simulator does not.
    private static var folder: URL {
        #if os(tvOS)
        URL.cachesDirectory
        #else
        URL.applicationSupportDirectory
        #endif
    }
}

/// Requests to one server over URLSession.
private struct URLSessionNetwork: Sendable {
    let base: String?
    private static let patience: TimeInterval = 30

    struct NoAddress: Error {}

    var handler: Handler {
        { request in
            var components = base.flatMap { URLComponents(string: $0) }
            components?.percentEncodedPath += request.path
            components?.queryItems = request.query.map {
                URLQueryItem(name: $0.name, value: $0.value)
            }
            guard let url = components?.url else { throw NoAddress() }
            var outgoing = URLRequest(url: url, timeoutInterval: Self.patience)
            outgoing.httpMethod = request.method
            if !request.body.isEmpty { outgoing.httpBody = Data(request.body) }
            for field in request.headers.fields {
                outgoing.addValue(field.value, forHTTPHeaderField: field.name)
            }
            let (data, response) = try await URLSession.shared.data(for: outgoing)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            return Response(status: status, body: Array(data))
        }
    }
}
#endif
