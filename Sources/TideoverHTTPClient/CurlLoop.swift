import CTideoverCurl
import Glibc
import TideoverHTTP

/// Runs a client's exchanges on a separate thread.
struct CurlLoop: ~Copyable {
    private let manner: Manner
    private let requestQueue: RequestQueue
    private let multi: UnsafeMutableRawPointer
    private var admission: Admission<ObjectIdentifier>
    /// The exchanges that wait to start.
    private var waiting: [ObjectIdentifier: PendingResponse] = [:]
    private var transfers: [ObjectIdentifier: Transfer] = [:]

    /// The maximum sleep if nothing is due; every event wakes the thread.
    private static let rest = Duration.seconds(60)

    init(
        _ manner: Manner,
        _ limits: HTTPClientLimits,
        _ requestQueue: RequestQueue,
        multi: UnsafeMutableRawPointer
    ) {
        self.manner = manner
        self.requestQueue = requestQueue
        self.multi = multi
        admission = Admission(limits)
        tideover_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limits.keptConnections)
    }

    deinit { curl_multi_cleanup(multi) }

    /// Runs exchanges until the client is released.
    consuming func run() {
        while true {
            let queuedWork = requestQueue.take()
            for pendingResponse in queuedWork.pendingResponses { accept(pendingResponse) }
            for pendingRequest in queuedWork.cancelled { abandon(pendingRequest) }
            if queuedWork.isClosing { break }
            performTransfers()
            expireWaiting()
            while let id = admission.next() { startWaiting(id) }
            curl_multi_poll(multi, nil, 0, patience, nil)
        }
        precondition(transfers.isEmpty && waiting.isEmpty, "an exchange keeps its client")
        requestQueue.forgetThread()
    }

    // MARK: - Orders

    private mutating func accept(_ pendingResponse: PendingResponse) {
        let pendingRequest = pendingResponse.pendingRequest
        if pendingRequest.isCancelled { return pendingResponse.end(.failure(.cancelled)) }
        switch admission.arrived(
            pendingRequest.id,
            origin: pendingRequest.request.url.origin,
            deadline: pendingRequest.deadline
        ) {
        case .start: start(pendingResponse)
        case .wait: waiting[pendingRequest.id] = pendingResponse
        case .refuse(let count): pendingResponse.end(.failure(.overloaded(waiting: count)))
        }
    }

    /// Has no effect if the request is already complete.
    private mutating func abandon(_ pendingRequest: PendingRequest) {
        if admission.withdrew(pendingRequest.id) {
            waiting.removeValue(forKey: pendingRequest.id)?.end(.failure(.cancelled))
        } else {
            finish(pendingRequest.id) { _ in .failure(.cancelled) }
        }
    }

    private mutating func expireWaiting() {
        for id in admission.expired(at: .now) {
            waiting.removeValue(forKey: id)?.end(.failure(.timedOut(.waiting)))
        }
    }

    // MARK: - Transfers

    private mutating func startWaiting(_ id: ObjectIdentifier) {
        if let pendingResponse = waiting.removeValue(forKey: id) { start(pendingResponse) }
    }

    private mutating func start(_ pendingResponse: PendingResponse) {
        let id = pendingResponse.pendingRequest.id
        guard let transfer = Transfer(pendingResponse, manner, at: .now),
            curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
        else {
            admission.ended(id)
            return pendingResponse.end(
                .failure(.engineFailed(code: Int32(CURLE_OUT_OF_MEMORY.rawValue)))
            )
        }
        transfers[id] = transfer
    }

    private mutating func performTransfers() {
        var count: Int32 = 0
        curl_multi_perform(multi, &count)
        while let message = curl_multi_info_read(multi, &count)?.pointee {
            guard message.msg == CURLMSG_DONE,
                let context = tideover_curl_private(message.easy_handle)
            else { continue }
            let ended = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            let code = message.data.result
            finish(ended.pendingResponse.pendingRequest.id) { $0.outcome(code) }
        }
    }

    private mutating func finish(_ id: ObjectIdentifier, _ outcome: (Transfer) -> Outcome) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        let outcome = outcome(transfer)
        curl_multi_remove_handle(multi, transfer.easy)
        admission.ended(id)
        transfer.pendingResponse.end(outcome)
    }

    /// The milliseconds until the first waiting request times out; libcurl tracks its own timers.
    private var patience: Int32 {
        let left = admission.nextDeadline.map { $0 - .now } ?? Self.rest
        return Int32(max(0, min(left, Self.rest).milliseconds))
    }
}

/// The thread of a loop.
enum CurlLoopThread {
    /// Starts a loop and returns its queue.
    static func start(
        _ manner: Manner,
        _ limits: HTTPClientLimits
    ) throws(HTTPClientError) -> RequestQueue {
        guard prepared == CURLE_OK, let multi = curl_multi_init() else {
            throw .engineFailed(code: Int32(prepared.rawValue))
        }
        let requestQueue = RequestQueue(Waker(multi))
        let curlLoop = CurlLoopBox(CurlLoop(manner, limits, requestQueue, multi: multi))
        let box = Unmanaged.passRetained(curlLoop)
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runCurlLoop, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw .engineFailed(code: Int32(CURLE_OUT_OF_MEMORY.rawValue))
        }
        pthread_detach(thread)
        return requestQueue
    }

    /// libcurl is initialized once, for the life of the process.
    static let prepared = tideover_curl_prepare()
}

/// Transfers a loop to its thread.
private final class CurlLoopBox {
    private var curlLoop: CurlLoop?

    init(_ curlLoop: consuming CurlLoop) { self.curlLoop = consume curlLoop }

    func run() {
        guard let curlLoop = curlLoop.take() else { return }
        curlLoop.run()
    }
}

private func runCurlLoop(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let box else { return nil }
    pthread_setname_np(pthread_self(), "http-client")
    tideover_block_broken_pipe()
    Unmanaged<CurlLoopBox>.fromOpaque(box).takeRetainedValue().run()
    return nil
}
