import TideoverJSON

extension PlayToken: FormText {
    package init?(formText: String) { self.init(formText) }

    package var formText: String { id }
}

extension PlaySubscription: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ read: PlaySubscription?
    ) throws(Fields.Failure) -> PlaySubscription {
        PlaySubscription(
            token: try fields.required("token", read?.token),
            askedAt: try fields.required("askedAt", read?.askedAt),
            state: try fields.required("state", read?.state),
            items: try fields.optional("items", read?.items) ?? [],
            startedAt: try fields.optional("startedAt", read?.startedAt),
            replaces: try fields.optional("replaces", read?.replaces),
            follows: try fields.optional("follows", read?.follows),
            resumesAt: try fields.optional("resumesAt", read?.resumesAt),
            cancellation: try fields.optional("cancellation", read?.cancellation),
            cancelledAt: try fields.optional("cancelledAt", read?.cancelledAt),
            isAcknowledged: try fields.optional("isAcknowledged", read?.isAcknowledged),
            isTest: try fields.optional("isTest", read?.isTest, else: false),
            region: try fields.optional("region", read?.region),
            accountId: try fields.optional("accountId", read?.accountId)
        )
    }
}

extension PlayItem: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ item: PlayItem?
    ) throws(Fields.Failure) -> PlayItem {
        PlayItem(
            productId: try fields.required("productId", item?.productId),
            basePlan: try fields.optional("basePlan", item?.basePlan),
            offerId: try fields.optional("offerId", item?.offerId),
            expiresAt: try fields.optional("expiresAt", item?.expiresAt),
            plan: try Plan.form(&fields, item?.plan),
            phase: try fields.optional("phase", item?.phase),
            promotionCode: try fields.optional("promotionCode", item?.promotionCode),
            orderId: try fields.optional("orderId", item?.orderId),
            price: try fields.optional("price", item?.price),
            replacement: try fields.optional("replacement", item?.replacement),
            isRemovedAtExpiry: try fields.optional(
                "isRemovedAtExpiry",
                item?.isRemovedAtExpiry,
                else: false
            ),
            priceChange: try fields.optional("priceChange", item?.priceChange),
            installments: try fields.optional("installments", item?.installments)
        )
    }
}

extension PlayItem.Plan {
    /// `autoRenewing` with whether it is on, or `prepaid`, or nothing.
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ plan: Self?
    ) throws(Fields.Failure) -> Self {
        if let isOn = try fields.optional("autoRenewing", plan?.isOn) {
            .autoRenewing(isOn: isOn)
        } else if let prepaid = try fields.optional("prepaid", plan?.prepaid) {
            .prepaid(extendableFrom: prepaid.extendableFrom)
        } else {
            .unstated
        }
    }

    private var isOn: Bool? {
        if case .autoRenewing(let isOn) = self { isOn } else { nil }
    }

    private var prepaid: Prepaid? {
        if case .prepaid(let from) = self { Prepaid(extendableFrom: from) } else { nil }
    }

    private struct Prepaid: FormObject {
        let extendableFrom: Instant?

        static func form<Fields: FormFields>(
            _ fields: inout Fields,
            _ prepaid: Self?
        ) throws(Fields.Failure) -> Self {
            Self(extendableFrom: try fields.optional("extendableFrom", prepaid?.extendableFrom))
        }
    }
}

extension PlayItem.PromotionCode: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ code: Self?
    ) throws(Fields.Failure) -> Self {
        Self(text: try fields.optional("text", code?.text))
    }
}

extension PlayItem.PriceChange: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ change: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            state: try fields.required("state", change?.state),
            price: try fields.optional("price", change?.price),
            chargedFrom: try fields.optional("chargedFrom", change?.chargedFrom),
            consentBy: try fields.optional("consentBy", change?.consentBy)
        )
    }
}

extension PlayItem.Installments: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ installments: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            remainingPayments: try fields.optional(
                "remainingPayments",
                installments?.remainingPayments
            ),
            isCancellationPending: try fields.optional(
                "isCancellationPending",
                installments?.isCancellationPending,
                else: false
            )
        )
    }
}

extension PlayPurchase: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ read: PlayPurchase?
    ) throws(Fields.Failure) -> PlayPurchase {
        PlayPurchase(
            token: try fields.required("token", read?.token),
            askedAt: try fields.required("askedAt", read?.askedAt),
            state: try fields.required("state", read?.state),
            items: try fields.optional("items", read?.items) ?? [],
            orderId: try fields.optional("orderId", read?.orderId),
            completedAt: try fields.optional("completedAt", read?.completedAt),
            isAcknowledged: try fields.optional("isAcknowledged", read?.isAcknowledged),
            isTest: try fields.optional("isTest", read?.isTest, else: false),
            region: try fields.optional("region", read?.region),
            accountId: try fields.optional("accountId", read?.accountId)
        )
    }
}

extension PlayPurchase.Item: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ item: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            productId: try fields.required("productId", item?.productId),
            isConsumed: try fields.optional("isConsumed", item?.isConsumed, else: false),
            quantity: try fields.optional("quantity", item?.quantity),
            refundableQuantity: try fields.optional(
                "refundableQuantity",
                item?.refundableQuantity
            )
        )
    }
}

extension PlayVoidedOrder: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ order: PlayVoidedOrder?
    ) throws(Fields.Failure) -> PlayVoidedOrder {
        PlayVoidedOrder(
            token: try fields.required("token", order?.token),
            orderId: try fields.optional("orderId", order?.orderId),
            date: try fields.required("date", order?.date),
            isPartial: try fields.optional("isPartial", order?.isPartial, else: false),
            reason: try fields.optional("reason", order?.reason)
        )
    }
}

extension PlayReplacement: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ replacement: PlayReplacement?
    ) throws(Fields.Failure) -> PlayReplacement {
        PlayReplacement(
            token: try fields.required("token", replacement?.token),
            by: try fields.required("by", replacement?.by),
            from: try fields.required("from", replacement?.from)
        )
    }
}

extension PlayNotice: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ notice: PlayNotice?
    ) throws(Fields.Failure) -> PlayNotice {
        PlayNotice(
            token: try fields.required("token", notice?.token),
            kind: try fields.required("kind", notice?.kind),
            productId: try fields.optional("productId", notice?.productId)
        )
    }
}
