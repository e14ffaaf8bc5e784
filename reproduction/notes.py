"""What the paper leaves open in all experiments, and what was done here."""

from __future__ import annotations

from reproduction.experiment import Note

GENERAL_NOTES = (
    Note(
        "The number of nearest neighbours k is not stated, nor is the version of the toolbox (IDTxl "
        "with JIDT).",
        "k = 4 and algorithm 1, the toolbox's defaults, on standardised columns, as it scales them.",
    ),
    Note("The number of permutations is in one caption: 200.", "200 everywhere."),
    Note(
        "Appendix B permutes the target in one sentence and the variable under test in the next. "
        "These differ: a permuted target also loses its dependence on the conditioning set.",
        "The variable under test is permuted, each candidate with its own permutations, as the "
        "toolbox does.",
    ),
    Note(
        "In backward elimination the toolbox conditions all surrogates on the set without the "
        "weakest feature; the text does not state it.",
        "Each feature's surrogates are conditioned on all other features.",
    ),
    Note(
        "By the text, the selection by mutual information differs in the criterion only. Then it "
        "does not give the printed rates of Friedman's model II; without backward elimination it "
        "does.",
        "Both are run in Experiments III and IV: “MI” with it, “MI, no backward” without.",
    ),
    Note(
        "Terms of the figures are plug-in estimates on bins or nearest-neighbour estimates; for most "
        "bars it is not stated which, nor whether bins have equal width or equal counts, which "
        "matters with five bins.",
        "Both binnings and the nearest-neighbour estimate are shown. Claims on atoms are decided by "
        "bins of equal counts, unless an experiment states otherwise.",
    ),
    Note(
        "With five bins for each of several columns most joint states occur once or never, and "
        "plug-in estimates are far too high: five bins of four columns have 625 states for 1,000 "
        "samples.",
        "Shown as in the paper, with critical values from permutations. Atoms have none; their "
        "synergy has the same bias.",
    ),
    Note(
        "The regularisation of the regressions, the size of the forests, the folds and the score of "
        "the forward selections are not stated.",
        "LARS without early stopping, Lasso with five-fold cross-validation, support vector "
        "regression with C = 0.1. Forests have 100 trees for importances and 10 in forward "
        "selection, which scores by R² in five folds. Other settings are scikit-learn's defaults.",
    ),
    Note(
        "The paper's source holds the captions of its figures, but not the figures.",
        "Our figures are compared with the text; nothing is read off a picture.",
    ),
)
