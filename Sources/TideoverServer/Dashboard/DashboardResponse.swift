import TideoverDashboard
import TideoverHTTP
import TideoverJSON
import TideoverSignatures

/// The responses of the dashboard, all with the same headers.
enum DashboardResponse {
    /// Nothing is loaded from elsewhere, no script or style is inline, no other site can frame a
    /// page, and no cache keeps one.
    static let headers: Headers = [
        "Content-Security-Policy":
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    ]

    static func page(_ page: Page, for reader: Reader?, status: Int = 200) -> Response {
        var headers = headers
        headers["Content-Type"] = "text/html; charset=utf-8"
        return Response(status: status, headers: headers, body: page.document(for: reader))
    }

    /// Returns server-sent events.
    static func stream(_ events: [UInt8]) -> Response {
        var headers = headers
        headers["Content-Type"] = "text/event-stream"
        return Response(headers: headers, body: events)
    }

    /// Returns 303, so that the browser continues with GET.
    static func redirect(to link: Link) -> Response {
        var headers = headers
        headers["Location"] = link.text
        return Response(status: 303, headers: headers)
    }

    static func problem(
        _ problem: Problem,
        for reader: Reader?,
        back: Link? = nil
    ) -> Response {
        var response = page(
            ProblemPage.page(title: problem.title, detail: problem.detail, back: back),
            for: reader,
            status: problem.status
        )
        response.headers["Retry-After"] = problem.retryAfter.map(String.init)
        for field in problem.headers.fields { response.headers[field.name] = field.value }
        return response
    }

    /// Whether a browser requests the address of a page, also of one that does not exist.
    static func isPage(_ request: Request) -> Bool {
        ["GET", "HEAD"].contains(request.method)
            && (request.path == "/dashboard" || request.path.hasPrefix("/dashboard/"))
    }

    static func asset(_ asset: Asset, to request: Request) -> Response {
        let bytes = asset.bytes
        let tag = ETag.strong(Hexadecimal.text(SHA256.hash(bytes).prefix(8)))
        guard !request.holds(tag) else {
            return .notModified(tag, headers: ["Cache-Control": "no-cache"])
        }
        var headers = headers
        headers["Content-Type"] = asset.type
        headers["ETag"] = tag.description
        headers["Cache-Control"] = "no-cache"
        return Response(headers: headers, body: bytes)
    }
}

/// A cookie of the dashboard.
///
/// It is `Secure`, except for a browser on the same machine that connects by plain HTTP.
struct DashboardCookie: Sendable {
    let name: String
    private let isSecure: Bool

    /// The cookie of a session.
    static func session(of request: Request) -> DashboardCookie {
        DashboardCookie("tideover-session", request)
    }

    /// The cookie behind the sign-in form, before there is a session.
    static func signIn(of request: Request) -> DashboardCookie {
        DashboardCookie("tideover-sign-in", request)
    }

    private init(_ name: String, _ request: Request) {
        isSecure = !request.isForLoopback
        // A browser accepts this prefix only from the host itself over TLS.
        self.name = isSecure ? "__Host-\(name)" : name
    }

    /// Returns its value in a request; nil if it is absent or sent twice.
    func value(in request: Request) -> String? {
        let pairs = request.headers.all("Cookie").flatMap { $0.split(separator: ";") }
        let values = pairs.compactMap { pair -> String? in
            let trimmed = pair.drop { $0 == " " }
            guard trimmed.hasPrefix("\(name)=") else { return nil }
            return String(trimmed.dropFirst(name.count + 1))
        }
        return values.count == 1 ? values.first : nil
    }

    func set(_ value: String, in response: inout Response) {
        response.headers.append("Set-Cookie", "\(name)=\(value); \(attributes)")
    }

    func remove(in response: inout Response) {
        response.headers.append("Set-Cookie", "\(name)=; Max-Age=0; \(attributes)")
    }

    private var attributes: String {
        "Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }
}

extension Request {
    /// Whether the browser itself addressed this machine by a loopback name. A proxy can have TLS
    /// and send a loopback name of its own: nginx does, unless it is configured otherwise.
    fileprivate var isForLoopback: Bool {
        guard let host = headers["Host"], headers["X-Forwarded-Proto"] != "https",
            headers["X-Forwarded-For"] == nil
        else { return false }
        let names = ["localhost", "127.0.0.1", "[::1]"]
        return names.contains { host == $0 || host.hasPrefix("\($0):") }
    }
}
