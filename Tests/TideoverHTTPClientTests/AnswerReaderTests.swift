import Testing
import TideoverHTTP
import TideoverHTTPClient

@Suite struct AnswerReaderTests {
    private func read(
        _ lines: [String],
        _ parts: [String] = [],
        _ change: (inout ExchangeLimits) -> Void = { _ in }
    ) -> AnswerReader {
        var limits = ExchangeLimits()
        change(&limits)
        var reader = AnswerReader(limits)
        for line in lines where !reader.take(line: Array("\(line)\r\n".utf8)) { return reader }
        for part in parts where !reader.take(part: Array(part.utf8)) { return reader }
        return reader
    }

    @Test func `a response is assembled from lines and chunks`() {
        let lines = ["HTTP/1.1 200 OK", "A:  1 \t", "b:", "A: 2", ""]
        let answer = read(lines, ["one ", "two"]).answer
        #expect(answer?.status == 200)
        #expect(answer?.headers.all("a") == ["1", "2"])
        #expect(answer?.headers["B"] == "")
        #expect(answer.map { String(decoding: $0.body, as: UTF8.self) } == "one two")
    }

    @Test func `informational responses and trailers are ignored`() {
        let early = ["HTTP/1.1 103 Early Hints", "Link: x", ""]
        let answer = read(early + ["HTTP/1.1 204 ", "A: 1", "", "Trailer: x"]).answer
        #expect(answer == Response(status: 204, headers: ["A": "1"]))
        #expect(read(early).answer == nil)
    }

    @Test(arguments: [
        ["HTTP/1.1", ""], ["HTTP/1.1 20", ""], ["HTTP/1.1 2000 OK", ""], ["HTTP/1.1 abc", ""],
        ["HTTP/1.1 200 OK", " folded: 1", ""], ["HTTP/1.1 200 OK", "A: 1", "\tmore", ""],
        ["HTTP/1.1 200 OK", "no colon", ""], ["HTTP/1.1 200 OK", ": nameless", ""],
        ["HTTP/1.1 200 OK", "HTTP/1.1 201 Created", ""], ["A: 1", ""], [""],
        ["HTTP/1.1 099 Low", ""],
    ])
    func `a malformed head is refused`(lines: [String]) {
        let reader = read(lines)
        #expect(reader.fault == .malformed)
        #expect(reader.answer == nil)
    }

    @Test func `a head within the byte and field limits is accepted`() {
        let lines = ["HTTP/1.1 200 OK", "A: 1", "B: 2", ""]
        let bytes = 17 + 6 + 6 + 2
        #expect(read(lines) { $0.headBytes = bytes }.answer != nil)
        #expect(read(lines) { $0.headBytes = bytes - 1 }.fault == .headTooLarge)
        #expect(read(lines) { $0.headFields = 2 }.answer != nil)
        #expect(read(lines) { $0.headFields = 1 }.fault == .headTooLarge)
    }

    @Test func `endless informational responses are refused as too large a head`() {
        let lines = Array(repeating: ["HTTP/1.1 100 Continue", ""], count: 10_000).flatMap(\.self)
        #expect(read(lines).fault == .headTooLarge)
    }

    @Test func `a body of at most the limit is accepted`() {
        let head = ["HTTP/1.1 200 OK", ""]
        #expect(read(head, ["12", "345"]) { $0.bodyBytes = 5 }.answer?.body.count == 5)
        #expect(read(head, ["12", "345"]) { $0.bodyBytes = 4 }.fault == .bodyTooLarge)
        #expect(read(head, ["1"]) { $0.bodyBytes = 0 }.fault == .bodyTooLarge)
    }

    @Test func `a longer body is cut where only the head matters`() {
        let head = ["HTTP/1.1 200 OK", "Retry-After: 5", ""]
        for (parts, isCut) in [(["12", "34"], false), (["12", "345"], true)] {
            let reader = read(head, parts) { limits in
                limits = .onlyHead
                limits.bodyBytes = 4
            }
            #expect(reader.isCut == isCut)
            #expect(reader.fault == nil)
            #expect(reader.answer?.status == 200)
            #expect(reader.answer?.headers["Retry-After"] == "5")
            #expect(reader.answer?.body.count ?? 9 <= 4)
        }
    }
}
