import TideoverCore
import TideoverJSON

/// Responses of the Play Developer API without a notification, in the form stored as evidence. They
/// include the lineages of their tokens, so that their facts can be derived again.
package struct PlayAnswers: Sendable {
    package let reads: [PlayRead]
    package let chains: PlayChains

    package init(_ reads: [PlayRead], chains: PlayChains) {
        self.reads = reads
        self.chains = chains
    }
}

extension PlayAnswers {
    /// The stored form. It contains the responses unchanged.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("googlePlay", "answers")
            writer.field("reads", array: { for read in reads { $0.raw(read.bytes) } })
            writer.field("chains", array: { for link in chains.links { link.write(to: &$0) } })
        }
        return writer.bytes
    }

    /// Parses the stored form.
    package init(_ bytes: [UInt8]) throws(PlayRefusal) {
        let fields = try WireFields(JSONDocument(google: bytes, limits: .local).root)
        guard try fields.string("googlePlay") == "answers" else {
            throw fields.malformed("googlePlay")
        }
        reads = try fields.list("reads") { read throws(PlayRefusal) in
            try PlayRead(Array(read.source))
        }
        chains = try PlayChains(links: fields)
    }
}

extension PlayReader {
    /// Reads stored responses and returns the facts of each.
    package func read(_ answers: PlayAnswers) throws(PlayRefusal) -> [PlayReading] {
        var readings: [PlayReading] = []
        for read in answers.reads { readings.append(try self.read(read, chains: answers.chains)) }
        return readings
    }
}
