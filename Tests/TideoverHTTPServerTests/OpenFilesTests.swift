import Testing
import TideoverHTTPServer

/// Clients never exhaust the files that the process may open.
@Suite struct OpenFilesTests {
    @Test(
        arguments: [
            // The initial limit that most systems give a service, and the raised one.
            (now: 1_024, most: 524_288, raised: 1_280, connections: 1_024),
            (now: 1_048_576, most: 1_048_576, raised: 1_048_576, connections: 1_024),
            (now: 1_024, most: 1_100, raised: 1_100, connections: 844),
            (now: 1_024, most: 1_024, raised: 1_024, connections: 768),
            (now: 400, most: 400, raised: 400, connections: 200),
            (now: 64, most: 64, raised: 64, connections: 32),
            (now: 0, most: 0, raised: 0, connections: 1),
            (now: .max, most: .max, raised: .max, connections: 1_024),
        ] as [(now: UInt, most: UInt, raised: UInt, connections: Int)]
    )
    func `connections leave enough file descriptors to the process`(
        now: UInt,
        most: UInt,
        raised: UInt,
        connections: Int
    ) {
        var files = OpenFiles(now: now, most: most)
        #expect(files.makeRoom(forConnections: 1_024) == connections)
        #expect(files == OpenFiles(now: raised, most: most))
    }
}
