import TideoverCore
import TideoverGooglePlay

/// A push to an app's URL that failed verification as its push subscription; it shows how the
/// subscription is configured.
struct MisdirectedPush: Hashable, Sendable {
    let at: Instant
    /// The code of the rejection.
    let reason: String
    /// The content of its token, if Google signed it.
    let audience: String?
    let email: String?

    init(_ at: Instant, _ refusal: PushRefusal, _ claims: PushClaims?) {
        self.at = at
        reason = refusal.code
        audience = claims?.audience
        email = claims?.email
    }
}
