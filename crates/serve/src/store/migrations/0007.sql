-- Sets of evaluation keys, and predicted core-seconds of the jobs of a day. Tenants that there are have no bound.
ALTER TABLE tenants ADD COLUMN quota_keys INTEGER NOT NULL DEFAULT 9223372036854775807;
ALTER TABLE tenants ADD COLUMN quota_seconds REAL NOT NULL DEFAULT 1e300;
