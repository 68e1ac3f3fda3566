import Testing
import TideoverCore
import TideoverKit

@Suite struct MessageTests {
    private func world(_ state: SignedStatus.State) -> SimulatedWorld {
        var world = SimulatedWorld(withServer: false)
        world.statuses = [TestPurchases.status(TestPurchases.subscription(7), state)]
        world.now = TestPurchases.start + TestPurchases.month + .days(1)
        return world
    }

    @Test func `a message is shown at once`() {
        var world = world(.inBillingRetry)
        world.launch()
        world.send(.messageReceived(.billingIssue))
        #expect(world.displayed == [.billingIssue])
    }

    @Test func `a delayed message is shown once, when the delay ends`() {
        var world = world(.inBillingRetry)
        world.launch()
        world.send(.messagesDelayed(true))
        world.send(.messageReceived(.billingIssue))
        world.send(.messageReceived(.priceIncreaseConsent))
        world.send(.messageReceived(.billingIssue))
        #expect(world.displayed == [])
        #expect(world.shown.last?["premium"].state == .hold)
        world.send(.messagesDelayed(false))
        #expect(world.displayed == [.billingIssue, .priceIncreaseConsent])
        world.send(.messagesDelayed(false))
        #expect(world.displayed.count == 2)
    }

    @Test func `a billing issue that was resolved meanwhile is not shown`() {
        var world = world(.inBillingRetry)
        world.launch()
        world.send(.messagesDelayed(true))
        world.send(.messageReceived(.billingIssue))
        world.now = TestPurchases.start + .days(3)
        world.launch()
        world.send(.messagesDelayed(true))
        world.statuses = [TestPurchases.status(TestPurchases.subscription(7))]
        world.send(.messageReceived(.billingIssue))
        world.send(.messageReceived(.other))
        #expect(world.shown.last?["premium"].state == .active)
        world.send(.messagesDelayed(false))
        #expect(world.displayed == [.other])
    }

    @Test func `a message makes the kit read the store`() {
        var world = world(.inBillingRetry)
        world.statuses = []
        world.launch()
        #expect(world.shown.last?["premium"].state == .never)
        world.statuses = [
            TestPurchases.status(TestPurchases.subscription(7), .inBillingRetry)
        ]
        world.send(.messageReceived(.billingIssue))
        #expect(world.shown.last?["premium"].state == .hold)
    }
}
