"""Judges: functions from the tables to the verdict on a claim."""
