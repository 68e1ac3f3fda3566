package import TideoverHTTP
import TideoverJSON

extension UnionChecker {
    /// A request of an SDK and its answer.
    package struct Exchange: Hashable, Sendable {
        package let request: Request
        package let response: Response

        package init(_ request: Request, _ response: Response) {
            self.request = request
            self.response = response
        }

        /// What one of the SDKs fails on, loses, or takes for something else; empty for an answer
        /// that both understand.
        package var refusals: [Refusal] { headerRefusals + bodyRefusals }

        /// The SDK that sent the request: it names its platform, and its key is one of a store.
        package var platform: Platform {
            switch request.headers["X-Platform"] {
            case "web": return .web
            case "android", "amazon": return .android
            case .some: return .ios
            case nil: break
            }
            let key = request.headers["Authorization"] ?? ""
            let isOfAndroid = ["goog_", "amzn_", "galx_"].contains { key.hasPrefix("Bearer \($0)") }
            return isOfAndroid ? .android : .ios
        }

        /// What an answer without an error is about.
        private enum Subject {
            case customerInfo
            case receipt
            case offerings
            case mapping
            case other
        }

        private var subject: Subject {
            let segments = request.path.split(separator: "/", omittingEmptySubsequences: false)
            switch (request.method, segments.dropFirst().map(String.init)) {
            case ("POST", ["v1", "receipts"]): return .receipt
            case ("POST", ["v1", "subscribers", "identify"]): return .customerInfo
            case ("POST", ["v1", "subscribers", "redeem_purchase"]): return .customerInfo
            case ("GET", ["v1", "product_entitlement_mapping"]): return .mapping
            case ("GET", let path) where path.starts(with: ["v1", "subscribers"]):
                if path.count == 3 { return .customerInfo }
                return path.count == 4 && path[3] == "offerings" ? .offerings : .other
            default: return .other
            }
        }

        private var bodyRefusals: [Refusal] {
            do {
                switch response.status {
                case 200..<300: return try answerRefusals()
                case 304: return response.body.isEmpty ? [] : [Refusal("body", "is one of a 304")]
                case 400..<600: return try errorRefusals()
                default: return [Refusal("status", "neither an answer nor an error")]
                }
            } catch let refusal as Refusal {
                return [refusal]
            } catch { return [Refusal("body", "\(error)")] }
        }

        private func answerRefusals() throws -> [Refusal] {
            switch subject {
            case .customerInfo: return try customerInfo().traps()
            case .receipt: return try receiptRefusals()
            case .offerings: _ = try Offerings(response.body)
            case .mapping: _ = try Mapping(response.body)
            case .other: _ = try Members(body: response.body)
            }
            return []
        }

        /// Reads the answer as a customer info.
        package func customerInfo() throws -> UnionChecker {
            try UnionChecker(decoding: response.body, requestTime: requestTime)
        }

        private func errorRefusals() throws -> [Refusal] {
            let failure = try Failure(response.body)
            return isOfReceipt ? failure.receiptRefusals(status: response.status) : []
        }

        // MARK: Receipts

        var isOfReceipt: Bool { subject == .receipt }

        private func receiptRefusals() throws -> [Refusal] {
            let info = try customerInfo()
            _ = try Members(body: response.body).nestedAttributeErrors()
            return info.traps() + info.traps(of: Receipt(self))
        }

        /// What the device does with the purchase of a receipt: it keeps the purchase if it cannot
        /// read the answer. Nil for another request.
        package var receiptOutcome: ReceiptOutcome? {
            guard isOfReceipt else { return nil }
            switch response.status {
            case 200..<300:
                guard let info = try? customerInfo() else { return .kept }
                return info.outcome(of: Receipt(self))
            case 400..<500:
                let code = try? Failure(response.body).code
                return platform == .android && code == Failure.storeNotServed ? .kept : .finished
            default: return .kept
            }
        }
    }
}
