"""Any table -> columns with a name and a kind: the only package that knows dataframes."""

from .column import Block, Column, FeatureType, FloatArray, IntArray, is_constant
from .duplicates import find_duplicates
from .feature_types import CLASS_LEVELS, FeatureTypes
from .files import FileError
from .input import (
    collect,
    convert,
    frame_library,
    is_frame,
    make_frame,
    n_rows,
    select_columns,
    to_matrix,
)
from .messages import check_choice, warn_caller
from .missing import Missing, check_complete
from .table import Dataset, Table, read_block, read_dataset

__all__ = [
    "CLASS_LEVELS",
    "Block",
    "Column",
    "Dataset",
    "FeatureType",
    "FeatureTypes",
    "FileError",
    "FloatArray",
    "IntArray",
    "Missing",
    "Table",
    "check_choice",
    "check_complete",
    "collect",
    "convert",
    "find_duplicates",
    "frame_library",
    "is_constant",
    "is_frame",
    "make_frame",
    "n_rows",
    "read_block",
    "read_dataset",
    "select_columns",
    "to_matrix",
    "warn_caller",
]
