"""The main job: a clinic's model on encrypted patients, then the nine kernels, then the report."""
