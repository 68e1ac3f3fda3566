import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON

/// Receives Pub/Sub pushes with notifications of Google Play: verifies them, queries the store,
/// commits, then responds.
struct PlayIngest: Sendable {
    let context: AppContext
    let pollers: [PlayPoller]

    private var app: App { context.app }

    func respond(to request: Request) async throws -> Response {
        guard let trust = app.googlePlay, let pushes = trust.pushes else {
            throw Problem.googlePlayNotConfigured(app.id)
        }
        do {
            let message = try await believed(request, trust, pushes)
            let commitRequest = PlayIntake(context: context, trust: trust, pollers: pollers)
            return answer(try await commitRequest.take(message))
        } catch let problem as Problem {
            context.refused(problem.slug)
            throw problem
        } catch {
            context.failed()
            throw error
        }
    }

    /// Verifies a push and returns its message. A rejection costs at most one check of an RSA
    /// signature, so rejected pushes have no budget.
    private func believed(
        _ request: Request,
        _ trust: PlayTrust,
        _ pushes: PushGuard
    ) async throws -> PlayIntake.Message {
        do {
            let now = context.clock()
            _ = try await pushes.admit(request, at: now)
            return try PlayIntake.Message(try PubSubMessage(request), trust, at: now)
        } catch let failure as PushKeysFailure {
            context.log(.error, "pushes cannot be verified", detail: "\(failure)")
            throw Problem.pushKeysUnavailable(failure)
        } catch {
            guard let refusal = error as? any Refusal else { throw error }
            context.noteRefusal(refusal)
            if let refusal = error as? PushRefusal { await note(refusal, of: request, pushes) }
            throw refusal.problem
        }
    }

    /// Records a push that Google signed for another subscription, because it shows how that is
    /// configured.
    private func note(_ refusal: PushRefusal, of request: Request, _ pushes: PushGuard) async {
        var claims: PushClaims?
        switch refusal {
        case .wrongAudience, .wrongSender, .unverifiedSender:
            claims = await pushes.claims(of: request)
        case .noToken: break
        default: return
        }
        let push = MisdirectedPush(context.clock(), refusal, claims)
        for environment in app.environments {
            context.arrivals.note(
                push,
                in: .init(app: app.id, environment: environment, store: .googlePlay)
            )
        }
    }

    private func answer(_ outcome: PlayIntake.Outcome) -> Response {
        switch outcome {
        case .duplicate: .json(["status": "duplicate"])
        case .ignored: .json(["status": "ignored"])
        case .committed(let newFacts):
            .json(["status": "committed", "newFacts": .integer(Int64(newFacts))])
        }
    }
}
