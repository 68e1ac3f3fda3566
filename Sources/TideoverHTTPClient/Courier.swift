import CTideoverCurl
import Glibc
import TideoverHTTP

/// Runs a client's exchanges on a separate thread.
struct Courier: ~Copyable {
    private let manner: Manner
    private let mailbox: Mailbox
    private let multi: UnsafeMutableRawPointer
    private var admission: Admission<ObjectIdentifier>
    /// The exchanges that wait to start.
    private var waiting: [ObjectIdentifier: Commission] = [:]
    private var transfers: [ObjectIdentifier: Transfer] = [:]

    /// The maximum sleep if nothing is due; every event wakes the thread.
    private static let rest = Duration.seconds(60)

    init(
        _ manner: Manner,
        _ limits: HTTPClientLimits,
        _ mailbox: Mailbox,
        multi: UnsafeMutableRawPointer
    ) {
        self.manner = manner
        self.mailbox = mailbox
        self.multi = multi
        admission = Admission(limits)
        tideover_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limits.keptConnections)
    }

    deinit { curl_multi_cleanup(multi) }

    /// Runs exchanges until the client is released.
    consuming func run() {
        while true {
            let letters = mailbox.take()
            for commission in letters.commissions { accept(commission) }
            for order in letters.cancelled { abandon(order) }
            if letters.isClosing { break }
            performTransfers()
            expireWaiting()
            while let id = admission.next() { startWaiting(id) }
            curl_multi_poll(multi, nil, 0, patience, nil)
        }
        precondition(transfers.isEmpty && waiting.isEmpty, "an exchange keeps its client")
        mailbox.forgetThread()
    }

    // MARK: - Orders

    private mutating func accept(_ commission: Commission) {
        let order = commission.order
        if order.isCancelled { return commission.end(.failure(.cancelled)) }
        switch admission.arrived(
            order.id,
            origin: order.request.url.origin,
            deadline: order.deadline
        ) {
        case .start: start(commission)
        case .wait: waiting[order.id] = commission
        case .refuse(let count): commission.end(.failure(.overloaded(waiting: count)))
        }
    }

    /// Has no effect if the order is already complete.
    private mutating func abandon(_ order: Order) {
        if admission.withdrew(order.id) {
            waiting.removeValue(forKey: order.id)?.end(.failure(.cancelled))
        } else {
            finish(order.id) { _ in .failure(.cancelled) }
        }
    }

    private mutating func expireWaiting() {
        for id in admission.expired(at: .now) {
            waiting.removeValue(forKey: id)?.end(.failure(.timedOut(.waiting)))
        }
    }

    // MARK: - Transfers

    private mutating func startWaiting(_ id: ObjectIdentifier) {
        if let commission = waiting.removeValue(forKey: id) { start(commission) }
    }

    private mutating func start(_ commission: Commission) {
        let id = commission.order.id
        guard let transfer = Transfer(commission, manner, at: .now),
            curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
        else {
            admission.ended(id)
            return commission.end(
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
            finish(ended.commission.order.id) { $0.outcome(code) }
        }
    }

    private mutating func finish(_ id: ObjectIdentifier, _ outcome: (Transfer) -> Outcome) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        let outcome = outcome(transfer)
        curl_multi_remove_handle(multi, transfer.easy)
        admission.ended(id)
        transfer.commission.end(outcome)
    }

    /// The milliseconds until the first waiting order times out; libcurl tracks its own timers.
    private var patience: Int32 {
        let left = admission.nextDeadline.map { $0 - .now } ?? Self.rest
        return Int32(max(0, min(left, Self.rest).milliseconds))
    }
}

/// The thread of a courier.
enum CourierThread {
    /// Starts a courier and returns its mailbox.
    static func start(
        _ manner: Manner,
        _ limits: HTTPClientLimits
    ) throws(HTTPClientError) -> Mailbox {
        guard prepared == CURLE_OK, let multi = curl_multi_init() else {
            throw .engineFailed(code: Int32(prepared.rawValue))
        }
        let mailbox = Mailbox(Alarm(multi))
        let courier = CourierBox(Courier(manner, limits, mailbox, multi: multi))
        let box = Unmanaged.passRetained(courier)
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runCourier, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw .engineFailed(code: Int32(CURLE_OUT_OF_MEMORY.rawValue))
        }
        pthread_detach(thread)
        return mailbox
    }

    /// libcurl is initialized once, for the life of the process.
    static let prepared = tideover_curl_prepare()
}

/// Transfers a courier to its thread.
private final class CourierBox {
    private var courier: Courier?

    init(_ courier: consuming Courier) { self.courier = consume courier }

    func run() {
        guard let courier = courier.take() else { return }
        courier.run()
    }
}

private func runCourier(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let box else { return nil }
    pthread_setname_np(pthread_self(), "http-client")
    tideover_block_broken_pipe()
    Unmanaged<CourierBox>.fromOpaque(box).takeRetainedValue().run()
    return nil
}
