-- migrate:up

-- Bytes that are stored once, and the document that is made of them.
CREATE TABLE files (
    id uuid PRIMARY KEY,
    knowledge_base_id uuid NOT NULL,
    collection_name text NOT NULL,
    organization_id uuid,
    actor_user_id uuid,
    filename text NOT NULL CHECK (filename <> ''),
    kind text NOT NULL,
    size bigint NOT NULL CHECK (size > 0),
    sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
    ingestion_config jsonb NOT NULL,
    replaces boolean NOT NULL,
    lane text NOT NULL CHECK (lane IN ('interactive', 'bulk')),
    source text NOT NULL CHECK (source IN ('upload', 'cli', 'local')),
    source_path text NOT NULL,
    -- Whether the bytes go once the document is done or failed.
    discard_original boolean NOT NULL,
    -- received: ingest has not answered yet and is asked again from due_at on. tracked: a document is made of it.
    state text NOT NULL DEFAULT 'received' CHECK (state IN ('received', 'tracked')),
    tries integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX files_due ON files (due_at) WHERE state = 'received';
CREATE INDEX files_of_base ON files (knowledge_base_id, id);

-- Uploads under an id of the caller's own, so that the same call again gets the same document. The row outlives
-- the file, which may be released because the base held its content already.
CREATE TABLE upload_requests (
    caller text NOT NULL,
    request_id uuid NOT NULL,
    -- sha256 of the header.
    digest bytea NOT NULL,
    file_id uuid NOT NULL,
    -- Set once ingest has answered.
    document_id uuid,
    already_present boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (caller, request_id)
);
CREATE INDEX upload_requests_of_file ON upload_requests (file_id);
CREATE INDEX upload_requests_age ON upload_requests (created_at);

-- migrate:down
DROP TABLE upload_requests, files;
