-- The place in a trace that asked for a job, as the header traceparent has it.
ALTER TABLE jobs ADD COLUMN trace TEXT;
