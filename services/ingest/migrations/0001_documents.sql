-- migrate:up

-- One file indexed in one knowledge base.
CREATE TABLE documents (
    id uuid PRIMARY KEY,
    -- The stored file it is made of, in upload: one file makes one document.
    file_id uuid NOT NULL UNIQUE,
    knowledge_base_id uuid NOT NULL,
    collection_name text NOT NULL,
    organization_id uuid,
    actor_user_id uuid,
    filename text NOT NULL CHECK (filename <> ''),
    kind text NOT NULL,
    size bigint NOT NULL CHECK (size > 0),
    sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
    -- Where the bytes are, and whether they are there: `staged` ones go once the document is terminal.
    original_key text NOT NULL,
    original text NOT NULL CHECK (original IN ('kept', 'staged', 'gone')),
    ingestion_config jsonb NOT NULL,
    lane text NOT NULL CHECK (lane IN ('interactive', 'bulk')),
    source text NOT NULL CHECK (source IN ('upload', 'cli', 'local')),
    source_path text NOT NULL,
    -- What a replacement replaces: the source path or, without one, the name.
    address text NOT NULL CHECK (address <> ''),
    replaces boolean NOT NULL,
    -- Order among the documents of one address. A retry keeps it.
    version bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    state text NOT NULL DEFAULT 'processing' CHECK (state IN ('processing', 'done', 'error')),
    stage text DEFAULT 'queued' CHECK (stage IN ('queued', 'parsing', 'embedding')),
    -- Number of the ErrorReason.
    reason integer,
    attempt integer NOT NULL DEFAULT 1 CHECK (attempt >= 1),
    chunk_count integer NOT NULL DEFAULT 0 CHECK (chunk_count >= 0),
    page_count integer NOT NULL DEFAULT 0 CHECK (page_count >= 0),
    -- Keys of the parsed pages and of the chunks on their way to vectorstore.
    pages_key text,
    chunks_key text,
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz,
    CONSTRAINT stage_only_while_processing CHECK ((state = 'processing') = (stage IS NOT NULL)),
    CONSTRAINT reason_only_of_errors CHECK ((state = 'error') = (reason IS NOT NULL)),
    CONSTRAINT completed_when_terminal CHECK ((state = 'processing') = (completed_at IS NULL)),
    CONSTRAINT done_has_chunks CHECK (state <> 'done' OR chunk_count > 0)
);
CREATE INDEX documents_of_base ON documents (knowledge_base_id, id);
CREATE INDEX documents_of_state ON documents (knowledge_base_id, state);
-- Addresses are up to 4096 characters long: more than a btree entry holds.
CREATE INDEX documents_of_address ON documents (knowledge_base_id, md5(address));

-- What was left out of, or changed in, a document.
CREATE TABLE warnings (
    document_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    ordinal integer NOT NULL,
    code text NOT NULL,
    message text NOT NULL,
    PRIMARY KEY (document_id, ordinal)
);

-- Files whose documents are gone: upload may still ask for a document of one, and must get none.
CREATE TABLE removed_files (
    file_id uuid PRIMARY KEY,
    removed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX removed_files_age ON removed_files (removed_at);

-- Watchers wait on this channel for the ids of documents that changed.
CREATE FUNCTION documents_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '.documents', coalesce(NEW.id, OLD.id)::text);
    RETURN NULL;
END $$;
CREATE TRIGGER documents_notify AFTER UPDATE OR DELETE ON documents
    FOR EACH ROW EXECUTE FUNCTION documents_notify();

-- migrate:down
DROP TABLE removed_files, warnings, documents;
DROP FUNCTION documents_notify;
