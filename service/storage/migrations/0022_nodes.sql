-- Which data folder a run is of (`storage.runs`), for a store that several machines share; null where it was not noted yet,
-- when every store had one folder.
ALTER TABLE usage_runs ADD COLUMN node TEXT;
