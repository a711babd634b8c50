"""From a question to ranked hits, as named stages that can be switched and measured."""
