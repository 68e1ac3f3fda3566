/// All statements of the storage except its migrations and `CommonSQL`, as fixed texts.
///
/// They use only syntax that PostgreSQL and compatible distributed databases also accept, apart
/// from the form of parameters: `$1` there.
enum SQL {
    /// The customer column of an audit entry without a customer.
    static let noCustomer = ""

    // MARK: Transactions

    /// The writer locks at once: no data it reads can change before it writes.
    static let begin: StaticString = "BEGIN IMMEDIATE"
    static let beginReading: StaticString = "BEGIN"
    static let makeSavepoint: StaticString = "SAVEPOINT job"
    static let releaseSavepoint: StaticString = "RELEASE job"
    static let returnToSavepoint: StaticString = "ROLLBACK TO job"

    // MARK: One lineage, one customer

    /// `fact_by_key` has the facts of earlier versions that are not moved yet.
    static let facts: StaticString = """
        SELECT form, asserted_at, identity FROM fact
        WHERE app = ?1 AND environment = ?2 AND lineage = ?3
        UNION ALL
        SELECT form, asserted_at, identity FROM fact_by_key
        WHERE app = ?1 AND environment = ?2 AND lineage = ?3
        ORDER BY asserted_at, identity
        """
    /// `facts` once every fact is moved.
    static let movedFacts: StaticString = """
        SELECT form FROM fact WHERE app = ?1 AND environment = ?2 AND lineage = ?3
        ORDER BY asserted_at, identity
        """
    static let anyFactByKey: StaticString = "SELECT 1 FROM fact_by_key LIMIT 1"
    static let anyEventByKey: StaticString = "SELECT 1 FROM outbox_by_key LIMIT 1"
    static let anyAlias: StaticString = "SELECT 1 FROM alias LIMIT 1"
    static let anyDrift: StaticString = "SELECT 1 FROM drift LIMIT 1"
    static let anyPrompt: StaticString = "SELECT 1 FROM prompt LIMIT 1"
    static let moveFacts: StaticString = """
        INSERT INTO fact (app, environment, lineage, asserted_at, identity, form)
        SELECT app, environment, lineage, asserted_at, identity, form FROM
            (SELECT app, environment, lineage, asserted_at, identity, form FROM fact_by_key
            ORDER BY app, environment, lineage, asserted_at, identity LIMIT ?1) AS some
        WHERE true
        ON CONFLICT (app, environment, lineage, asserted_at, identity) DO NOTHING
        """
    static let removeMovedFacts: StaticString = """
        DELETE FROM fact_by_key WHERE (app, environment, lineage, asserted_at, identity) IN
            (SELECT app, environment, lineage, asserted_at, identity FROM fact_by_key
            ORDER BY app, environment, lineage, asserted_at, identity LIMIT ?1)
        """
    static let moveEvents: StaticString = """
        INSERT INTO outbox (app, id, environment, customer, version, kind, at, body)
        SELECT app, id, environment, customer, version, kind, at, body FROM
            (SELECT app, id, environment, customer, version, kind, at, body FROM outbox_by_key
            ORDER BY app, id LIMIT ?1) AS some
        WHERE true
        ON CONFLICT (app, id) DO NOTHING
        """
    static let removeMovedEvents: StaticString = """
        DELETE FROM outbox_by_key WHERE (app, id) IN
            (SELECT app, id FROM outbox_by_key ORDER BY app, id LIMIT ?1)
        """
    static let owners: StaticString = """
        SELECT form, settled IS NOT NULL FROM owner
        WHERE app = ?1 AND environment = ?2 AND lineage = ?3 ORDER BY seq
        """
    static let lineagesOwned: StaticString = """
        SELECT DISTINCT lineage FROM owner WHERE app = ?1 AND environment = ?2 AND customer = ?3
        ORDER BY lineage
        """
    /// Enough to know that a customer has only one.
    static let firstLineagesOwned: StaticString = """
        SELECT DISTINCT lineage FROM owner WHERE app = ?1 AND environment = ?2 AND customer = ?3
        ORDER BY lineage LIMIT 2
        """
    /// Excludes the lineages settled under a fingerprint by an instant, except the first.
    static let lineagesUnsettled: StaticString = """
        SELECT DISTINCT lineage FROM owner WHERE app = ?1 AND environment = ?2 AND customer = ?3
        AND (settled IS NULL OR settled <> ?4 OR settled_since > ?5 OR lineage = ?6)
        ORDER BY lineage
        """
    static let settledLineages: StaticString = """
        SELECT count(*), max(settled_since), min(lineage) FROM owner
        WHERE app = ?1 AND environment = ?2 AND customer = ?3
        AND settled = ?4 AND settled_since <= ?5
        """
    static let settledKeys: StaticString = """
        SELECT lineage FROM owner
        WHERE app = ?1 AND environment = ?2 AND customer = ?3 AND settled = ?4
        """
    static let settle: StaticString = """
        UPDATE owner SET settled = ?4, settled_since = ?5
        WHERE app = ?1 AND environment = ?2 AND lineage = ?3
        AND (settled IS NULL OR settled <> ?4 OR settled_since <> ?5)
        """
    static let primary: StaticString = """
        SELECT customer FROM alias WHERE app = ?1 AND environment = ?2 AND alias = ?3
        """
    static let aliases: StaticString = """
        SELECT alias, customer, since, why, declared_by FROM alias
        WHERE app = ?1 AND environment = ?2 AND customer = ?3 ORDER BY since, alias
        """

    // MARK: Drift

    /// An ended difference never changes.
    static let changeDrift: StaticString = """
        UPDATE drift SET healed_at = ?5, form = ?6
        WHERE app = ?1 AND environment = ?2 AND customer = ?3 AND id = ?4 AND healed_at IS NULL
        """

    // MARK: Attributes

    /// The ids for which an app states an email address, in order, each with its customer. Without
    /// the hint, all of an app's attributes are read.
    static let customersByEmail: StaticString = """
        SELECT t.customer, coalesce(a.customer, t.customer), c.derived_at
        FROM attribute AS t INDEXED BY attribute_by_email
        LEFT JOIN alias AS a
            ON a.app = t.app AND a.environment = t.environment AND a.alias = t.customer
        LEFT JOIN customer AS c
            ON c.app = t.app AND c.environment = t.environment AND c.customer = t.customer
            AND a.alias IS NULL
        WHERE t.app = ?1 AND t.environment = ?2 AND t.name = '$email' AND length(t.value) <= 254
            AND lower(t.value) = ?3 AND t.customer > ?4
        ORDER BY t.customer LIMIT ?5
        """
    static let logInsAfter: StaticString = """
        SELECT name FROM bookmark
        WHERE app = ?1 AND environment = ?2 AND name > max(?3, 'revenueCat:logIn:')
        AND name < 'revenueCat:logIn;'
        ORDER BY name LIMIT ?4
        """
    static let pruneLogIn: StaticString = """
        DELETE FROM bookmark
        WHERE app = ?1 AND environment = ?2 AND name = ?3 AND json_extract(form, '$.at') < ?4
        """

    // MARK: Prompts

    /// The first report of an id decides when the prompt was shown, the first response its outcome.
    static let putPrompt: StaticString = """
        INSERT INTO prompt (app, environment, customer, id, kind, shown_at, response)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT DO UPDATE SET response = coalesce(prompt.response, excluded.response)
        """
    static let promptsOf: StaticString = """
        SELECT id, kind, shown_at, response FROM prompt
        WHERE app = ?1 AND environment = ?2 AND customer = ?3
        ORDER BY shown_at DESC LIMIT ?4
        """

    // MARK: Due answers

    static let due: StaticString = """
        SELECT customer, valid_until FROM customer
        WHERE app = ?1 AND environment = ?2 AND valid_until <= ?3
        ORDER BY valid_until LIMIT ?4
        """

    // MARK: Commit

    static let hasHeader: StaticString = "SELECT 1 FROM header WHERE fingerprint = ?1"
    static let insertHeader: StaticString = """
        INSERT INTO header (fingerprint, text) VALUES (?1, ?2) ON CONFLICT (fingerprint) DO NOTHING
        """
    static let insertFact: StaticString = """
        INSERT INTO fact (app, environment, lineage, identity, asserted_at, form)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6
        WHERE NOT EXISTS (SELECT 1 FROM fact_by_key AS old
            WHERE old.app = ?1 AND old.environment = ?2 AND old.lineage = ?3
            AND old.asserted_at = ?5 AND old.identity = ?4)
        ON CONFLICT (app, environment, lineage, asserted_at, identity) DO NOTHING
        """
    /// `insertFact` once every fact is moved.
    static let insertMovedFact: StaticString = """
        INSERT INTO fact (app, environment, lineage, identity, asserted_at, form)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (app, environment, lineage, asserted_at, identity) DO NOTHING
        """
    static let putCustomer: StaticString = """
        INSERT INTO customer
            (app, environment, customer, version, answer, valid_until, fingerprint, derived_at,
            pass, pass_signer, pass_issued_at, pass_renew_at, reconciled_at, presented)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
        ON CONFLICT (app, environment, customer) DO UPDATE SET
            version = excluded.version, answer = excluded.answer,
            valid_until = excluded.valid_until, fingerprint = excluded.fingerprint,
            derived_at = excluded.derived_at, pass = excluded.pass,
            pass_signer = excluded.pass_signer, pass_issued_at = excluded.pass_issued_at,
            pass_renew_at = excluded.pass_renew_at, reconciled_at = excluded.reconciled_at,
            presented = excluded.presented
        """
    static let auditNamedBetween: StaticString = """
        SELECT count(*) FROM
            (SELECT 1 FROM audit
            WHERE app = ?1 AND environment = ?2 AND name > ?3 AND name < ?4 LIMIT ?5) AS some
        """
    static let changeAudit: StaticString = """
        UPDATE audit SET form = ?3 WHERE app = ?1 AND id = ?2
        """
    /// `outbox_by_key` has the events of earlier versions that are not moved yet.
    static let latestEvent: StaticString = """
        SELECT id FROM outbox WHERE app = ?1
        UNION ALL
        SELECT id FROM outbox_by_key WHERE app = ?1
        ORDER BY id DESC LIMIT 1
        """

    static let replaceBookmark: StaticString = """
        UPDATE bookmark SET form = ?4
        WHERE app = ?1 AND environment = ?2 AND name = ?3 AND form = ?5
        """

    // MARK: Figures

    static let putFiguresTurn: StaticString = """
        INSERT INTO figures (app, environment, kind, subject, stamp, form)
        VALUES (?1, ?2, 'turn', '', ?3, x'')
        ON CONFLICT (app, environment, kind, subject) DO UPDATE SET stamp = excluded.stamp
        """
    static let markFigures: StaticString = """
        INSERT INTO stale_figures (app, environment, kind, subject, mark)
        VALUES (?1, ?2, ?3, ?4, random())
        ON CONFLICT (app, environment, kind, subject) DO UPDATE SET mark = excluded.mark
        """

    // MARK: Removal

    static let idle: StaticString = """
        UPDATE evidence SET idle_since = ?4, idle_lineage = ?5
        WHERE app = ?1 AND environment = ?2 AND dedupe_key = ?3
        """
    /// `unidle` for a restored fact. The same bytes may have come again under another key: a row that
    /// has no mark proves the fact, and the others keep theirs.
    static let unidleProof: StaticString = """
        UPDATE evidence INDEXED BY evidence_by_id SET idle_since = NULL, idle_lineage = NULL
        WHERE app = ?1 AND id = ?2 AND environment = ?3 AND idle_since IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM evidence AS proof INDEXED BY evidence_by_id
            WHERE proof.app = ?1 AND proof.id = ?2 AND proof.environment = ?3
            AND proof.idle_since IS NULL)
        """
    static let pruneEvidence: StaticString = """
        DELETE FROM evidence WHERE rowid IN
            (SELECT rowid FROM evidence
            WHERE app = ?1 AND environment = ?2 AND idle_since < ?3
            ORDER BY idle_since LIMIT ?4)
        """
    /// Returns the removed ids, without those of emptied events.
    static let pruneEvents: StaticString = """
        DELETE FROM outbox WHERE app = ?1 AND id IN
            (SELECT id FROM outbox
            WHERE app = ?1 AND environment = ?2 AND id < ?3
            AND id < (SELECT max(id) FROM
                (SELECT max(id) AS id FROM outbox WHERE app = ?1
                UNION ALL SELECT max(id) FROM outbox_by_key WHERE app = ?1) AS latest)
            ORDER BY id LIMIT ?4)
        RETURNING CASE WHEN kind = 'erased' THEN '' ELSE id END
        """
    /// Returns the removed ids, without those of emptied events.
    static let pruneEventsByKey: StaticString = """
        DELETE FROM outbox_by_key WHERE app = ?1 AND id IN
            (SELECT id FROM outbox_by_key
            WHERE app = ?1 AND environment = ?2 AND id < ?3
            AND id < (SELECT max(id) FROM
                (SELECT max(id) AS id FROM outbox WHERE app = ?1
                UNION ALL SELECT max(id) FROM outbox_by_key WHERE app = ?1) AS latest)
            ORDER BY id LIMIT ?4)
        RETURNING CASE WHEN kind = 'erased' THEN '' ELSE id END
        """
    static let pruneAttempts: StaticString = """
        DELETE FROM webhook_attempt WHERE number IN
            (SELECT number FROM webhook_attempt WHERE app = ?1 AND at < ?2 LIMIT ?3)
        """
    static let hasWebhook: StaticString = """
        SELECT 1 FROM webhook WHERE app = ?1 AND id = ?2
        """
    static let insertWebhook: StaticString = """
        INSERT INTO webhook (app, id, form, position, failing_since, disabled, disabled_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (app, id) DO UPDATE SET form = ?3
        """
    static let settleWebhook: StaticString = """
        UPDATE webhook SET position = max(position, ?3), failing_since = ?4,
            disabled_at = CASE WHEN disabled IS NULL AND ?5 IS NOT NULL THEN ?6 ELSE disabled_at END,
            disabled = coalesce(disabled, ?5)
        WHERE app = ?1 AND id = ?2
        """
    static let setWebhook: StaticString = """
        UPDATE webhook SET
            failing_since = CASE WHEN ?3 IS NULL THEN NULL ELSE failing_since END,
            disabled_at = CASE WHEN ?3 IS NULL THEN NULL ELSE coalesce(disabled_at, ?4) END,
            disabled = CASE WHEN ?3 IS NULL THEN NULL ELSE coalesce(disabled, ?3) END
        WHERE app = ?1 AND id = ?2
        """
    static let putDelivery: StaticString = """
        INSERT INTO webhook_delivery (app, webhook, event, attempts, next_at)
        VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (app, webhook, event) DO UPDATE SET attempts = ?4, next_at = ?5
        """
    static let insertAttempt: StaticString = """
        INSERT INTO webhook_attempt (app, webhook, event, at, ordinal, outcome, status, detail)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """
    static let eraseFactsByKey: StaticString = """
        DELETE FROM fact_by_key WHERE app = ?1 AND environment = ?2 AND lineage = ?3
        """
    /// Evidence without facts that names a customer, see `EvidenceSubject`.
    static let eraseIdleNaming: StaticString = """
        DELETE FROM evidence INDEXED BY evidence_idle_of
        WHERE app = ?1 AND environment = ?2 AND idle_since IS NOT NULL
        AND idle_lineage >= 'customers:' AND idle_lineage < 'customers;'
        AND instr(idle_lineage, ?3) > 0
        """
    /// SQLite ends a text that it extracts at a NUL. No customer has such an id.
    static let eraseBookmarksOf: StaticString = """
        DELETE FROM bookmark
        WHERE app = ?1 AND environment = ?2 AND name >= ?3 AND name < ?4
        AND instr(form, '\\u0000') = 0
        AND json_extract(form, '$.value') IN (SELECT value FROM json_each(?5))
        """
    static let eraseEvent: StaticString = """
        DELETE FROM outbox
        WHERE app = ?1 AND environment = ?2 AND customer = ?3 AND id = ?4
        AND id < (SELECT max(id) FROM
            (SELECT max(id) AS id FROM outbox WHERE app = ?1
            UNION ALL SELECT max(id) FROM outbox_by_key WHERE app = ?1) AS latest)
        """
    static let eraseEventByKey: StaticString = """
        DELETE FROM outbox_by_key
        WHERE app = ?1 AND environment = ?2 AND customer = ?3 AND id = ?4
        AND id < (SELECT max(id) FROM
            (SELECT max(id) AS id FROM outbox WHERE app = ?1
            UNION ALL SELECT max(id) FROM outbox_by_key WHERE app = ?1) AS latest)
        """
    /// Leaves only the place of an event. No page contains one of this kind.
    static let disguiseEvent: StaticString = """
        UPDATE outbox SET customer = ?5, version = 1, kind = 'erased', at = 0,
            body = json_object('app', app, 'customer', ?5, 'environment', environment)
        WHERE app = ?1 AND environment = ?2 AND customer = ?3 AND id = ?4
        """
    static let disguiseEventByKey: StaticString = """
        UPDATE outbox_by_key SET customer = ?5, version = 1, kind = 'erased', at = 0,
            body = json_object('app', app, 'customer', ?5, 'environment', environment)
        WHERE app = ?1 AND environment = ?2 AND customer = ?3 AND id = ?4
        """
    static let auditNaming: StaticString = """
        SELECT id, form FROM audit INDEXED BY audit_by_customer
        WHERE app = ?1 AND environment = ?2 AND customer = ?3
        UNION
        SELECT id, form FROM audit INDEXED BY audit_by_other
        WHERE app = ?1 AND environment = ?2 AND other = ?3
        UNION
        SELECT id, form FROM audit INDEXED BY audit_by_customer
        WHERE app = ?1 AND environment = ?2 AND customer = ''
        """
    static let rewriteAudit: StaticString = """
        UPDATE audit SET customer = ?3, other = ?4, name = NULL, form = ?5
        WHERE app = ?1 AND id = ?2
        """

    // MARK: Everything, record by record

    static let factRecords: StaticString = """
        SELECT form, lineage, asserted_at, identity FROM fact
        WHERE app = ?1 AND environment = ?2 AND (lineage, asserted_at, identity) > (?3, ?4, ?5)
        UNION ALL
        SELECT form, lineage, asserted_at, identity FROM fact_by_key
        WHERE app = ?1 AND environment = ?2 AND (lineage, asserted_at, identity) > (?3, ?4, ?5)
        ORDER BY lineage, asserted_at, identity LIMIT ?6
        """
    static let eventRecords: StaticString = """
        SELECT id, environment, customer, version, kind, at, body FROM outbox
        WHERE app = ?1 AND environment = ?2 AND id > ?3
        UNION ALL
        SELECT id, environment, customer, version, kind, at, body FROM outbox_by_key
        WHERE app = ?1 AND environment = ?2 AND id > ?3
        ORDER BY id LIMIT ?4
        """
    static let restoreEvent: StaticString = """
        INSERT INTO outbox (app, id, environment, customer, version, kind, at, body)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
        WHERE NOT EXISTS (SELECT 1 FROM outbox_by_key AS old WHERE old.app = ?1 AND old.id = ?2)
        ON CONFLICT DO NOTHING
        """
    /// The version of an answer never goes back: a reader may know the later one. A stored answer
    /// that differs gets the version after the imported one, which an imported event may state with
    /// the other answer.
    static let restoreCustomer: StaticString = """
        INSERT INTO customer
            (app, environment, customer, version, answer, valid_until, fingerprint, derived_at,
            reconciled_at, presented)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, '', ?7, ?8, ?9)
        ON CONFLICT (app, environment, customer) DO UPDATE SET
            version = excluded.version
                + CASE WHEN excluded.answer <> customer.answer THEN 1 ELSE 0 END,
            fingerprint = '', valid_until = ?10
        WHERE excluded.version
            + CASE WHEN excluded.answer <> customer.answer THEN 1 ELSE 0 END > customer.version
        """
    static let outdateCustomer: StaticString = """
        UPDATE customer SET fingerprint = '', valid_until = ?4
        WHERE app = ?1 AND environment = ?2 AND customer = ?3
        """

    // MARK: Removal, record by record

    static let removeFactByKey: StaticString = """
        DELETE FROM fact_by_key
        WHERE app = ?1 AND environment = ?2 AND lineage = ?3 AND asserted_at = ?4 AND identity = ?5
        """
    static let removeEventByKey: StaticString = """
        DELETE FROM outbox_by_key WHERE app = ?1 AND environment = ?2 AND id = ?3
        """

    // MARK: Policy

    static let insertPolicy: StaticString = """
        INSERT INTO policy_version (app, environment, effective_at, fingerprint, form)
        SELECT ?1, ?2, ?3, ?4, ?5 WHERE ?4 IS NOT (
            SELECT fingerprint FROM policy_version WHERE app = ?1 AND environment = ?2
            ORDER BY effective_at DESC LIMIT 1
        ) ON CONFLICT DO NOTHING
        """

    // MARK: Keys

    static let revokeKey: StaticString = """
        UPDATE api_key SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL
        """

    // MARK: Read

    /// Without the hint SQLite prefers the index that gives the order, and reads the whole app.
    static let evidence: StaticString = """
        SELECT dedupe_key, source, signed_at, received_at, form FROM evidence
        INDEXED BY evidence_by_id WHERE app = ?1 AND id = ?2 ORDER BY environment, dedupe_key LIMIT 1
        """
    /// One at a time: the index finds the next key, however many facts the previous lineage has.
    static let lineageAfter: StaticString = """
        SELECT lineage FROM fact WHERE app = ?1 AND environment = ?2 AND lineage > ?3
        UNION ALL
        SELECT lineage FROM fact_by_key WHERE app = ?1 AND environment = ?2 AND lineage > ?3
        ORDER BY lineage LIMIT 1
        """
    static let outbox: StaticString = """
        SELECT id, environment, customer, version, kind, at, body FROM outbox
        WHERE app = ?1 AND id > ?2 AND kind <> 'erased'
        UNION ALL
        SELECT id, environment, customer, version, kind, at, body FROM outbox_by_key
        WHERE app = ?1 AND id > ?2 AND kind <> 'erased'
        ORDER BY id LIMIT ?3
        """
    static let latestEvents: StaticString = """
        SELECT id, environment, customer, version, kind, at, body FROM outbox
        WHERE app = ?1 AND kind <> 'erased'
        UNION ALL
        SELECT id, environment, customer, version, kind, at, body FROM outbox_by_key
        WHERE app = ?1 AND kind <> 'erased'
        ORDER BY id DESC LIMIT ?2
        """
    static let auditOf: StaticString = """
        SELECT id, environment, form FROM audit INDEXED BY audit_by_customer
        WHERE app = ?1 AND environment = ?2 AND customer = ?3 AND id > ?4
        UNION
        SELECT id, environment, form FROM audit INDEXED BY audit_by_other
        WHERE app = ?1 AND environment = ?2 AND other = ?3 AND id > ?4
        ORDER BY id LIMIT ?5
        """
    /// The ids of customers and their aliases within a range, in one order.
    static let customerIDs: StaticString = """
        SELECT customer AS id, customer, derived_at FROM customer AS c
        WHERE app = ?1 AND environment = ?2 AND customer >= ?3 AND customer < ?4
            AND NOT EXISTS (SELECT 1 FROM alias AS a
                WHERE a.app = c.app AND a.environment = c.environment AND a.alias = c.customer)
        UNION ALL
        SELECT alias AS id, customer, NULL FROM alias
        WHERE app = ?1 AND environment = ?2 AND alias >= ?3 AND alias < ?4
        ORDER BY id LIMIT ?5
        """
    static let unclaimedCount: StaticString = """
        SELECT count(*) FROM
            (SELECT lineage FROM unclaimed WHERE app = ?1 AND environment = ?2 LIMIT ?3) AS some
        """
    static let check: StaticString = "PRAGMA integrity_check"
    /// Stops at the first problem.
    static let quickCheck: StaticString = "PRAGMA quick_check(1)"
}
