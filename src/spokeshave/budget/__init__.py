"""Training in a given memory: select features on a sample that fits, train on everything.

Brank et al., "Feature selection using support vector machines" (2002), as analysed by Malik and
Tarique: train on a sample that fits, drop features of small weight until documents are sparse
enough, represent the whole collection with the remaining features, and train on all of it.
"""
