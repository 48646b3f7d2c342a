"""Training in a given memory: select on what fits, train on everything.

Brank et al., "Feature selection using support vector machines" (2002), as analysed by Malik and
Tarique: train on a subset that fits, drop the features of small weight until documents are as
sparse as they have to be, represent the whole collection with what is left, and train on that.
"""
