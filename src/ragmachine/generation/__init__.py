"""From ranked passages to an answer whose every claim is tied to lines that exist."""
