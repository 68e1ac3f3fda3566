import TideoverHTTP

/// Answers questions one after the other with what it was given, and keeps what it was asked. The last
/// answer is given again and again.
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

/// Lets nobody pass until it is opened.
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
