"""One reader per format: tables, svmlight, ARFF, folders of documents and Reuters-21578."""
