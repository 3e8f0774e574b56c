-- migrate:up

CREATE TABLE agents (
    -- UUIDv7, but for those that were granted bases before there was a registry. Tokens name it.
    id uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations (id) ON DELETE CASCADE,
    owner_user_id uuid,
    display_name text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT agent_has_one_owner CHECK (num_nonnulls(organization_id, owner_user_id) = 1),
    -- For grants, which refer to an agent of their own organization.
    UNIQUE (id, organization_id)
);
CREATE INDEX agents_organization ON agents (organization_id, id);
CREATE INDEX agents_owner ON agents (owner_user_id, id) WHERE owner_user_id IS NOT NULL;

-- An agent that several granted bases becomes that of the organization that did so first; it loses what others granted.
INSERT INTO agents (id, organization_id, owner_user_id, display_name)
SELECT DISTINCT ON (g.grantee_id)
       g.grantee_id, g.organization_id,
       CASE WHEN g.organization_id IS NOT NULL THEN NULL
            WHEN b.scope = 'personal' THEN b.owner_user_id
            ELSE g.giver_user_id END,
       'Agent ' || left(g.grantee_id::text, 8)
  FROM grants g JOIN knowledge_bases b ON b.id = g.knowledge_base_id
 WHERE g.grantee_kind = 'agent'
 ORDER BY g.grantee_id, g.organization_id IS NULL, g.id;
DELETE FROM grants g USING agents a, knowledge_bases b
 WHERE g.grantee_kind = 'agent' AND a.id = g.grantee_id AND b.id = g.knowledge_base_id
   AND (g.organization_id IS DISTINCT FROM a.organization_id
        OR g.organization_id IS NULL AND b.scope = 'personal' AND b.owner_user_id <> a.owner_user_id);

-- With an agent go its grants, and with an organization its agents.
ALTER TABLE grants
    ADD COLUMN agent_id uuid GENERATED ALWAYS AS (CASE grantee_kind WHEN 'agent' THEN grantee_id END) STORED,
    ADD CONSTRAINT agent_is_registered FOREIGN KEY (agent_id) REFERENCES agents (id) ON DELETE CASCADE,
    ADD CONSTRAINT agent_is_the_organizations
        FOREIGN KEY (agent_id, organization_id) REFERENCES agents (id, organization_id) ON DELETE CASCADE;
CREATE INDEX grants_agent ON grants (agent_id) WHERE agent_id IS NOT NULL;

-- migrate:down
ALTER TABLE grants DROP COLUMN agent_id;
DROP TABLE agents;
