import TideoverHTTP
import TideoverJSON

/// The API's reads of purchases and orders, from the store at one instant.
struct PlayReads {
    private let machine: GooglePlayMachine

    init(_ machine: GooglePlayMachine) {
        self.machine = machine
    }

    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/get
    func subscription(_ call: PlayCall) throws(PlayAPIError) -> JSONObject {
        try checkToken(call.subject)
        guard let resource = machine.subscription(token: call.subject) else {
            throw .purchaseNotFound
        }
        return resource
    }

    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2/getproductpurchasev2
    func product(_ call: PlayCall) throws(PlayAPIError) -> JSONObject {
        try checkToken(call.subject)
        guard let resource = machine.product(token: call.subject) else { throw .purchaseNotFound }
        return resource
    }

    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.products/get
    func productV1(_ call: PlayCall) throws(PlayAPIError) -> JSONObject {
        try checkProduct(call)
        guard let resource = machine.productV1(token: call.subject) else { throw .purchaseNotFound }
        return resource
    }

    /// Throws unless the token in the path belongs to the product in the path.
    func checkProduct(_ call: PlayCall) throws(PlayAPIError) {
        let items = try product(call)["productLineItem"]?.array ?? []
        guard items.contains(where: { $0["productId"]?.string == call.ids[1] }) else {
            throw .invalid
        }
    }

    /// Throws unless the API still answers for a token.
    func checkToken(_ token: String) throws(PlayAPIError) {
        let isToken = token.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
        guard isToken, !token.isEmpty else { throw .invalid }
        switch machine.state(ofToken: token) {
        case .unknown: throw .purchaseNotFound
        case .gone: throw .gone
        case .readable: return
        }
    }

    /// https://developers.google.com/android-publisher/api-ref/rest/v3/orders/get
    func order(_ id: String) throws(PlayAPIError) -> JSONObject {
        guard let order = machine.order(id) else { throw .orderNotFound }
        return order
    }

    /// One unknown order fails the whole request.
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/orders/batchget
    func orders(_ call: PlayCall) throws(PlayAPIError) -> JSONObject {
        let ids = call.request.query.filter { $0.name == "orderIds" }.map(\.value)
        guard (1...1000).contains(ids.count), Set(ids).count == ids.count else { throw .invalid }
        var orders: [JSONValue] = []
        for id in ids { orders.append(.object(try order(id))) }
        return ["orders": .array(orders)]
    }
}
