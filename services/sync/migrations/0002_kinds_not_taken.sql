-- migrate:up

-- The extension of a file that is skipped because its kind is not taken; empty where it has none.
ALTER TABLE run_files ADD COLUMN kind_not_taken text;
-- How many there were of each, once the run is over.
ALTER TABLE runs ADD COLUMN kinds_not_taken jsonb NOT NULL DEFAULT '{}';

-- migrate:down
ALTER TABLE runs DROP COLUMN kinds_not_taken;
ALTER TABLE run_files DROP COLUMN kind_not_taken;
