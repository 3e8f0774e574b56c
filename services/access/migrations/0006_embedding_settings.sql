-- migrate:up

-- Who serves a base's embedding model, and where. The key that pays is a binding of the vault.
ALTER TABLE knowledge_bases
    ADD COLUMN embedding_provider text NOT NULL DEFAULT 'local' CHECK (
        embedding_provider IN ('local', 'openai', 'openrouter', 'azure_openai', 'ollama', 'openai_compatible')
    ),
    ADD COLUMN embedding_endpoint_id uuid REFERENCES endpoints (id) ON DELETE SET NULL,
    ADD COLUMN embedding_base_url text NOT NULL DEFAULT '';
CREATE INDEX knowledge_bases_endpoint ON knowledge_bases (embedding_endpoint_id) WHERE embedding_endpoint_id IS NOT NULL;

-- migrate:down
ALTER TABLE knowledge_bases
    DROP COLUMN embedding_provider, DROP COLUMN embedding_endpoint_id, DROP COLUMN embedding_base_url;
