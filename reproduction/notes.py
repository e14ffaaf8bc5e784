"""What the paper leaves open or misprints as a whole, and what was done here.

What concerns one experiment stands with that experiment.
"""

from __future__ import annotations

from reproduction.experiment import Note

GENERAL_NOTES: tuple[Note, ...] = (
    Note(
        found="The number of nearest neighbours k is not stated, nor is the version of the toolbox "
        "that was used (IDTxl with JIDT).",
        done="k = 4 and algorithm 1, the toolbox's defaults, on columns with mean 0 and standard "
        "deviation 1, as it scales them.",
    ),
    Note(
        found="The number of permutations stands in the caption of a single figure: 200.",
        done="200 everywhere.",
    ),
    Note(
        found="Appendix B permutes the target in one sentence and the variable under test in the "
        "next. These differ: a permuted target also loses its relation to the features that are "
        "given.",
        done="The variable under test is permuted, each candidate with draws of its own, which is "
        "what the toolbox does.",
    ),
    Note(
        found="In the backward step the toolbox conditions all surrogates on the set without the "
        "weakest feature; the text does not say.",
        done="Each feature's surrogates are conditioned on all other features.",
    ),
    Note(
        found="By the text, the selection by mutual information differs in the criterion alone. "
        "Done so, it does not give the printed rates of Friedman's second model; without its "
        "backward elimination it does.",
        done="Both are run and shown in Experiments III and IV: “MI” with it, “MI, no backward” "
        "without.",
    ),
    Note(
        found="Terms of the figures are plug-in estimates on bins or nearest-neighbour estimates; "
        "for most bars the paper does not say which. Nor does it say whether bins are of equal "
        "width or hold equally many samples, and with five bins a column this matters.",
        done="Both binnings and, for terms, the nearest-neighbour estimate are shown; title or "
        "legend says which is which. Verdicts on atoms go by bins of equal counts, unless "
        "an experiment says otherwise.",
    ),
    Note(
        found="With five bins for each of several columns most joint states occur once or never. "
        "Plug-in estimates are then far too high: five bins of four given columns alone make 625 "
        "states for 1,000 samples.",
        done="Shown as the paper has it, with thresholds from permutations: only a value above its "
        "threshold means something. Atoms have none; their synergy is as biased.",
    ),
    Note(
        found="The strengths of the regularised regressions, the size of the forests, the folds "
        "and the score of the forward selections are not stated.",
        done="LARS is run to its end, Lasso has its strength from five folds, support vector "
        "regression a weight of 0.1. Forests have 100 trees for importances and 10 in forward "
        "selection, which scores by R² in five folds. The rest is scikit-learn's defaults.",
    ),
    Note(
        found="The paper's source holds the captions of its figures, but not the figures.",
        done="Each of our figures stands beside what the paper says of its own, in our words; "
        "nothing is read off a picture.",
    ),
)
