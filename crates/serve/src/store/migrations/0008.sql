-- Which version of the engine computed the results of a job.
ALTER TABLE jobs ADD COLUMN engine TEXT;
