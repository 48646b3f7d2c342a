"""Find how few features a linear text classifier needs, and shape them to suit it.

Names are loaded when they are first used: importing the package loads neither numba nor
scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spokeshave.budget.estimator import BudgetedSVC
    from spokeshave.budget.trade import BudgetCurve, budget_curve
    from spokeshave.comparison import Stability, stability
    from spokeshave.corpus.vectorizer import DocumentVectorizer
    from spokeshave.curve import Choice, FeatureCurve
    from spokeshave.cuts import PAPER_FRACTIONS
    from spokeshave.errors import CorpusError, ModelFileError
    from spokeshave.evaluation import PairedTest, paired_test
    from spokeshave.growing import learning_curve
    from spokeshave.learning import LearningCurve
    from spokeshave.model import Explanation, Model
    from spokeshave.model_file import load_model, save_model
    from spokeshave.pruning import Pruned, prune_features
    from spokeshave.ranking import Ranking, rank_features
    from spokeshave.scaling import BNSScaler
    from spokeshave.selection import NormalSelector
    from spokeshave.shaped import ShapedSVC
    from spokeshave.shapes import FeatureShape
    from spokeshave.shaping import LocalProbabilityShaper
    from spokeshave.shaved import ShavedSVC
    from spokeshave.sparsity import SparsityCurve, sparsity_curve
    from spokeshave.stages import FeatureShaper
    from spokeshave.subsets import rank_subsets
    from spokeshave.svm import DualLinearSVC
    from spokeshave.tracing import feature_curve
    from spokeshave.tuning import Tuning, tune_C

_HOMES = {
    "BudgetCurve": "budget.trade",
    "BudgetedSVC": "budget.estimator",
    "budget_curve": "budget.trade",
    "PAPER_FRACTIONS": "cuts",
    "BNSScaler": "scaling",
    "Choice": "curve",
    "CorpusError": "errors",
    "DocumentVectorizer": "corpus.vectorizer",
    "DualLinearSVC": "svm",
    "Explanation": "model",
    "FeatureCurve": "curve",
    "FeatureShape": "shapes",
    "FeatureShaper": "stages",
    "LearningCurve": "learning",
    "LocalProbabilityShaper": "shaping",
    "Model": "model",
    "ModelFileError": "errors",
    "NormalSelector": "selection",
    "PairedTest": "evaluation",
    "Pruned": "pruning",
    "Ranking": "ranking",
    "ShapedSVC": "shaped",
    "ShavedSVC": "shaved",
    "SparsityCurve": "sparsity",
    "Stability": "comparison",
    "Tuning": "tuning",
    "feature_curve": "tracing",
    "learning_curve": "growing",
    "load_model": "model_file",
    "paired_test": "evaluation",
    "prune_features": "pruning",
    "rank_features": "ranking",
    "rank_subsets": "subsets",
    "save_model": "model_file",
    "sparsity_curve": "sparsity",
    "stability": "comparison",
    "tune_C": "tuning",
}

__all__ = [
    "PAPER_FRACTIONS",
    "BNSScaler",
    "BudgetCurve",
    "BudgetedSVC",
    "Choice",
    "CorpusError",
    "DocumentVectorizer",
    "DualLinearSVC",
    "Explanation",
    "FeatureCurve",
    "FeatureShape",
    "FeatureShaper",
    "LearningCurve",
    "LocalProbabilityShaper",
    "Model",
    "ModelFileError",
    "NormalSelector",
    "PairedTest",
    "Pruned",
    "Ranking",
    "ShapedSVC",
    "ShavedSVC",
    "SparsityCurve",
    "Stability",
    "Tuning",
    "budget_curve",
    "feature_curve",
    "learning_curve",
    "load_model",
    "paired_test",
    "prune_features",
    "rank_features",
    "rank_subsets",
    "save_model",
    "sparsity_curve",
    "stability",
    "tune_C",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'spokeshave' has no attribute {name!r}")
    return getattr(import_module(f"spokeshave.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
