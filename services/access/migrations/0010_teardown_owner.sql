-- migrate:up

-- Whether the organization or the person that the base belonged to went too.
ALTER TABLE teardowns ADD COLUMN owner_gone boolean NOT NULL DEFAULT false;

-- migrate:down
ALTER TABLE teardowns DROP COLUMN owner_gone;
