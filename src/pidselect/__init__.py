"""Which of my variables matter, and how?"""

from pidselect import datasets
from pidselect.data import Table
from pidselect.estimators import mutual_information

__all__ = ["Table", "datasets", "mutual_information"]
