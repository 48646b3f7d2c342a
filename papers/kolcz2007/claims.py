"""Every claim of the paper about its results."""

from __future__ import annotations

from functools import partial

from papers.kolcz2007.judges import accuracy, models
from papers.kolcz2007.published import FIGURE2_P_MASK, FIGURE2_P_SV_SET
from papers.kolcz2007.tables import FORMAN_ALL
from papers.verdicts import Claim, show


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
            partial(accuracy.judge_closeness, collection=collection),
        ),
        Claim(
            f"Table 1, {collection}",
            f"By one-sided paired t-tests {tests}.",
            partial(accuracy.judge_significance, collection=collection),
        ),
    )


CLAIMS = (
    Claim(
        "Abstract",
        "No significant compromises are made, and in some cases the approximations are more "
        "accurate than retraining.",
        accuracy.judge_gains,
    ),
    Claim(
        "2",
        "Recursive and non-recursive ranking differ little in the text domain.",
        partial(
            accuracy.judge_equivalence,
            method="rfe",
            label="rfe minus exact, best of each class",
        ),
    ),
    Claim(
        "3.1",
        "If a feature is masked, only the support vectors that have it violate their constraints: "
        "a small fraction, as text is sparse.",
        models.judge_violations,
    ),
    Claim(
        "3.1",
        "With the multipliers kept, masking a feature of low weight leaves the solution close to "
        "the optimum; the closer, the lower its weight and the rarer the feature.",
        models.judge_low_weights,
    ),
    Claim(
        "4.1",
        "Binary features do as well as TF-IDF when rows have length one.",
        accuracy.judge_weighting,
    ),
    Claim(
        "Table 1, TREC-AP",
        "The best results of exact, mask and sv set are very close (AUC .989499, .989537, .989525; "
        "F1 .920365, .92107, .919142) and no difference is significant (P .21 to .36).",
        "TREC-AP is sold by the LDC; there is a reader for its format.",
    ),
    Claim(
        "Table 1, RCV1",
        "With exact, best AUC averages .974551 and best F1 .595599.",
        accuracy.judge_levels,
    ),
    *(
        claim
        for collection in ("RCV1", "20 Newsgroups", "Reuters-21578", FORMAN_ALL)
        for claim in _claim_table1(collection)
    ),
    Claim(
        "5.1",
        "Best AUC is achieved with all or almost all features.",
        accuracy.judge_best_auc,
    ),
    Claim(
        "5.1, Figure 1",
        "Best F1 is more varied: reducing the number of features can be beneficial.",
        accuracy.judge_best_f1,
    ),
    Claim(
        "5.1",
        "What is the best number of features depends on the measure.",
        accuracy.judge_criterion,
    ),
    Claim(
        "5.1, Figure 1",
        "With more than 50% of the features there is essentially no difference between the "
        "methods.",
        accuracy.judge_upper_half,
    ),
    Claim(
        "5.1, Figure 1",
        "For lower feature counts the differences become more pronounced.",
        accuracy.judge_lower_half,
    ),
    Claim(
        "5.1, Figure 2",
        "On two-class problems all three methods are substantially better than all features "
        "(P ≈ 0).",
        accuracy.judge_problems_gain,
    ),
    Claim(
        "5.1, Figure 2",
        f"The sv set is statistically equivalent to exact (P = {show(FIGURE2_P_SV_SET, 4)}).",
        accuracy.judge_problems_sv_set,
    ),
    Claim(
        "5.1, Figure 2",
        f"Masking is worse than exact (P < {FIGURE2_P_MASK:.0e}).",
        accuracy.judge_problems_mask,
    ),
    Claim(
        "5.1, Figure 2",
        "Gains are big because TechTC-100 was made to show what feature selection is worth.",
        accuracy.judge_problems_noise,
    ),
    Claim(
        "5.2, Figure 3",
        "Masked and retrained weight vectors are very close, even when the fraction is small.",
        models.judge_normals,
    ),
    Claim(
        "5.2, Figure 3",
        "The direction of the normal depends only very weakly on the less relevant features.",
        models.judge_direction,
    ),
    Claim(
        "5.2, Figure 4",
        "The overlap of support vectors exceeds 80% from 50% of the features on.",
        models.judge_overlap,
    ),
    Claim(
        "5.2, Figure 4",
        "The number of support vectors tends to decrease when fewer features are used.",
        models.judge_fewer_support,
    ),
    Claim(
        "5.2, Figure 4",
        "With few features the overlap goes down mainly because there are fewer support vectors; "
        "containment stays consistently very high.",
        models.judge_containment,
    ),
    Claim(
        "5.2, Figure 4",
        "Overlap and containment do not approach 1 as the fraction approaches 100%.",
        models.judge_not_one,
    ),
    Claim(
        "5.2, Figure 4",
        "That is because features of zero weight, which were removed, had an impact on the "
        "original support vectors.",
        models.judge_zero_weights,
    ),
    Claim(
        "5.2",
        "Retraining significantly alters the Lagrange multipliers without substantially altering "
        "the orientation of the hyperplane.",
        models.judge_alpha,
    ),
    Claim(
        "5.2",
        "It alters them to compensate for the effect of length normalisation and of fewer "
        "features.",
        models.judge_compensation,
    ),
    Claim(
        "6",
        "Feature masking gives results that are equivalent to those of retraining.",
        partial(
            accuracy.judge_equivalence, method="mask", label="mask minus exact, best of each class"
        ),
    ),
    Claim(
        "6",
        "The normal and the support vectors remain quite stable, the normal in particular.",
        models.judge_stable,
    ),
    Claim(
        "6",
        "Masking has the run-time cost of a table look-up.",
        models.judge_lookup,
    ),
    Claim(
        "6",
        "The search for the best number of features is orders of magnitude faster than with "
        "retraining.",
        models.judge_magnitude,
    ),
    Claim(
        "6",
        "It scales on par with some of the most scalable learners such as naive Bayes.",
        models.judge_naive_bayes,
    ),
)
