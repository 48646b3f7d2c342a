"""Every claim of the paper about its results, and our own claims beyond it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from papers.forman2009.judges import curves, experiments, text, uci
from papers.forman2009.judges.gains import BENCHMARK_NAMES
from papers.forman2009.tables import (
    BASELINE,
    BASELINE_PRICED,
    BY_AUC,
    COUNTS,
    CROSS_FITTED,
    IDF_AND_BNS,
    L1_NORM,
    L2_NORM,
    L2_PRICED,
    LOG_ODDS,
    LOG_ODDS_PRICED,
    NO_NORM,
    NO_PLATT,
    NO_SCALING,
    PRICED,
    SCALING,
    SHAPING,
    SHAPING_PRICED,
    TF_IDF,
    ZERO_AS_VALUE,
)
from papers.verdicts import (
    Claim,
    Verdict,
)


def _claim(where: str, says: str, judge: Callable[..., Verdict], *arguments: Any) -> Claim:
    return Claim(where, says, lambda tables: judge(tables, *arguments))


CLAIMS = (
    _claim(
        "3.3",
        "Replacing values by local probabilities (LP) gave consistently good results.",
        curves.judge_consistency,
    ),
    _claim(
        "3.3",
        "Log odds work a bit better in some cases, but not consistently well.",
        uci.judge_log_odds,
    ),
    _claim(
        "3.3",
        "Monotone transformations from ROC analysis gave no substantial improvement.",
        curves.judge_monotone,
    ),
    _claim(
        "3.4",
        "BNS scaling is very similar to or better than other scalings on all data sets.",
        curves.judge_scalings,
    ),
    _claim(
        "3.5",
        "Word counts of zero behave quite differently from others and deserve a bin of their own.",
        curves.judge_against_variants,
        "text",
        "f1",
        (ZERO_AS_VALUE,),
        SHAPING,
    ),
    _claim("Table 1", "The sizes of 16 text sets and 11 UCI sets.", curves.judge_sets),
    _claim("4", "104 text tasks and 64 UCI tasks have 50 positives or more.", curves.judge_tasks),
    _claim(
        "4",
        "From 4-fold (75% training) to 10-fold cross-validation (90%) the margin of improvement "
        "diminishes significantly.",
        curves.judge_margin,
    ),
    _claim(
        "4",
        "The superior performance holds across training sizes and does not collapse where data "
        "are scarce.",
        curves.judge_robustness,
    ),
    _claim(
        "4.1",
        "Without keeping zero at zero, ohscal expands from 5 MB to nearly a gigabyte.",
        curves.judge_memory,
    ),
    _claim(
        "4.1",
        "Binary words with L2 norm are a stronger baseline than without the norm or with counts.",
        curves.judge_against_variants,
        "text",
        "f1",
        (NO_NORM, COUNTS),
        BASELINE,
    ),
    Claim(
        "4.1",
        "They are stronger than discretized word counts as well.",
        "the paper does not say how counts were discretized",
    ),
    _claim(
        "4.1",
        "LP benefits substantially from BNS scaling and L2 norm: ten points of F.",
        text.judge_drop,
    ),
    _claim(
        "4.1, Figure 1",
        "F drops significantly as the training set is reduced.",
        curves.judge_decline,
        "text",
        "f1",
    ),
    _claim("4.1, Figure 1", "Reshaping improves F on text.", curves.judge_benefit, "text", "f1"),
    _claim(
        "4.1, Figure 1",
        "The gap in F widens towards small training sets.",
        curves.judge_widening,
        "text",
        "f1",
    ),
    _claim(
        "4.1, Figure 1",
        "The relative gain in F exceeds 5% at the leftmost point.",
        text.judge_leftmost_gain,
    ),
    _claim(
        "4.1, Figure 1",
        "There is no worthwhile gain in F at the rightmost point.",
        text.judge_rightmost_gain,
    ),
    _claim("4.1, Figure 1", "The gain in F is significant at 50%: p = .01.", text.judge_half),
    _claim(
        "4.1, Figure 1",
        "The significance increases to the left and decreases to the right.",
        text.judge_significance,
    ),
    _claim(
        "4.1, Figure 1",
        "BNS scaling of binary words gets part of the gain in F, but not all of it.",
        curves.judge_middling,
        "text",
        "f1",
    ),
    _claim(
        "4.1",
        "Reshaping itself is beneficial for text, especially where training data are few.",
        text.judge_reshaping,
    ),
    _claim(
        "4.1",
        "Tasks of less than 80% F do not benefit more from shaping.",
        text.judge_hard_tasks,
    ),
    _claim("4.1, Figure 8", "AUC shows very similar findings on text.", text.judge_similarity),
    _claim(
        "4.1, Figure 9",
        "Precision at 20 shows no appreciable gain on text.",
        curves.judge_no_gain,
        "text",
        "precision_at_20",
    ),
    _claim(
        "4.1, Figure 2",
        "The gain in accuracy on text is retained across all training sizes.",
        curves.judge_benefit,
        "text",
        "accuracy",
    ),
    _claim(
        "4.1, Figure 2",
        "It is not significant at the rightmost point: p = .20.",
        text.judge_accuracy_test,
    ),
    _claim("4.1", "The AUC of the text baseline averages .984.", text.judge_mean_auc),
    _claim("4.1", "It exceeds .990 in 45 of the 104 tasks.", text.judge_high_tasks),
    _claim(
        "4.2",
        "On UCI, L2 norm significantly hurts the baseline.",
        curves.judge_against_variants,
        "uci",
        "auc",
        (L2_NORM,),
        BASELINE,
    ),
    _claim(
        "4.2",
        "Without any normalization of the features the SVM solver runs inordinately slowly.",
        uci.judge_raw_time,
    ),
    _claim(
        "4.2, Figure 3",
        "The gain in AUC is stronger on UCI than on text.",
        curves.judge_stronger,
    ),
    _claim(
        "4.2, Figure 3",
        "The substantial gain in AUC extends all the way to the right.",
        uci.judge_to_the_right,
    ),
    _claim(
        "4.2, Figure 3",
        "Scaling alone is middling: it explains a portion of the gain in AUC.",
        curves.judge_middling,
        "uci",
        "auc",
    ),
    _claim("4.2", "Shaping without BNS scaling is middling as well.", uci.judge_unscaled),
    _claim("4.2", "The gain derives both from reshaping and from scaling.", uci.judge_both),
    _claim(
        "4.2, Figure 4",
        "The gain in precision at 20 on UCI continues all the way to the left, p = .002.",
        uci.judge_precision,
    ),
    _claim(
        "4.2, Figures 3, 4",
        "That of AUC does not.",
        uci.judge_auc_leftmost,
    ),
    _claim(
        "4.2, Figure 10",
        "F on UCI improves by 18%, from .6 to over .7.",
        uci.judge_uci_f,
    ),
    _claim(
        "4.2, Figure 5",
        "Accuracy on UCI has no significant benefit at larger training sizes.",
        uci.judge_large_accuracy,
    ),
    _claim(
        "4.2, Figure 5",
        "Shaping hurts accuracy on UCI substantially at smaller training sizes.",
        uci.judge_small_accuracy,
    ),
    _claim(
        "4.2, Figure 5",
        "All other learning curves show no such loss.",
        curves.judge_no_other_loss,
    ),
    _claim(
        "4.2, Figure 5",
        "Scaling shows no such drop in accuracy, so reshaping itself is at fault.",
        uci.judge_scaling_accuracy,
    ),
    _claim(
        "4.2",
        "The drop comes of reshaping that overfits local regions.",
        experiments.judge_overfitting,
    ),
    _claim(
        "4.2, Figure 6",
        "AUC improves greatly on many tasks, but not on all.",
        uci.judge_variation,
    ),
    _claim(
        "4.2, Figure 6",
        "The easiest tasks leave no headroom: the baseline is nearly perfect.",
        uci.judge_headroom,
    ),
    _claim(
        "4.2",
        "Shaping is better on average over a wide variety of tasks, but no panacea.",
        uci.judge_average,
    ),
    _claim(
        "4.2, 5",
        "Policies that decide what is best for each feature should do better (future work).",
        experiments.judge_policy,
    ),
    *(
        _claim("4.3, Figure 7", says, uci.judge_lesion, variant)
        for says, variant in (
            ("L1 norm in place of L2 causes the largest loss of AUC.", L1_NORM),
            ("Leaving out shaping is the second most damaging.", SCALING),
            ("Log odds in place of probabilities come third.", LOG_ODDS),
            ("Leaving out BNS scaling comes fourth.", NO_SCALING),
        )
    ),
    _claim(
        "4.3, Figure 7",
        "Platt scaling without cross-validation costs the least.",
        uci.judge_least_lesion,
    ),
    _claim(
        "4.3, Figure 7",
        "Without that cross-validation accuracy is slightly better.",
        uci.judge_platt_accuracy,
    ),
    _claim(
        "4.3, Figure 7",
        "It has no visible effect on AUC and precision at 20.",
        uci.judge_platt_ranking,
    ),
    _claim("4.3, Figure 7", "F loses slightly without it.", uci.judge_platt_f),
    _claim(
        "4.3",
        "Shaping is one of the most substantial contributors on UCI.",
        uci.judge_contribution,
    ),
    _claim("5", "Shaping works well even in the early parts of the curves.", curves.judge_early),
    _claim(
        "5",
        "Depending on the measure, the gain sometimes diminishes with enough training cases.",
        curves.judge_diminishing,
    ),
    _claim(
        "5",
        "Though shaping changes only the few nonzero values of text, the difference can be "
        "substantial.",
        text.judge_surprise,
    ),
    *(
        claim
        for name, label in BENCHMARK_NAMES.items()
        for claim in (
            _claim(
                "why",
                f"On {label}, shaping gains or loses the same in small samples where cases are "
                "ranked by scores and classified by their sign, without Platt's sigmoid.",
                experiments.judge_experiment,
                name,
                NO_PLATT,
            ),
            _claim(
                "why",
                f"On {label}, a sigmoid of negative slope reverses rankings of small samples, "
                "those of the baseline more often than those of shaping.",
                experiments.judge_turning,
                name,
            ),
            _claim(
                "why",
                f"On {label}, shaping gains or loses the same in small samples where C is chosen "
                "by AUC.",
                experiments.judge_experiment,
                name,
                BY_AUC,
            ),
            _claim(
                "why",
                f"On {label}, the C that is best by accuracy is the smallest for most small "
                "samples, the C that is best by AUC for fewer.",
                experiments.judge_smallest_cost,
                name,
            ),
            _claim(
                "why",
                f"On {label}, shaping gains or loses the same in small samples where the intercept "
                "is regularised, which the paper's is not (3.1).",
                experiments.judge_experiment,
                name,
                PRICED,
            ),
        )
    ),
    _claim(
        "why",
        "On text, shaping gains F with all training cases without Platt's sigmoid, with C by AUC "
        "and with a regularised intercept as well.",
        experiments.judge_rightmost_experiments,
    ),
    _claim(
        "why",
        "On text, zero as a value gains because zeros fill the neighbourhoods of rare words: "
        "with two neighbours there is no gain.",
        experiments.judge_zero_as_smoothing,
    ),
    _claim(
        "why",
        "On UCI, L2 norm hurts the baseline where the intercept is regularised.",
        curves.judge_against_variants,
        "uci",
        "auc",
        (L2_PRICED,),
        BASELINE_PRICED,
    ),
    _claim(
        "why",
        "On UCI, log odds lose where the intercept is regularised.",
        curves.judge_against_variants,
        "uci",
        "auc",
        (LOG_ODDS_PRICED,),
        SHAPING_PRICED,
    ),
    _claim(
        "why",
        "On UCI, samples of up to 16 cases, whose shaped features are constant, cause most of the "
        "loss of accuracy.",
        experiments.judge_tiny_samples,
    ),
    _claim(
        "why",
        "On UCI, shaping costs no accuracy in samples larger than a neighbourhood.",
        experiments.judge_larger_samples,
    ),
    *(
        _claim(
            "beyond",
            f"{says} (on {BENCHMARK_NAMES[name]}).",
            experiments.judge_beyond,
            name,
            *compared,
        )
        for name, says, *compared in (
            ("text", "Cross-fitted shaping is better than shaping", CROSS_FITTED, SHAPING),
            ("uci", "Cross-fitted shaping is better than shaping", CROSS_FITTED, SHAPING),
            ("text", "tf-idf is better than the baseline", TF_IDF, BASELINE),
            ("text", "idf and BNS together are better than shaping", IDF_AND_BNS, SHAPING),
        )
    ),
)
