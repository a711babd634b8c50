"""From a folder on disk to decoded documents: discovery, decoding and corpus download."""
