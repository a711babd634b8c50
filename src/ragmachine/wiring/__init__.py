"""How settings become objects: the one place that chooses implementations for the pipeline."""
