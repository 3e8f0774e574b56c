-- migrate:up

-- An outside place that a base follows.
CREATE TABLE sources (
    id uuid PRIMARY KEY,
    knowledge_base_id uuid NOT NULL,
    -- What its runs are counted under when turns are taken: the base's organization, or the base.
    tenant_id uuid NOT NULL,
    display_name text NOT NULL,
    connector text NOT NULL CHECK (connector IN ('local_directory')),
    -- Where it reads; what it holds depends on the connector. Never a secret.
    config jsonb NOT NULL,
    mode text NOT NULL CHECK (mode IN ('new_only', 'update_only', 'full')),
    owner_user_id uuid NOT NULL,
    -- Its base was deleted: it keeps its configuration and does not run.
    detached boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sources_of_base ON sources (knowledge_base_id, id) WHERE NOT detached;
CREATE INDEX sources_detached ON sources (id) WHERE detached;

-- One pass over a source. While it runs, its counts are those of its files; then they stand here.
CREATE TABLE runs (
    id uuid PRIMARY KEY,
    source_id uuid NOT NULL REFERENCES sources ON DELETE CASCADE,
    knowledge_base_id uuid NOT NULL,
    mode text NOT NULL CHECK (mode IN ('new_only', 'update_only', 'full')),
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'error')),
    listed bigint NOT NULL DEFAULT 0,
    ingested bigint NOT NULL DEFAULT 0,
    updated bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    removed bigint NOT NULL DEFAULT 0,
    -- Number of the ErrorReason, and the same as a sentence.
    failure_reason integer,
    failure_message text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz,
    CHECK ((state = 'running') = (completed_at IS NULL)),
    CHECK ((state = 'error') = (failure_reason IS NOT NULL))
);
CREATE UNIQUE INDEX runs_one_at_a_time ON runs (source_id) WHERE state = 'running';
CREATE INDEX runs_of_source ON runs (source_id, id);

-- What became of each file of a run. Once the run is over, only the first of its failed files stay.
CREATE TABLE run_files (
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    -- sha256 of the path: a path may be longer than an index entry.
    path_digest bytea NOT NULL CHECK (octet_length(path_digest) = 32),
    source_path text NOT NULL,
    -- taking: bytes are fetched and handed over. indexing: a document was made of it and is under way.
    -- removing: its document is being removed. The others are ends.
    outcome text NOT NULL CHECK (outcome IN (
        'taking', 'indexing', 'ingested', 'updated', 'skipped', 'failed', 'removing', 'removed'
    )),
    document_id uuid,
    -- Whether the base held a sound document of the file before.
    replaces boolean NOT NULL DEFAULT false,
    reason integer,
    message text NOT NULL DEFAULT '',
    PRIMARY KEY (run_id, path_digest),
    CHECK ((outcome = 'failed') = (reason IS NOT NULL)),
    CHECK (outcome <> 'indexing' OR document_id IS NOT NULL)
);
CREATE INDEX run_files_of_document ON run_files (document_id) WHERE outcome = 'indexing';
CREATE INDEX run_files_indexing ON run_files (run_id, document_id) WHERE outcome = 'indexing';

CREATE VIEW run_counts AS
SELECT
    run_id,
    count(*) FILTER (WHERE outcome NOT IN ('removing', 'removed')) AS listed,
    count(*) FILTER (WHERE outcome = 'ingested') AS ingested,
    count(*) FILTER (WHERE outcome = 'updated') AS updated,
    count(*) FILTER (WHERE outcome = 'skipped') AS skipped,
    count(*) FILTER (WHERE outcome = 'failed') AS failed,
    count(*) FILTER (WHERE outcome = 'removed') AS removed
FROM run_files GROUP BY run_id;

-- Which documents a source has brought, and of which file. Several of one file while one replaces another.
CREATE TABLE claims (
    source_id uuid NOT NULL REFERENCES sources ON DELETE CASCADE,
    document_id uuid NOT NULL,
    path_digest bytea NOT NULL CHECK (octet_length(path_digest) = 32),
    source_path text NOT NULL,
    -- NULL where indexing failed: the file is taken again.
    sha256 bytea CHECK (octet_length(sha256) = 32),
    signal text NOT NULL,
    PRIMARY KEY (source_id, document_id)
);
CREATE INDEX claims_of_path ON claims (source_id, path_digest);
CREATE INDEX claims_of_document ON claims (document_id);

-- migrate:down
DROP VIEW run_counts;
DROP TABLE claims, run_files, runs, sources;
