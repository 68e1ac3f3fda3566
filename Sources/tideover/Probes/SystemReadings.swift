import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverJSON
import TideoverPostgreSQL
import TideoverRevenueCat
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// Reads the machine's state for `tideover doctor`. The findings are made elsewhere.
enum SystemReadings {
    // MARK: Files

    static func file(_ path: String) -> FileReading {
        var entry = stat()
        guard stat(path, &entry) == 0 else { return errno == EACCES ? .unreadable : .missing }
        guard access(path, R_OK) == 0 else { return .unreadable }
        return .readable(rights: Int(entry.st_mode & 0o777))
    }

    /// Whether a file exists, or may exist without permission to see it.
    static func mayExist(_ path: String) -> Bool {
        access(path, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno)
    }

    /// The bytes of a database file and its log; 0 if there is none.
    static func size(of path: String) -> Int64 {
        [path, "\(path)-wal"].reduce(0) { sum, file in
            var entry = stat()
            return stat(file, &entry) == 0 ? sum + Int64(entry.st_size) : sum
        }
    }

    static func folder(of path: String) -> FolderReading {
        let cut = path.lastIndex(of: "/")
        let folder = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        var system = statvfs()
        let isKnown = statvfs(folder, &system) == 0
        return FolderReading(
            isWritable: access(folder, W_OK | X_OK) == 0,
            freeBytes: isKnown ? Int64(clamping: system.f_bavail * UInt(system.f_frsize)) : nil
        )
    }

    static func storage(_ path: String) -> StorageReading {
        do {
            switch try SQLiteExamination(path: path, bookmarks: ReplayBookmark.name) {
            case .missing: return .missing
            case .inUse(let holder): return .inUse(holder: holder)
            case .read(let faults, let newest, let replays):
                let setAside = replays.filter {
                    ReplayBookmark.isSetAside($0.value, by: Tideover.version)
                }
                return .read(
                    faults: faults,
                    newestEvidence: newest,
                    setAside: Array(setAside.keys)
                )
            }
        } catch {
            return .failed(error)
        }
    }

    /// Connects to a PostgreSQL database.
    static func database(_ address: String) -> Result<DatabaseReading, StorageError> {
        Result { () throws(StorageError) in
            let storage = try PostgreSQLStorage(reading: address)
            return DatabaseReading(
                place: storage.place,
                newerSchema: storage.newerSchema,
                servers: try storage.servers()
            )
        }
    }

    /// The limit of the server that has the storage open, else the highest limit that a server
    /// started here could set.
    static func fileLimit(of storage: StorageReading) -> FileLimitReading {
        if case .inUse(let holder?) = storage, let most = openFiles(of: holder) {
            return FileLimitReading(most: most, process: holder)
        }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return FileLimitReading(most: Int64(clamping: limit.rlim_max), process: nil)
    }

    /// Reads the fourth word of `Max open files  SOFT  HARD  files`.
    private static func openFiles(of process: Int32) -> Int64? {
        let path = "/proc/\(process)/limits"
        guard let bytes = try? FileInput.read(path, atMost: 64 << 10) else { return nil }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("Max open files") }
        let words = line?.split(separator: " ") ?? []
        guard words.count > 3 else { return nil }
        return words[3] == "unlimited" ? .max : Int64(words[3])
    }

    // MARK: Network

    static func clock(at url: HTTPURL) async -> Result<Instant, FollowedClock.Failure> {
        do throws(FollowedClock.Failure) {
            return .success(try await FollowedClock(at: url).now())
        } catch {
            return .failure(error)
        }
    }

    static func listen(_ address: ListenAddress) async -> ListenReading {
        await listen(address) { tideover($0) }
    }

    /// Reads the address of RevenueCat's SDKs, where a server knows no path but theirs.
    static func sdkListen(_ address: ListenAddress) async -> ListenReading {
        await listen(address) { answer in
            let code = try? JSONDocument(answer.body).root["code"]?.int64
            let isOfSDK = answer.status == 404 && code == Int64(SDKError.notOffered("").code)
            return isOfSDK ? .tideover(version: Tideover.version) : nil
        }
    }

    private static func listen(
        _ address: ListenAddress,
        _ reading: (Response) -> ListenReading?
    ) async -> ListenReading {
        switch await health(at: address) {
        case .success(let answer): return reading(answer) ?? .stranger
        case .failure(.cannotConnect), .failure(.engineFailed): return await attempt(address)
        case .failure: return .stranger
        }
    }

    /// Listens for a moment at an address that accepted no connection.
    private static func attempt(_ address: ListenAddress) async -> ListenReading {
        do throws(HTTPServerError) {
            let server = try HTTPServer(address: address.host, port: address.port) { _ in
                throw Problem.notFound
            }
            await server.stop(within: .zero)
            return .free
        } catch {
            if case .addressInUse = error { return .stranger }
            return .impossible("\(error)")
        }
    }

    private static func health(
        at address: ListenAddress
    ) async -> Result<Response, HTTPClientError> {
        await get("/healthz", at: address)
    }

    /// Returns a running server's time, which can follow a simulated store's clock; nil if none
    /// answers.
    static func time(at address: ListenAddress) async -> Instant? {
        guard case .success(let answer) = await health(at: address), tideover(answer) != nil else {
            return nil
        }
        return try? JSONDocument(answer.body).root["time"]?.string.flatMap { Instant(rfc3339: $0) }
    }

    /// Returns a running server's metrics; nil if it does not answer.
    static func metrics(at address: ListenAddress) async -> MetricsReading? {
        guard case .success(let answer) = await get("/metrics", at: address), answer.status == 200
        else { return nil }
        return MetricsReading(String(decoding: answer.body, as: UTF8.self))
    }

    private static func get(
        _ path: String,
        at address: ListenAddress
    ) async -> Result<Response, HTTPClientError> {
        guard address.port > 0, let url = try? HTTPURL("http://\(reachable(address))\(path)")
        else {
            return .failure(.cannotConnect(code: 0))
        }
        var limits = ExchangeLimits()
        limits.connect = .seconds(2)
        limits.total = .seconds(5)
        do throws(HTTPClientError) {
            let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
            let place = Destination(url, addresses: .any, limits: limits)
            return .success(try await client.send(to: place))
        } catch {
            return .failure(error)
        }
    }

    /// A server that listens at every address also answers on loopback.
    private static func reachable(_ address: ListenAddress) -> String {
        switch address.host {
        case "0.0.0.0": "127.0.0.1:\(address.port)"
        case "::": "[::1]:\(address.port)"
        default: address.description
        }
    }

    private static func tideover(_ answer: Response) -> ListenReading? {
        guard answer.status == 200, let root = try? JSONDocument(answer.body).root,
            root["status"]?.string == "ok", let version = root["version"]?.string,
            root["time"]?.string.flatMap({ Instant(rfc3339: $0) }) != nil
        else { return nil }
        return .tideover(version: version)
    }
}
