import Testing
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// A browser: it keeps the cookies that responses set.
final class DashboardBrowser {
    static let signIn = "/dashboard/sign-in"

    let server: TestServer
    var cookies: [String: String] = [:]
    var headers: Headers = [:]
    var peer: String?

    init(_ server: TestServer) { self.server = server }

    func send(
        _ method: String,
        _ target: String,
        _ form: [(String, String)]? = nil,
        _ more: Headers = [:]
    ) async throws -> Response {
        var headers = headers
        for field in more.fields { headers[field.name] = field.value }
        if !cookies.isEmpty {
            headers["Cookie"] = cookies.map { "\($0)=\($1)" }.sorted().joined(separator: "; ")
        }
        let body = form.map { items in
            items.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        }
        if body != nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        let request = try #require(
            Request(
                method: method,
                target: target,
                headers: headers,
                body: Array((body ?? "").utf8),
                peer: peer
            )
        )
        let response = try await server.service.handler(request)
        for line in response.headers.all("Set-Cookie") {
            let pair = line.prefix { $0 != ";" }.split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let isRemoved = line.contains("Max-Age=0")
            cookies[String(pair[0])] = isRemoved ? nil : String(pair[1])
        }
        return response
    }

    func get(_ target: String) async throws -> Response { try await send("GET", target) }

    /// Returns the form token of a page.
    func token(on target: String) async throws -> String {
        let page = try await text(target)
        return String(try #require(page.firstMatch(of: /name="form_token" value="([^"]*)"/)).1)
    }

    func text(_ target: String) async throws -> String {
        String(decoding: try await get(target).body, as: UTF8.self)
    }

    /// Returns the page to which the sign-in on a page leads.
    func next(on target: String) async throws -> String {
        let page = try await text(target)
        return String(try #require(page.firstMatch(of: /name="next" value="([^"]*)"/)).1)
            .replacing("&amp;", with: "&")
    }

    @discardableResult
    func enter(_ key: String, next: String? = nil) async throws -> Response {
        let token = try await token(on: Self.signIn)
        return try await send(
            "POST",
            Self.signIn,
            [("form_token", token), ("key", key)] + (next.map { [("next", $0)] } ?? [])
        )
    }
}

extension TestServer {
    /// Returns a new key of one app.
    func key(_ kind: String, of app: String) async throws -> String {
        let body = JSONValue.object(["kind": .string(kind), "apps": [.string(app)]])
        let response = try await send("POST", "/v1/keys", body: body.encoded())
        return try #require(try JSONDocument(response.body).root["key"]?.string)
    }
}
