"""Linear SVMs in the dual, one class against the rest."""
