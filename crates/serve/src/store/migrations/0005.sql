-- A random number of each lease: two that a loss of power gave the same epoch differ by it.
ALTER TABLE jobs ADD COLUMN nonce INTEGER NOT NULL DEFAULT 0;
