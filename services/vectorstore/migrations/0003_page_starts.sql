-- migrate:up

-- Where each page of the document begins in its text, page 1 first, up to the last one with a chunk. Empty where it has no
-- pages, and for documents that were stored before: their passages are cited by the chunk's page.
ALTER TABLE rag_documents ADD COLUMN page_starts bigint[] NOT NULL DEFAULT '{}';

-- migrate:down
ALTER TABLE rag_documents DROP COLUMN page_starts;
