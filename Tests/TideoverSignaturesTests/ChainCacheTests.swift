import Foundation
import Synchronization
import Testing
import TideoverJSON
import TideoverSignatures

struct ChainCacheTests {
    private let instant = TestChain.instant

    @Test func `the 33rd chain displaces the one used longest ago`() throws {
        let chains = try leaves(33)
        let documents = try chains.map { try $0.document() }
        let verifier = try chains[0].verifier()
        for jws in documents {
            try verifier.verify(jws, at: instant).isExpected()
        }
        // One operation for the shared intermediate, one for each leaf.
        #expect(verifier.publicKeyOperationCount == 34)
        #expect(verifier.cachedChainCount == 32)
        for jws in documents.dropFirst() {
            try verifier.verify(jws, at: instant).isExpected()
        }
        #expect(verifier.publicKeyOperationCount == 34)
        try verifier.verify(documents[0], at: instant).isExpected()
        #expect(verifier.publicKeyOperationCount == 35)
        #expect(verifier.cachedChainCount == 32)
        try verifier.verify(documents[2], at: instant).isExpected()
        #expect(verifier.publicKeyOperationCount == 35)
        try verifier.verify(documents[1], at: instant).isExpected()
        #expect(verifier.publicKeyOperationCount == 36)
    }

    @Test func `other documents with a remembered chain cause no chain operation`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        for index in 0..<20 {
            try verifier.verify(chain.document(#"{"n":\#(index)}"#), at: instant).isExpected()
        }
        #expect(verifier.publicKeyOperationCount == 2)
        #expect(verifier.cachedChainCount == 1)
    }

    @Test func `a remembered chain refuses a document with another's payload or signature`() throws
    {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        let documents = try ["{}", #"{"n":1}"#, #"{"n":2}"#].map { try chain.document($0) }
        for jws in documents { try verifier.verify(jws, at: instant).isExpected() }
        for (one, other) in [(0, 1), (1, 2), (2, 0)] {
            let signature = Base64.encode(documents[other].signature, .urlSafe)
            let text = Array(documents[one].signingInput) + Array(".".utf8) + signature
            #expect(throws: SignatureRefusal.badSignature) {
                try verifier.verify(JWS(text), at: instant)
            }
        }
        #expect(verifier.cachedChainCount == 1)
    }

    @Test func `refusals are never remembered`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        let jws = try chain.document()
        #expect(throws: SignatureRefusal.self) { try verifier.verify(jws, at: TestChain.end + 1) }
        #expect(throws: SignatureRefusal.self) { try verifier.verify(jws, at: TestChain.end + 1) }
        let forged = try TestChain().document()
        for _ in 0..<3 {
            let before = verifier.publicKeyOperationCount
            #expect(throws: SignatureRefusal.untrustedRoot) {
                try verifier.verify(forged, at: instant)
            }
            #expect(verifier.publicKeyOperationCount == before + 1)
        }
        #expect(verifier.cachedChainCount == 0)
        try verifier.verify(jws, at: instant).isExpected()
        #expect(verifier.cachedChainCount == 1)
    }

    @Test func `a valid chain with false signatures displaces no entry`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier(cacheCapacity: 1)
        try verifier.verify(chain.document(), at: instant).isExpected()
        let operations = verifier.publicKeyOperationCount
        for index in 0..<3 {
            var header = chain.header
            header["n"] = .integer(Int64(index))
            let honest = try chain.document(header: header)
            let input = String(decoding: honest.signingInput, as: UTF8.self)
            let text = input + "." + String(repeating: "A", count: 86)
            #expect(throws: SignatureRefusal.badSignature) {
                try verifier.verify(JWS(text.utf8), at: instant)
            }
        }
        let later = verifier.publicKeyOperationCount
        #expect(later == operations + 3)
        try verifier.verify(chain.document(), at: instant).isExpected()
        #expect(verifier.publicKeyOperationCount == later)
    }

    @Test func `a verifier with room for one chain still verifies many`() throws {
        let chains = try leaves(3)
        let verifier = try chains[0].verifier(cacheCapacity: 1)
        for chain in chains + chains {
            try verifier.verify(chain.document(), at: instant).isExpected()
        }
        #expect(verifier.cachedChainCount == 1)
        #expect(verifier.publicKeyOperationCount == 7)
    }

    @Test func `eight threads with one new chain verify it at most twice`() throws {
        let chain = try TestChain()
        let verifier = try chain.verifier()
        let jws = try chain.document()
        let accepted = Atomic<Int>(0)
        onThreads(8) {
            for _ in 0..<10 where (try? verifier.verify(jws, at: TestChain.instant)) != nil {
                accepted.wrappingAdd(1, ordering: .relaxed)
            }
        }
        #expect(accepted.load(ordering: .relaxed) == 80)
        #expect(verifier.publicKeyOperationCount <= 4)
        #expect(verifier.cachedChainCount == 1)
    }

    @Test func `threads with valid and forged chains get their own results`() throws {
        let chains = try leaves(4)
        let forged = try TestChain().document()
        let documents = try chains.map { try $0.document() }
        let verifier = try chains[0].verifier(cacheCapacity: 2)
        let wrong = Atomic<Int>(0)
        onThreads(8) {
            for _ in 0..<5 {
                for jws in documents where (try? verifier.verify(jws, at: TestChain.instant)) == nil
                {
                    wrong.wrappingAdd(1, ordering: .relaxed)
                }
                if (try? verifier.verify(forged, at: TestChain.instant)) != nil {
                    wrong.wrappingAdd(1, ordering: .relaxed)
                }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }

    private func leaves(_ count: Int) throws -> [TestChain] {
        let rootKey = CertificateKey.generate(.p256)
        let intermediateKey = CertificateKey.generate(.p256)
        let first = try TestChain {
            $0.rootKey = rootKey
            $0.intermediateKey = intermediateKey
        }
        return try (0..<count).map { try first.sibling(serial: UInt64($0 + 1)) }
    }
}

struct ObjectPoolTests {
    @Test func `the number of threads inside never exceeds the lanes`() {
        let lanes = ObjectPool<Void>(count: 2) { () }
        let inside = Atomic<Int>(0)
        let most = Atomic<Int>(0)
        let done = Atomic<Int>(0)
        onThreads(8) {
            for _ in 0..<10 {
                lanes.withOne { _ in
                    let now = inside.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
                    most.max(now, ordering: .sequentiallyConsistent)
                    usleep(200)
                    inside.wrappingSubtract(1, ordering: .sequentiallyConsistent)
                    done.wrappingAdd(1, ordering: .sequentiallyConsistent)
                }
            }
        }
        #expect(done.load(ordering: .sequentiallyConsistent) == 80)
        #expect((1...2).contains(most.load(ordering: .sequentiallyConsistent)))
    }

    @Test func `a closure that throws frees its lane`() {
        let lanes = ObjectPool<Int>(count: 1) { 0 }
        for _ in 0..<3 {
            #expect(throws: SignatureRefusal.badSignature) {
                try lanes.withOne { (count: inout Int) throws(SignatureRefusal) in
                    count += 1
                    throw .badSignature
                }
            }
        }
        #expect(lanes.withOne { $0 } == 3)
    }
}

struct RecentlyUsedTests {
    @Test func `a used entry is not evicted`() {
        var memory = RecentlyUsed<Int>(capacity: 2)
        memory.remember(1, for: [1])
        memory.remember(2, for: [2])
        #expect(memory.value(for: [1]) == 1)
        memory.remember(3, for: [3])
        #expect(memory.value(for: [2]) == nil)
        #expect(memory.value(for: [1]) == 1)
        #expect(memory.value(for: [3]) == 3)
        #expect(memory.count == 2)
    }

    @Test func `the same bytes are remembered once, other bytes apart`() {
        var memory = RecentlyUsed<String>(capacity: 3)
        memory.remember("old", for: [1, 2])
        memory.remember("new", for: [0, 1, 2, 3][1..<3])
        memory.remember("empty", for: [])
        #expect(memory.count == 2)
        #expect(memory.value(for: [1, 2]) == "new")
        #expect(memory.value(for: []) == "empty")
        #expect(memory.value(for: [1]) == nil)
        #expect(memory.value(for: [1, 2, 3]) == nil)
    }
}

/// Runs `body` on `count` threads concurrently, and returns after all have finished.
private func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    for _ in 0..<count {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }
    group.wait()
}
