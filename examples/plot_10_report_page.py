"""
A page for everybody else
=========================

``write_report`` puts a selection on one page: the answer first, then the path, the role of each
column, warnings about the data, and what is needed to repeat it. The page is one file, needs no
network, and opens in any browser.
"""

from pathlib import Path
from tempfile import mkdtemp

from sklearn.datasets import load_wine

from pidselect import PIDSelector, write_report

# %%
# Wines of three growers: which of thirteen measurements tell them apart?
X, y = load_wine(return_X_y=True, as_frame=True)
selector = PIDSelector(n_permutations=100, random_state=0).fit(X, y)
page = write_report(selector, X, y, Path(mkdtemp()) / "wine.html", title="Three growers of wine")

# %%
# On the command line the same page comes with
# ``pidselect select wine.csv --target grower --report wine.html``.
#
# **To take home:** one line makes a page that anybody can open, read and sort, and that says how to
# get the same result again.

# sphinx_gallery_thumbnail_path = 'images/report_page.png'
