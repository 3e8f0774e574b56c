-- migrate:up

-- What nobody owns belongs to the whole deployment and to no person.
UPDATE knowledge_bases SET scope = 'app', organization_id = NULL, owner_user_id = NULL, visibility = NULL, team_id = NULL,
                           default_base = false
 WHERE kind <> 'regular';
ALTER TABLE knowledge_bases
    ADD CONSTRAINT hidden_is_nobodys CHECK (kind = 'regular' OR scope = 'app' AND owner_user_id IS NULL);
CREATE INDEX knowledge_bases_hidden ON knowledge_bases (collection_name, kind, id) WHERE kind <> 'regular';

-- migrate:down
DROP INDEX knowledge_bases_hidden;
ALTER TABLE knowledge_bases DROP CONSTRAINT hidden_is_nobodys;
