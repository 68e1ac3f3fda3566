package import TideoverCore
package import TideoverHTTP

/// Replays of the stored evidence, which run in the background.
extension Service {
    /// Replays the evidence of one app in one environment now. Returns the response of `GET
    /// /v1/apps/{app}/replay`, or 404 if there is no such app or environment.
    package func replayNow(app: String, environment: Environment, apply: Bool) async -> Response {
        guard let replayer = replayers.first(app, environment) else {
            return Problem.notFound.response
        }
        let report = await replayer.run(apply: apply, isKept: false) ?? replayer.report
        return ReplayRoute.answer(report, isWanted: false)
    }
}
