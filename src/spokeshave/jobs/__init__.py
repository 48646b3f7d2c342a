"""The whole job, from documents to a model and the record of the run."""
