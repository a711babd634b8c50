"""Documents whose bytes are not their text: PDF, Word, HTML, notebooks, tables of records."""
