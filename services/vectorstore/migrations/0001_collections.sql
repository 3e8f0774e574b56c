-- migrate:up

-- The collections that hold anything, and which generation of their table is read. The tables are made at run time, in
-- the schema `vectors`, named by services/shared/names.py.
CREATE TABLE collections (
    name text PRIMARY KEY,
    -- The embedding space, fixed for all generations that are read.
    model text NOT NULL,
    width integer NOT NULL CHECK (width BETWEEN 1 AND 4096),
    live integer NOT NULL CHECK (live >= 1),
    -- A generation that is being filled to replace the live one, and the one that the live one replaced.
    building integer,
    previous integer
);

-- Whether a document may still be stored. Absence means that it was not seen yet; a deleted one stays deleted for ever.
CREATE TABLE document_states (
    document_id uuid PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('live', 'deleted'))
);

-- One row per document with chunks, written and removed in the same transactions as they.
CREATE TABLE rag_documents (
    document_id uuid PRIMARY KEY,
    knowledge_base_id uuid NOT NULL,
    collection text NOT NULL,
    attempt integer NOT NULL,
    -- Place within the base that newer versions replace; empty where nothing is replaced.
    address text NOT NULL,
    version bigint NOT NULL,
    filename text NOT NULL,
    kind text NOT NULL,
    source text NOT NULL,
    document_time timestamptz,
    chunk_count integer NOT NULL CHECK (chunk_count >= 1),
    -- In how many of the chunks each term occurs (bm25.Statistics), and the languages of the chunks (languages.LANGUAGES).
    term_counts bytea STORAGE EXTERNAL NOT NULL,
    languages integer[] NOT NULL,
    -- Draws a sample of a large base's documents that stays the same from one look to the next.
    draw double precision NOT NULL DEFAULT random(),
    stored_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX rag_documents_sample ON rag_documents (knowledge_base_id, draw);
CREATE UNIQUE INDEX rag_documents_address ON rag_documents (knowledge_base_id, address) WHERE address <> '';

-- Vectors by model and text, so that a try that failed half-way, and a text that comes again, is not embedded anew.
CREATE TABLE embedding_cache (
    model text NOT NULL,
    -- sha256 of the text.
    text_hash bytea NOT NULL,
    -- Little-endian float32.
    vector bytea STORAGE EXTERNAL NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (model, text_hash)
);
CREATE INDEX embedding_cache_age ON embedding_cache (stored_at);

-- migrate:down
DROP TABLE embedding_cache, rag_documents, document_states, collections;
