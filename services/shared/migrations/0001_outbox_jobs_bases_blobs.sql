-- migrate:up

-- Events that became true with the transaction that wrote them; the relay publishes and deletes them.
CREATE TABLE outbox (
    id uuid PRIMARY KEY,
    subject text NOT NULL,
    payload bytea NOT NULL,
    -- The announced fact that this row carries, if it is one.
    fact_id uuid,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Facts that are sent again until every service that hears them has said that it handled them.
CREATE TABLE facts (
    id uuid PRIMARY KEY,
    subject text NOT NULL,
    payload bytea NOT NULL,
    awaiting text[] NOT NULL,
    due_at timestamptz NOT NULL,
    sent integer NOT NULL DEFAULT 1
);
CREATE INDEX facts_due ON facts (due_at);

-- Each service's channels carry its schema's name: several services share one database.
CREATE FUNCTION outbox_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '.outbox', '');
    RETURN NULL;
END $$;
CREATE TRIGGER outbox_notify AFTER INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION outbox_notify();

-- One row per thing and stage: who works on it, until when, and what came of it.
CREATE TABLE jobs (
    id uuid NOT NULL,
    stage text NOT NULL,
    attempt integer NOT NULL CHECK (attempt >= 1),
    epoch integer NOT NULL DEFAULT 0,
    -- waiting: may be sent from due_at on. sent: a message is on its way, sent again from due_at on.
    -- running: claimed until lease_until. ended: its result was put into the outbox.
    state text NOT NULL CHECK (state IN ('waiting', 'sent', 'running', 'ended')),
    lane text NOT NULL CHECK (lane IN ('interactive', 'bulk')),
    -- For whom the work is done: an organization, or a base outside any. Admission is fair between tenants.
    tenant_id uuid NOT NULL,
    subject text NOT NULL,
    message bytea NOT NULL,
    sends integer NOT NULL DEFAULT 0,
    -- Failures within this attempt: of the work, of what it was given to, and of workers that never came back.
    tries integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    takeovers integer NOT NULL DEFAULT 0,
    worker text,
    due_at timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz,
    result_subject text,
    result bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (id, stage)
);
CREATE INDEX jobs_unclaimed ON jobs (due_at) WHERE state = 'sent';
CREATE INDEX jobs_in_flight ON jobs (lane, tenant_id) WHERE state IN ('sent', 'running');
CREATE INDEX jobs_lease ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_waiting ON jobs (stage, lane, tenant_id, due_at, id) WHERE state = 'waiting';

CREATE FUNCTION jobs_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '.jobs', '');
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_notify AFTER INSERT OR UPDATE OF state ON jobs
    FOR EACH ROW WHEN (NEW.state IN ('waiting', 'ended')) EXECUTE FUNCTION jobs_notify();

-- Whether a base may still be written to. Absence means that it was not seen yet.
CREATE TABLE bases (
    knowledge_base_id uuid PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('live', 'deleted')),
    -- UUIDv7: what is older than this was emptied away.
    emptied_before uuid
);

-- What lies in blob storage. A row is there before the first byte and goes after the last.
CREATE TABLE blobs (
    key text PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('pending', 'live', 'deleting')),
    size bigint,
    -- pending: when the writer has to be done. deleting: when to try the removal.
    expires_at timestamptz
);
CREATE INDEX blobs_expiry ON blobs (expires_at) WHERE state <> 'live';

-- Whose turn a loop is that may run in one process alone.
CREATE TABLE leases (
    name text PRIMARY KEY,
    holder text NOT NULL,
    expires_at timestamptz NOT NULL
);

-- What calls under an id of their caller's own were answered: made again, they get the same.
CREATE TABLE requests (
    -- Who asked; ids of different callers never meet.
    caller text NOT NULL,
    request_id uuid NOT NULL,
    -- sha256 over the method and the request.
    digest bytea NOT NULL,
    -- The serialized response. Null only within the transaction that does the work.
    response bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (caller, request_id)
);
CREATE INDEX requests_age ON requests (created_at);

-- Messages that could not be decoded, for a person to look at.
CREATE TABLE dead_letters (
    id uuid PRIMARY KEY,
    consumer text NOT NULL,
    subject text NOT NULL,
    payload bytea NOT NULL,
    error text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- migrate:down
DROP TABLE dead_letters, requests, leases, blobs, bases, jobs, facts, outbox;
DROP FUNCTION jobs_notify, outbox_notify;
