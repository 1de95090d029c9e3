// The page snippet: built from its source, which replaces this file.
