"""What the paper leaves open or misprints as a whole, and what was done here.

What concerns one experiment stands with that experiment.
"""

from __future__ import annotations

from pidselect.experiments.experiment import Note

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
        found="That all steps but the criterion are the same for the selection by mutual "
        "information, as the text says, does not give the printed rates of Friedman's second "
        "model; leaving out its backward elimination does.",
        done="Both are run and shown: “MI” with it, “MI, no backward” without.",
    ),
    Note(
        found="Terms of the figures are plug-in estimates on bins or nearest-neighbour estimates; "
        "for most bars the paper does not say which. Nor does it say whether bins are of equal "
        "width or hold equally many samples, and with five bins a column this matters.",
        done="Both binnings and the nearest-neighbour estimate are shown side by side, and the "
        "legend says which is which. Verdicts on atoms go by bins of equal counts.",
    ),
    Note(
        found="With five bins for each of several columns most joint states occur once or never. "
        "Plug-in estimates are then far too high: five bins of four given columns alone make 625 "
        "states for 1,000 samples.",
        done="Shown as the paper has it, with thresholds from permutations, above which alone a "
        "value means something.",
    ),
    Note(
        found="The strengths of the regularised regressions, the size of the forests, the folds "
        "and the score of the forward selections are not stated.",
        done="Stated in the code of the comparison methods: forests of 100 trees for importances, "
        "smaller ones in forward selection.",
    ),
    Note(
        found="The paper's source holds the captions of its figures, but not the figures.",
        done="Each of our figures stands beside what the paper says of its own, in our words; "
        "nothing is read off a picture.",
    ),
)
