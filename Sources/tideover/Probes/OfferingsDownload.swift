import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverRevenueCat

/// Requests the offerings of a RevenueCat project, with their packages and products.
/// https://www.revenuecat.com/docs/api-v2
struct OfferingsDownload {
    /// The project's id at RevenueCat, such as `proj1ab2c3d4`.
    let project: String
    /// A secret key of version 2 of the API that may read the project's configuration.
    let key: String
    /// Sends requests to RevenueCat.
    let handler: Handler

    /// The maximum number of requests. RevenueCat allows 60 of this kind in a minute.
    private static let mostRequests = 50
    private static let pageSize = "100"
    private var requests = 0

    init(project: String, key: String, handler: @escaping Handler) {
        self.project = project
        self.key = key
        self.handler = handler
    }

    /// Returns the offerings of all pages, as the members of `revenueCat.sdk`.
    ///
    /// - Throws: `CommandFailure` if RevenueCat does not answer, rejects a request or answers with
    ///   something else.
    mutating func configuration() async throws -> JSONValue {
        let path = "/v2/projects/\(PercentEncoding.encode(project))/offerings"
        let first = try await ask(path, expanding: "items.package.product")
        var offerings: [JSONValue] = []
        for offering in try await items(of: first, expanding: "items.package.product") {
            offerings.append(try await complete(offering))
        }
        let whole: JSONValue = ["object": "list", "items": .array(offerings)]
        do {
            let root = try JSONDocument(whole.encoded(), limits: .local).root
            return try RevenueCatOfferings(root).configuration
        } catch let fault as RevenueCatOfferingsFault {
            throw CommandFailure(.data, "RevenueCat's answer: \(fault.sentence)")
        }
    }

    // MARK: Pages

    /// Returns an offering with all of its packages, and these with all of their products.
    private mutating func complete(_ offering: JSONValue) async throws -> JSONValue {
        guard var form = offering.object, let list = form["packages"], list["items"]?.array != nil
        else { return offering }
        var packages: [JSONValue] = []
        for package in try await items(of: list, expanding: "items.product") {
            packages.append(try await completePackage(package))
        }
        form["packages"] = ["items": .array(packages)]
        return .object(form)
    }

    private mutating func completePackage(_ package: JSONValue) async throws -> JSONValue {
        guard var form = package.object, let list = form["products"], list["items"]?.array != nil
        else { return package }
        form["products"] = ["items": .array(try await items(of: list, expanding: nil))]
        return .object(form)
    }

    /// Returns the items of a list and of the pages after it.
    private mutating func items(
        of list: JSONValue,
        expanding expand: String?
    ) async throws -> [JSONValue] {
        var items = list["items"]?.array ?? []
        var next = list["next_page"]?.string
        while let target = next {
            let page = try await ask(target, expanding: expand)
            items += page["items"]?.array ?? []
            next = page["next_page"]?.string
        }
        return items
    }

    // MARK: Requests

    /// Requests a list. Only the path and the query of `target` are used, so that the key is sent
    /// to no other host.
    private mutating func ask(
        _ target: String,
        expanding expand: String?
    ) async throws -> JSONValue {
        requests += 1
        guard requests <= Self.mostRequests else {
            throw CommandFailure(.data, "RevenueCat lists more than \(Self.mostRequests) pages")
        }
        guard let target = RequestTarget(target) else {
            throw CommandFailure(.data, "RevenueCat names a page that is not a path")
        }
        var query = target.query.filter { $0.name != "expand" && $0.name != "limit" }
        query.append(QueryItem(name: "limit", value: Self.pageSize))
        if let expand { query.append(QueryItem(name: "expand", value: expand)) }
        let request = Request(
            path: target.path,
            query: query,
            headers: ["Authorization": "Bearer \(key)", "Accept": "application/json"]
        )
        let response: Response
        do {
            response = try await handler(request)
        } catch let error as HTTPClientError {
            throw CommandFailure(
                .unavailable,
                "RevenueCat did not answer at \(RevenueCatAPI.url): \(error)"
            )
        }
        guard response.status == 200 else { throw failure(response.status) }
        return try Self.list(response.body)
    }

    private static func list(_ body: [UInt8]) throws(CommandFailure) -> JSONValue {
        let root: JSONNode
        do {
            root = try JSONDocument(body, limits: .storeAnswer).root
        } catch {
            throw CommandFailure(.data, "RevenueCat's answer is not strict JSON: \(error)")
        }
        guard root["items"]?.kind == .array else {
            throw CommandFailure(.data, "RevenueCat's answer is not a list")
        }
        return JSONValue(root)
    }

    private func failure(_ status: Int) -> CommandFailure {
        switch status {
        case 401:
            CommandFailure(
                .noPermission,
                "RevenueCat does not accept the key\nUse a secret key of API version 2."
            )
        case 403:
            CommandFailure(
                .noPermission,
                "the key may not read offerings\nGrant it to read the project's configuration: "
                    + "offerings, packages and products."
            )
        case 404:
            CommandFailure(.data, "RevenueCat does not know the project \(project)")
        case 429:
            CommandFailure(
                .unavailable,
                "RevenueCat's rate limit is reached\nRepeat the command in a minute."
            )
        default: CommandFailure(.unavailable, "RevenueCat answered \(status)")
        }
    }
}
