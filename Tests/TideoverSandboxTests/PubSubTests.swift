import Testing
import TideoverJSON
import TideoverSandbox

/// The pushes of a subscription to Google Play's topic.
/// https://cloud.google.com/pubsub/docs/handling-failures
@Suite struct PubSubTests {
    private static let start: Int64 = 1_780_000_000_000
    private static let notice: JSONObject = ["version": "1.0"]

    /// Delivers everything that is due up to an instant. Answers with the statuses in turn, and
    /// repeats the last one.
    private func deliver(
        _ post: inout PlayPost,
        until end: Int64,
        answering statuses: [Int?]
    ) {
        var rest = statuses[...]
        while let due = post.nextAttempt, due <= end, let taken = post.take(dueBy: end) {
            post.ended(taken.number, at: due, rest.first ?? nil)
            if rest.count > 1 { rest.removeFirst() }
        }
    }

    private func waits(_ letter: PlayPost.DeliveryRecord) -> [Int64] {
        zip(letter.attempts.dropFirst(), letter.attempts).map { ($0.at - $1.at) / 1000 }
    }

    @Test(arguments: [102, 200, 201, 202, 204])
    func `the success statuses acknowledge a message`(status: Int) {
        var post = PlayPost(seed: 1)
        post.publish(Self.notice, about: "anna", at: Self.start)
        deliver(&post, until: Self.start + 86_400_000, answering: [status])
        #expect(post.letters[0].attempts.map(\.at) == [Self.start + 1000])
        #expect(post.letters[0].isDelivered)
    }

    @Test(arguments: [203, 206, 301, 400, 429, 500, nil])
    func `any other status does not acknowledge, including other successes`(status: Int?) {
        var post = PlayPost(seed: 1)
        post.publish(Self.notice, about: nil, at: Self.start)
        deliver(&post, until: Self.start + 1000, answering: [status])
        #expect(!post.letters[0].isDelivered)
        #expect(post.nextAttempt == Self.start + 11_000)
    }

    @Test func `the delays double up to ten minutes for seven days`() {
        var post = PlayPost(seed: 1)
        post.publish(Self.notice, about: nil, at: Self.start)
        deliver(&post, until: .max, answering: [503])
        let letter = post.letters[0]
        #expect(Array(waits(letter).prefix(8)) == [10, 20, 40, 80, 160, 320, 600, 600])
        let last = letter.attempts.last?.at ?? 0
        let week: Int64 = 7 * 86_400_000
        #expect((Self.start + week - 600_000...Self.start + week).contains(last))
    }

    @Test func `an acknowledged message can be delivered again with the same id`() {
        var habits = PubSubDeliveryFaults()
        habits.redelivered = 100
        var post = PlayPost(seed: 1, habits: habits)
        post.publish(Self.notice, about: nil, at: Self.start)
        deliver(&post, until: .max, answering: [204])
        #expect(post.letters.count == 1)
        #expect(post.letters[0].attempts.count == 2)
    }

    @Test func `an event can be published twice with two ids`() {
        var habits = PubSubDeliveryFaults()
        habits.republished = 100
        var post = PlayPost(seed: 1, habits: habits)
        let messages = post.publish(Self.notice, about: nil, at: Self.start)
        #expect(messages.count == 2)
        #expect(Set(messages.map(\.id)).count == 2)
        #expect(Set(messages.map(\.data)).count == 1)
    }

    @Test func `a lost message is published and never delivered`() {
        var habits = PubSubDeliveryFaults()
        habits.lost = 100
        var post = PlayPost(seed: 1, habits: habits)
        post.publish(Self.notice, about: nil, at: Self.start)
        #expect(post.letters.count == 1)
        #expect(post.nextAttempt == nil)
    }

    @Test func `messages are reordered where the delivery times vary`() {
        var habits = PubSubDeliveryFaults()
        habits.scatter = 600_000
        var post = PlayPost(seed: 3, habits: habits)
        for index in 0..<20 {
            post.publish(Self.notice, about: nil, at: Self.start + Int64(index) * 1000)
        }
        var order: [Int] = []
        while let due = post.nextAttempt, let taken = post.take(dueBy: due) {
            order.append(taken.number)
            post.ended(taken.number, at: due, 200)
        }
        #expect(order != order.sorted())
        #expect(order.sorted() == Array(0..<20))
    }

    @Test func `equal seeds give equal ids`() {
        func ids(_ seed: UInt64) -> [String] {
            var post = PlayPost(seed: seed)
            return (0..<5).flatMap { _ in
                post.publish(Self.notice, about: nil, at: Self.start).map(\.id)
            }
        }
        #expect(ids(4) == ids(4))
        #expect(ids(4) != ids(5))
    }
}
