import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `POST /v1/backup`, which starts a copy of the database, and `GET`, which reports its
/// progress.
///
/// The copy is created beside the database, so that no request names a path. `tideover backup`
/// checks it and moves it to its destination.
struct BackupRoute {
    let copier: DatabaseCopier?

    func begin() throws -> Response {
        guard let copier else { throw Problem.backupUnavailable }
        do {
            var response = Self.answer(try copier.begin())
            response.status = 202
            return response
        } catch {
            throw error.reason == .busy ? Problem.backupRunning : error
        }
    }

    func tell() throws -> Response {
        guard let copier else { throw Problem.backupUnavailable }
        return Self.answer(copier.latest())
    }

    private static func answer(_ report: CopyReport?) -> Response {
        .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.key("copy")
            guard let report else { return writer.null() }
            writer.object { report.write(to: &$0) }
        }
    }
}

extension CopyReport {
    fileprivate func write(to writer: inout JSONWriter) {
        switch state {
        case .copying: writer.field("state", "copying")
        case .copied: writer.field("state", "copied")
        case .failed(let error):
            writer.field("state", "failed")
            writer.field("problem", error.description)
        }
        writer.field("file", file)
        writer.field("bytes", bytes)
        writer.field("bytesInAll", bytesInAll)
    }
}
