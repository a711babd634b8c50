"""From a decoded document to chunks that reproduce it exactly."""
