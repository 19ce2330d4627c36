-- Keys of tenants under which their files are encrypted, each encrypted under the master key that is named.
CREATE TABLE data_keys (
  tenant INTEGER NOT NULL PRIMARY KEY REFERENCES tenants (id),
  wrapped BLOB NOT NULL,
  master TEXT NOT NULL
);
-- When a tenant was deleted: its number stays taken, for the audit log.
ALTER TABLE tenants ADD COLUMN deleted INTEGER;
