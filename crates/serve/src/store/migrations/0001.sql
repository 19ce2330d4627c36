CREATE TABLE tenants (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  quota_bytes INTEGER NOT NULL,
  quota_jobs INTEGER NOT NULL,
  -- Predicted seconds that were given to its jobs: whoever has had least comes next.
  served REAL NOT NULL DEFAULT 0,
  created INTEGER NOT NULL
);
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  -- BLAKE3 of the token, keyed with the server's key.
  hash BLOB NOT NULL UNIQUE,
  tenant INTEGER NOT NULL REFERENCES tenants (id),
  scopes TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER
);
CREATE TABLE objects (
  tenant INTEGER NOT NULL REFERENCES tenants (id),
  hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  size INTEGER NOT NULL,
  facts TEXT NOT NULL,
  created INTEGER NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (tenant, hash)
);
CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  tenant INTEGER NOT NULL REFERENCES tenants (id),
  size INTEGER NOT NULL,
  hash TEXT,
  -- Where a piece with a checksum began that is not verified yet.
  verified INTEGER,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL
);
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  tenant INTEGER NOT NULL REFERENCES tenants (id),
  program TEXT NOT NULL,
  keys TEXT NOT NULL,
  arguments TEXT NOT NULL,
  idempotency TEXT,
  state TEXT NOT NULL,
  -- user, resource or bug, of the last failure.
  class TEXT,
  code TEXT,
  message TEXT,
  result TEXT,
  predicted REAL NOT NULL,
  seconds REAL,
  created INTEGER NOT NULL,
  -- Not to be started before.
  ready INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  deadline INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  bugs INTEGER NOT NULL DEFAULT 0,
  -- Counts leases: who holds an older one changes nothing any more.
  epoch INTEGER NOT NULL DEFAULT 0,
  lease INTEGER,
  UNIQUE (tenant, idempotency)
);
CREATE INDEX jobs_by_state ON jobs (state, ready);
CREATE INDEX jobs_by_tenant ON jobs (tenant, created);
CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  tenant INTEGER,
  token TEXT,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  -- BLAKE3 of the entry before and of this one.
  chain TEXT NOT NULL
);
