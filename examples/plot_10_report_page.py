"""
The report
==========

``write_report`` writes one self-contained HTML page: the selected features, the steps, the role of
each column, findings about the data, and how to reproduce the result.
"""

from pathlib import Path
from tempfile import mkdtemp

from sklearn.datasets import load_wine

from pidselect import PIDSelector, write_report

# %%
# Wines of three cultivars, thirteen measurements.
X, y = load_wine(return_X_y=True, as_frame=True)
selector = PIDSelector(random_state=0).fit(X, y)
page = write_report(selector, X, y, Path(mkdtemp()) / "wine.html", title="Three growers of wine")

# %%
# From the command line:
# ``pidselect select wine.csv --target grower --report wine.html``.
#
# **To take home:** one line writes a page that opens in any browser.

# sphinx_gallery_thumbnail_path = 'images/report_page.png'
