public import TideoverCore
public import TideoverHTTP

/// Reading the stored evidence again, apart from the requests that want it.
extension Service {
    /// Reads stored evidence again where somebody wants it, and where a server before this one had not
    /// come to the end, until cancelled.
    public func replay() async {
        await withTaskGroup { group in
            for replayer in replayers { group.addTask { await replayer.work(sleep: sleep) } }
        }
    }

    /// Reads the evidence of one app in one environment now, and answers as `GET
    /// /v1/apps/{app}/replay` does; 404 where there is no such app or environment.
    public func replayNow(app: String, environment: Environment, apply: Bool) async -> Response {
        guard let replayer = replayers.first(app, environment) else {
            return Problem.notFound.response
        }
        let report = await replayer.run(apply: apply, isKept: false) ?? replayer.report
        return ReplayRoute.answer(report, isWanted: false)
    }
}
