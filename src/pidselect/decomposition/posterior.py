r"""The share of a feature's information that a set of others has as well, by BROJA.

BROJA's shared and unique information of a feature f and a set R depend on the pairs (f, y) and
(R, y) alone, and R may be replaced by any sufficient statistic of it for y, such as the posterior
p(y | R). So R is compressed: a cross-fitted classifier estimates p(y | R), its posteriors are
grouped into a few states T, and BROJA of (f, T, y) yields the share

.. math:: \rho = \mathrm{shared} / I(f; y)

of the feature's information that is shared. Bins of f and y, and states that lose information
about y, raise what appears as unique; ``docs/atoms.md`` reports the errors.

References
----------
N. Bertschinger, J. Rauh, E. Olbrich, J. Jost, N. Ay, Quantifying unique information. Entropy 16,
2161 (2014), for the invariance.
"""

from __future__ import annotations
