"""Every claim of the paper about its results."""

from __future__ import annotations

from functools import partial

from spokeshave.papers.kolcz2007.judges.accuracy import (
    judge_best_auc,
    judge_best_f1,
    judge_closeness,
    judge_criterion,
    judge_equivalence,
    judge_gains,
    judge_levels,
    judge_lower_half,
    judge_recursion,
    judge_significance,
    judge_upper_half,
    judge_weighting,
)
from spokeshave.papers.kolcz2007.judges.models import (
    judge_alpha,
    judge_compensation,
    judge_containment,
    judge_direction,
    judge_fewer_support,
    judge_normals,
    judge_not_one,
    judge_overlap,
    judge_stable,
    judge_zero_weights,
)
from spokeshave.papers.kolcz2007.judges.problems import (
    judge_problems_gain,
    judge_problems_mask,
    judge_problems_noise,
    judge_problems_sv_set,
)
from spokeshave.papers.kolcz2007.judges.speed import (
    judge_lookup,
    judge_magnitude,
    judge_naive_bayes,
)
from spokeshave.papers.kolcz2007.judges.wording import dot
from spokeshave.papers.kolcz2007.published import FIGURE2_P_MASK, FIGURE2_P_SV_SET
from spokeshave.papers.kolcz2007.tables import FORMAN_ALL
from spokeshave.reproduction import Claim


def _claim_table1(collection: str) -> tuple[Claim, Claim]:
    published = {
        "RCV1": "AUC .974551, .97452, .97451; F1 .595599, .594883, .595328",
    }.get(collection, "said of its two collections")
    tests = {
        "RCV1": "only mask's best F1 differs significantly from exact (P = .003; others .086 to "
        ".126)",
    }.get(collection, "no difference from exact is significant (said of TREC-AP, P .21 to .36)")
    return (
        Claim(
            f"Table 1, {collection}",
            f"The best results of exact, mask and sv set are numerically very close ({published}).",
            partial(judge_closeness, collection=collection),
        ),
        Claim(
            f"Table 1, {collection}",
            f"By one-sided paired t-tests {tests}.",
            partial(judge_significance, collection=collection),
        ),
    )


CLAIMS = (
    Claim(
        "Abstract",
        "No significant compromises are made, and in some cases the approximations are more "
        "accurate than retraining.",
        judge_gains,
    ),
    Claim(
        "2",
        "Recursive and non-recursive ranking differ little in the text domain.",
        judge_recursion,
    ),
    Claim(
        "4.1",
        "Binary features do as well as TF-IDF when rows have length one.",
        judge_weighting,
    ),
    Claim(
        "Table 1, TREC-AP",
        "The best results of exact, mask and sv set are very close (AUC .989499, .989537, .989525; "
        "F1 .920365, .92107, .919142) and no difference is significant (P .21 to .36).",
        "TREC-AP is sold by the LDC and was not to be had; a reader for its format is there.",
    ),
    Claim(
        "Table 1, RCV1",
        "With exact, best AUC averages .974551 and best F1 .595599.",
        judge_levels,
    ),
    *(
        claim
        for collection in ("RCV1", "20 Newsgroups", "Reuters-21578", FORMAN_ALL)
        for claim in _claim_table1(collection)
    ),
    Claim(
        "5.1",
        "Best AUC is achieved with all or almost all features.",
        judge_best_auc,
    ),
    Claim(
        "5.1, Figure 1",
        "Best F1 is more varied: reducing the number of features can be beneficial.",
        judge_best_f1,
    ),
    Claim(
        "5.1",
        "What is the best number of features depends on the measure.",
        judge_criterion,
    ),
    Claim(
        "5.1, Figure 1",
        "With more than 50% of the features there is essentially no difference between the "
        "methods.",
        judge_upper_half,
    ),
    Claim(
        "5.1, Figure 1",
        "For lower feature counts the differences become more pronounced.",
        judge_lower_half,
    ),
    Claim(
        "5.1, Figure 2",
        "On two-class problems all three methods are substantially better than all features "
        "(P ≈ 0).",
        judge_problems_gain,
    ),
    Claim(
        "5.1, Figure 2",
        f"The sv set is statistically equivalent to exact (P = {dot(FIGURE2_P_SV_SET)}).",
        judge_problems_sv_set,
    ),
    Claim(
        "5.1, Figure 2",
        f"Masking is worse than exact (P < {FIGURE2_P_MASK:.0e}).",
        judge_problems_mask,
    ),
    Claim(
        "5.1, Figure 2",
        "Gains are big because TechTC-100 was made to show what feature selection is worth.",
        judge_problems_noise,
    ),
    Claim(
        "5.2, Figure 3",
        "Masked and retrained weight vectors are very close, even when the fraction is small.",
        judge_normals,
    ),
    Claim(
        "5.2, Figure 3",
        "The direction of the normal depends only very weakly on the less relevant features.",
        judge_direction,
    ),
    Claim(
        "5.2, Figure 4",
        "The overlap of support vectors exceeds 80% from 50% of the features on.",
        judge_overlap,
    ),
    Claim(
        "5.2, Figure 4",
        "The number of support vectors tends to decrease when fewer features are used.",
        judge_fewer_support,
    ),
    Claim(
        "5.2, Figure 4",
        "With few features the overlap goes down mainly because there are fewer support vectors; "
        "containment stays consistently very high.",
        judge_containment,
    ),
    Claim(
        "5.2, Figure 4",
        "Overlap and containment do not approach 1 as the fraction approaches 100%.",
        judge_not_one,
    ),
    Claim(
        "5.2, Figure 4",
        "That is because features of zero weight, which were removed, had an impact on the "
        "original support vectors.",
        judge_zero_weights,
    ),
    Claim(
        "5.2",
        "Retraining significantly alters the Lagrange multipliers without substantially altering "
        "the orientation of the hyperplane.",
        judge_alpha,
    ),
    Claim(
        "5.2",
        "It alters them to compensate for the effect of length normalisation and of fewer "
        "features.",
        judge_compensation,
    ),
    Claim(
        "6",
        "Feature masking gives results that are equivalent to those of retraining.",
        judge_equivalence,
    ),
    Claim(
        "6",
        "The normal and the support vectors remain quite stable, the normal in particular.",
        judge_stable,
    ),
    Claim(
        "6",
        "Masking has the run-time cost of a table look-up.",
        judge_lookup,
    ),
    Claim(
        "6",
        "The search for the best number of features is orders of magnitude faster than with "
        "retraining.",
        judge_magnitude,
    ),
    Claim(
        "6",
        "It scales on par with some of the most scalable learners such as naive Bayes.",
        judge_naive_bayes,
    ),
)
