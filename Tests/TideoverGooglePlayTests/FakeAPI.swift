import TideoverHTTP

/// Returns the given responses in order, and records the requests. The last response repeats.
actor FakeAPI {
    private(set) var requests: [Request] = []
    private var answers: [Result<Response, any Error>]

    init(_ answers: [Result<Response, any Error>]) {
        self.answers = answers
    }

    init(_ answers: Response...) {
        self.answers = answers.map { .success($0) }
    }

    init(failing error: any Error) {
        answers = [.failure(error)]
    }

    func answer(_ request: Request) throws -> Response {
        requests.append(request)
        let answer = answers.count > 1 ? answers.removeFirst() : answers[0]
        return try answer.get()
    }

    nonisolated var handler: Handler { { try await self.answer($0) } }
}

/// Suspends all callers until it is opened.
actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
