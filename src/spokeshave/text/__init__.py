"""Text to sparse rows: analysis, encoding and the vectorizer."""
