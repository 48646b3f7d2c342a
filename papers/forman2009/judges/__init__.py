"""How each claim of the paper is judged from the tables."""
