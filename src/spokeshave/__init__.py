"""Find how few features a linear text classifier needs, and shape them to suit it.

Names are loaded when they are first used: importing the package loads neither numba nor
scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spokeshave.budget.curve import BudgetCurve, budget_curve
    from spokeshave.budget.estimator import BudgetedSVC
    from spokeshave.curves.cuts import PAPER_FRACTIONS
    from spokeshave.curves.feature_curve import feature_curve
    from spokeshave.curves.learning_curve import LearningCurve, learning_curve
    from spokeshave.curves.result import Choice, FeatureCurve
    from spokeshave.curves.sparsity import SparsityCurve, sparsity_curve
    from spokeshave.curves.stability import Stability, stability
    from spokeshave.errors import CorpusError, ModelFileError
    from spokeshave.metrics import PairedTest, paired_test, precision_at_k
    from spokeshave.model.file import load_model, save_model
    from spokeshave.model.model import Explanation, Model
    from spokeshave.ranking.criteria import Ranking, rank_features
    from spokeshave.ranking.pruning import Pruned, prune_features
    from spokeshave.ranking.subsets import rank_subsets
    from spokeshave.selection.representation import Representation, choose_representation
    from spokeshave.selection.selector import NormalSelector
    from spokeshave.selection.shaved_svc import ShavedSVC
    from spokeshave.shaping.bns import BNSScaler
    from spokeshave.shaping.feature_shaper import FeatureShaper
    from spokeshave.shaping.local_probability import LocalProbabilityShaper
    from spokeshave.shaping.shaped_svc import ShapedSVC
    from spokeshave.shaping.shapes import FeatureShape
    from spokeshave.svm.estimator import DualLinearSVC
    from spokeshave.svm.tuning import Tuning, tune_C
    from spokeshave.text.vectorizer import DocumentVectorizer
    from spokeshave.text.weighting import TermWeighter

_HOMES = {
    "BudgetCurve": "budget.curve",
    "BudgetedSVC": "budget.estimator",
    "budget_curve": "budget.curve",
    "PAPER_FRACTIONS": "curves.cuts",
    "BNSScaler": "shaping.bns",
    "Choice": "curves.result",
    "CorpusError": "errors",
    "DocumentVectorizer": "text.vectorizer",
    "DualLinearSVC": "svm.estimator",
    "Explanation": "model.model",
    "FeatureCurve": "curves.result",
    "FeatureShape": "shaping.shapes",
    "FeatureShaper": "shaping.feature_shaper",
    "LearningCurve": "curves.learning_curve",
    "LocalProbabilityShaper": "shaping.local_probability",
    "Model": "model.model",
    "ModelFileError": "errors",
    "NormalSelector": "selection.selector",
    "PairedTest": "metrics",
    "Pruned": "ranking.pruning",
    "Ranking": "ranking.criteria",
    "Representation": "selection.representation",
    "ShapedSVC": "shaping.shaped_svc",
    "ShavedSVC": "selection.shaved_svc",
    "SparsityCurve": "curves.sparsity",
    "Stability": "curves.stability",
    "TermWeighter": "text.weighting",
    "Tuning": "svm.tuning",
    "choose_representation": "selection.representation",
    "feature_curve": "curves.feature_curve",
    "learning_curve": "curves.learning_curve",
    "load_model": "model.file",
    "paired_test": "metrics",
    "precision_at_k": "metrics",
    "prune_features": "ranking.pruning",
    "rank_features": "ranking.criteria",
    "rank_subsets": "ranking.subsets",
    "save_model": "model.file",
    "sparsity_curve": "curves.sparsity",
    "stability": "curves.stability",
    "tune_C": "svm.tuning",
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
    "Representation",
    "ShapedSVC",
    "ShavedSVC",
    "SparsityCurve",
    "Stability",
    "TermWeighter",
    "Tuning",
    "budget_curve",
    "choose_representation",
    "feature_curve",
    "learning_curve",
    "load_model",
    "paired_test",
    "precision_at_k",
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
