import Foundation
import Testing
import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverJSON

@testable import tideover

/// Tests `tideover import revenuecat --from-api` against a served stand-in for RevenueCat's API.
@Suite struct OfferingsDownloadTests {
    private static let key = "sk_test"
    private static let project = "/v2/projects/proj1"

    /// The stand-in's lists by path and the item after which a page starts. The second offering,
    /// package and product are each on a page of their own.
    private static let pages: [String: String] = [
        "\(project)/offerings": """
        {"object": "list", "next_page": "\(project)/offerings?starting_after=ofrng1", "items": [
         {"lookup_key": "default", "display_name": "Standard", "is_current": true,
          "packages": {"object": "list", "items": [
           {"lookup_key": "$rc_monthly", "products": {"object": "list", "items": [
             {"product": {"store_identifier": "cards.pro.monthly"}}],
             "next_page": "\(project)/packages/pkge1/products?starting_after=prod1"}}],
           "next_page": "\(project)/offerings/ofrng1/packages?starting_after=pkge1"}}]}
        """,
        "\(project)/packages/pkge1/products prod1": """
        {"object": "list", "next_page": null, "items": [
         {"product": {"store_identifier": "cards_pro:monthly"}}]}
        """,
        "\(project)/offerings/ofrng1/packages pkge1": """
        {"object": "list", "next_page": null, "items": [
         {"lookup_key": "$rc_annual", "products": {"object": "list", "next_page": null, "items": [
          {"product": {"store_identifier": "cards.pro.yearly"}}]}}]}
        """,
        "\(project)/offerings ofrng1": """
        {"object": "list", "next_page": null, "items": [
         {"lookup_key": "sale", "display_name": "Sale", "is_current": false,
          "packages": {"object": "list", "next_page": null, "items": []}}]}
        """,
        "/v2/projects/endless/offerings": """
        {"object": "list", "items": [], "next_page": "/v2/projects/endless/offerings"}
        """,
        "/v2/projects/other/offerings": #"{"object": "error"}"#,
        "/v2/projects/broken/offerings": "{",
    ]

    /// What a list of this path must be asked to contain.
    private static func expansion(_ path: String) -> String? {
        if path.hasSuffix("/products") { return nil }
        return path.hasSuffix("/packages") ? "items.product" : "items.package.product"
    }

    private static func answer(_ request: Request) -> Response {
        func query(_ name: String) -> String? { request.query.first { $0.name == name }?.value }
        guard request.headers["Authorization"] == "Bearer \(key)" else {
            return Response(status: 401)
        }
        guard !request.path.contains("forbidden") else { return Response(status: 403) }
        guard !request.path.contains("busy") else { return Response(status: 429) }
        guard query("expand") == expansion(request.path) else { return Response(status: 400) }
        let name = [request.path, query("starting_after")].compactMap(\.self)
        guard let page = pages[name.joined(separator: " ")] else { return Response(status: 404) }
        return Response(headers: ["Content-Type": "application/json"], body: Array(page.utf8))
    }

    /// Returns the configuration that is printed for a project.
    private func download(_ project: String, key: String = key) async throws -> JSONValue {
        let server = try HTTPServer(port: 0) { Self.answer($0) }
        let client = try HTTPClient(userAgent: "tests")
        let url = try HTTPURL("http://\(server.address)")
        let place = Destination(url, addresses: .any, limits: .storeAnswer)
        var download = OfferingsDownload(
            project: project,
            key: key,
            handler: client.handler(under: place)
        )
        do {
            let found = try await download.configuration()
            await server.stop(within: .zero)
            return found
        } catch {
            await server.stop(within: .zero)
            throw error
        }
    }

    @Test func `the offerings of all pages become the configuration`() async throws {
        let expected: JSONValue = [
            "currentOffering": "default",
            "offerings": [
                "default": [
                    "description": "Standard",
                    "packages": [
                        "$rc_monthly": ["cards.pro.monthly", "cards_pro:monthly"],
                        "$rc_annual": ["cards.pro.yearly"],
                    ],
                ],
                "sale": ["description": "Sale", "packages": [:]],
            ],
        ]
        #expect(try await download("proj1") == expected)
    }

    @Test(arguments: [
        ("proj1", "sk_other", ExitCode.noPermission, "does not accept the key"),
        ("forbidden", key, .noPermission, "may not read offerings"),
        ("busy", key, .unavailable, "rate limit"),
        ("unknown", key, .data, "does not know the project unknown"),
        ("endless", key, .data, "more than 50 pages"),
        ("other", key, .data, "not a list"),
        ("broken", key, .data, "not strict JSON"),
    ])
    func `an answer without offerings is reported`(
        project: String,
        key: String,
        code: ExitCode,
        words: String
    ) async throws {
        let failure = await #expect(throws: CommandFailure.self) {
            try await download(project, key: key)
        }
        #expect(failure?.exitCode == code)
        #expect(failure?.message.contains(words) == true)
    }

    @Test func `a RevenueCat that cannot be reached is reported with its address`() async throws {
        var download = OfferingsDownload(project: "proj1", key: Self.key) { _ in
            throw HTTPClientError.cannotResolve(host: "api.revenuecat.com")
        }
        let failure = await #expect(throws: CommandFailure.self) {
            try await download.configuration()
        }
        #expect(failure?.exitCode == .unavailable)
        #expect(failure?.message.contains("at https://api.revenuecat.com: no address") == true)
    }

    @Test(arguments: [
        (["--from-api", "proj1"], "needs a secret key"),
        (["--from-api", "proj1", "--key-file", "/dev/null"], "needs a secret key"),
        (["--from-api", "proj1", "answers.jsonl"], "cannot be combined"),
        (["--from-api", "proj1", "--offerings", "a.json"], "cannot be combined"),
    ])
    func `a request without a key, or with a file, is a usage error`(
        arguments: [String],
        words: String
    ) async throws {
        let (code, output) = await Tideover.run(["import", "revenuecat"] + arguments)
        #expect(code == .usage)
        #expect(output.messages.captured.contains(words))
    }
}
