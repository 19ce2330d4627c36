-- The node that holds the bytes of an upload.
ALTER TABLE uploads ADD COLUMN node TEXT NOT NULL DEFAULT '';
-- What all nodes of a service have in common, by name.
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
