-- migrate:up

-- Addresses are up to 4096 characters long: more than a btree entry holds.
DROP INDEX rag_documents_address;
ALTER TABLE rag_documents ADD COLUMN address_digest bytea;
UPDATE rag_documents SET address_digest = sha256(convert_to(address, 'UTF8'));
ALTER TABLE rag_documents
    ALTER COLUMN address_digest SET NOT NULL,
    ADD CONSTRAINT address_digest_is_sha256 CHECK (octet_length(address_digest) = 32);
CREATE UNIQUE INDEX rag_documents_address ON rag_documents (knowledge_base_id, address_digest) WHERE address <> '';

-- migrate:down
DROP INDEX rag_documents_address;
ALTER TABLE rag_documents DROP COLUMN address_digest;
CREATE UNIQUE INDEX rag_documents_address ON rag_documents (knowledge_base_id, address) WHERE address <> '';
