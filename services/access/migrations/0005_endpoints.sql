-- migrate:up

-- Servers that speak as OpenAI does, on an organization's network or, without one, the deployment's.
CREATE TABLE endpoints (
    -- UUIDv7: pages go by it.
    id uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations (id) ON DELETE CASCADE,
    owner_user_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('ollama', 'tei', 'vllm', 'lm_studio', 'other')),
    display_name text NOT NULL,
    base_url text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    update_time timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX endpoints_organization ON endpoints (organization_id, id);

-- migrate:down
DROP TABLE endpoints;
