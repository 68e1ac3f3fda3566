import TideoverCore
import TideoverGooglePlay

/// A push that came to an app's address and was not believed to be of its push subscription: it tells how
/// that is configured.
struct MisdirectedPush: Hashable, Sendable {
    let at: Instant
    /// The name of the refusal.
    let reason: String
    /// What its token says, if Google signed it.
    let audience: String?
    let email: String?

    init(_ at: Instant, _ refusal: PushRefusal, _ claims: PushClaims?) {
        self.at = at
        reason = refusal.code
        audience = claims?.audience
        email = claims?.email
    }
}
