"""What a person at a terminal reads and types."""
