import CTideoverCurl
import TideoverHTTP

/// The settings of all exchanges of a client.
struct Manner: Sendable {
    let userAgent: String
    let roots: TrustedRoots
    let proxy: ProxyUse
    let keptFor: Duration
}

/// One exchange in libcurl; it lives on the loop's thread.
final class Transfer {
    let pendingResponse: PendingResponse
    let easy: UnsafeMutableRawPointer
    private var lines: UnsafeMutablePointer<curl_slist>?
    private var reader: AnswerReader
    private var refusal: (address: IPAddress, use: AddressUse)?
    /// Whether the host was resolved.
    private var isResolved = false
    /// Whether a connection was made and the TLS handshake is due.
    private var isSecuring = false
    /// Whether the request is about to be sent, or was sent.
    private var isConnected = false

    private var pendingRequest: PendingRequest { pendingResponse.pendingRequest }

    /// Fails if libcurl has no memory, or does not support an option.
    init?(_ pendingResponse: PendingResponse, _ manner: Manner, at now: ContinuousClock.Instant) {
        guard let easy = curl_easy_init() else { return nil }
        self.pendingResponse = pendingResponse
        self.easy = easy
        reader = AnswerReader(pendingResponse.pendingRequest.limits)
        guard
            setManner(manner), setLimits(at: now), setRequest(), setReceivers()
        else { return nil }
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(lines)
    }

    // MARK: - Preparing

    private func setManner(_ manner: Manner) -> Bool {
        set(CURLOPT_NOSIGNAL, 1) && set(CURLOPT_QUICK_EXIT, 1)
            && set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            && set(CURLOPT_PROTOCOLS_STR, "http,https") && set(CURLOPT_FOLLOWLOCATION, 0)
            && set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1) && set(CURLOPT_PATH_AS_IS, 1)
            && set(CURLOPT_SSL_VERIFYPEER, 1) && set(CURLOPT_SSL_VERIFYHOST, 2)
            && set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
            && set(CURLOPT_MAXAGE_CONN, Int(manner.keptFor.components.seconds))
            && set(CURLOPT_USERAGENT, manner.userAgent)
            && (manner.proxy == .environment || set(CURLOPT_PROXY, ""))
            && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1) && setRoots(manner.roots)
    }

    private func setRoots(_ roots: TrustedRoots) -> Bool {
        guard case .pem(let text) = roots else { return true }
        let bytes = Array(text.utf8)
        return tideover_curl_set_roots(easy, bytes, bytes.count) == CURLE_OK
    }

    private func setLimits(at now: ContinuousClock.Instant) -> Bool {
        let left = max(1, now.duration(to: pendingRequest.deadline).milliseconds)
        return set(CURLOPT_TIMEOUT_MS, left)
            && set(CURLOPT_CONNECTTIMEOUT_MS, min(left, pendingRequest.limits.connect.milliseconds))
    }

    private func setRequest() -> Bool {
        let request = pendingRequest.request
        for line in request.lines {
            guard let longer = curl_slist_append(lines, line) else { return false }
            lines = longer
        }
        return set(CURLOPT_URL, request.url.text) && setBody(request)
            && (pendingRequest.socket.map { set(CURLOPT_UNIX_SOCKET_PATH, $0) } ?? true)
            && set(CURLOPT_CUSTOMREQUEST, request.method)
            && (request.method != "HEAD" || set(CURLOPT_NOBODY, 1))
            && tideover_curl_set_pointer(easy, CURLOPT_HTTPHEADER, lines) == CURLE_OK
    }

    private func setBody(_ request: OutgoingRequest) -> Bool {
        guard request.hasBody else { return set(CURLOPT_HTTPGET, 1) }
        // An empty array has no address, and libcurl would then call back for the body.
        return request.body.isEmpty
            ? tideover_curl_set_body(easy, "", 0) == CURLE_OK
            : tideover_curl_set_body(easy, request.body, request.body.count) == CURLE_OK
    }

    private func setReceivers() -> Bool {
        let context = Unmanaged.passUnretained(self).toOpaque()
        return tideover_curl_set_pointer(easy, CURLOPT_PRIVATE, context) == CURLE_OK
            && tideover_curl_set_receivers(easy, takeLine, takePart, context) == CURLE_OK
            && tideover_curl_set_gates(easy, openSocket, askBeforeRequest, context) == CURLE_OK
            && tideover_curl_set_tls_witness(easy, seeTLSBegin, context) == CURLE_OK
    }

    private func set(_ option: CURLoption, _ value: Int) -> Bool {
        tideover_curl_set_long(easy, option, value) == CURLE_OK
    }

    private func set(_ option: CURLoption, _ text: String) -> Bool {
        tideover_curl_set_text(easy, option, text) == CURLE_OK
    }

    // MARK: - Callbacks

    /// Whether a connection to an address may be made or used; nil for an address that is not IP.
    fileprivate func admits(_ address: IPAddress?) -> Bool {
        isResolved = true
        if pendingRequest.addresses == .any { return true }
        guard let address else { return false }
        guard let use = pendingRequest.addresses.objection(to: address) else { return true }
        refusal = (address, use)
        return false
    }

    /// Checks the connection to use, which may be a reused one that was made for a destination with
    /// another guard.
    fileprivate func admitsConnection(to address: IPAddress?) -> Bool {
        isConnected = admits(address)
        return isConnected
    }

    fileprivate func tlsBegins() { isSecuring = true }

    fileprivate func take(line: UnsafeRawBufferPointer) -> Bool { reader.take(line: line) }

    fileprivate func take(part: UnsafeRawBufferPointer) -> Bool { reader.take(part: part) }

    // MARK: - The end

    /// Returns the outcome of the exchange for the code returned by libcurl.
    func outcome(_ code: CURLcode) -> Outcome {
        if let fault = reader.fault { return .failure(error(fault)) }
        if code == CURLE_OK || reader.isCut {
            return reader.answer.map { .success($0) } ?? .failure(.malformedAnswer)
        }
        if let refusal, code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK {
            return .failure(.addressRefused(refusal.address, refusal.use))
        }
        return .failure(error(code))
    }

    private func error(_ fault: AnswerReader.Fault) -> HTTPClientError {
        switch fault {
        case .malformed: .malformedAnswer
        case .headTooLarge: .headTooLarge
        case .bodyTooLarge: .bodyTooLarge(limit: pendingRequest.limits.bodyBytes)
        }
    }

    private func error(_ code: CURLcode) -> HTTPClientError {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            .cannotResolve(host: pendingRequest.request.url.host)
        case CURLE_COULDNT_CONNECT:
            .cannotConnect(code: Int32(tideover_curl_long(easy, CURLINFO_OS_ERRNO)))
        case CURLE_OPERATION_TIMEDOUT: .timedOut(phase)
        case CURLE_PEER_FAILED_VERIFICATION: .notProtected(certificateFault)
        case CURLE_SSL_CONNECT_ERROR: .notProtected(.handshake)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
            .connectionLost(phase)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
            .malformedAnswer
        case _ where isConnected && !reader.isHeadComplete && Self.isOfLongLines(code):
            .headTooLarge
        default: .engineFailed(code: Int32(code.rawValue))
        }
    }

    /// Whether libcurl uses this code for a line beyond its own limit of 100 KiB. Before 8.6 it
    /// reports a lack of memory; since then it has a separate code.
    private static func isOfLongLines(_ code: CURLcode) -> Bool {
        code == CURLE_OUT_OF_MEMORY || code.rawValue == 100
    }

    private var certificateFault: TLSFault {
        let code = tideover_curl_long(easy, CURLINFO_SSL_VERIFYRESULT)
        // 0 is OpenSSL's success code. libcurl starts with 1, "unspecified", and checks the host's
        // name before the certificate.
        return code <= 1 ? .wrongHost : .untrustedCertificate(code: code)
    }

    private var phase: ExchangePhase {
        if reader.isHeadComplete { return .receiving }
        if isConnected { return .answering }
        if !isResolved { return .resolving }
        return isSecuring ? .securing : .connecting
    }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

private func takeLine(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context)?.take(line: line) == true ? line.count : refused(line.count)
}

private func takePart(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context)?.take(part: part) == true ? part.count : refused(part.count)
}

/// Returning any other number than the received count aborts a transfer.
private func refused(_ count: Int) -> Int { count == 0 ? 1 : 0 }

private func openSocket(
    _ context: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address, let transfer = transfer(context) else { return CURL_SOCKET_BAD }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = tideover_curl_address_bytes(address, &bytes)
    let isAdmitted = transfer.admits(IPAddress(bytes: Array(bytes.prefix(count))))
    return isAdmitted ? tideover_curl_open_socket(address) : CURL_SOCKET_BAD
}

private func askBeforeRequest(
    _ context: UnsafeMutableRawPointer?,
    _ peer: UnsafeMutablePointer<CChar>?,
    _ own: UnsafeMutablePointer<CChar>?,
    _ peerPort: Int32,
    _ ownPort: Int32
) -> Int32 {
    let address = peer.flatMap { IPAddress(String(cString: $0)) }
    let isAdmitted = transfer(context)?.admitsConnection(to: address) == true
    return isAdmitted ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private func seeTLSBegin(
    _ easy: UnsafeMutableRawPointer?,
    _ tls: UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> CURLcode {
    transfer(context)?.tlsBegins()
    return CURLE_OK
}

extension Duration {
    /// The duration in whole milliseconds, rounded up.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000
            + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
