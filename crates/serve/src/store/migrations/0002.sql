-- Objects that their tenant keeps whatever their age.
ALTER TABLE objects ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
-- 0: results whose bytes may not be on disk yet.
ALTER TABLE objects ADD COLUMN settled INTEGER NOT NULL DEFAULT 1;
CREATE INDEX objects_by_use ON objects (kind, used);
-- Objects that are gone, until their files are.
CREATE TABLE tombstones (
  tenant INTEGER NOT NULL REFERENCES tenants (id),
  hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant, hash)
);
