"""Any table -> columns with a name and a kind: the only room that knows dataframes."""

from .blocks import KINDS, Block, Column, FloatArray, IntArray, Kind, is_constant
from .copies import find_copies
from .frames import frame_library, is_frame, make_frame, select_columns, to_matrix
from .kinds import CLASS_LEVELS, Kinds
from .missing import Missing, check_complete
from .problem import Problem, read_block, read_problem
from .store import Store
from .table import Table
from .text_format import TextFormat
from .words import check_choice, warn_caller

__all__ = [
    "CLASS_LEVELS",
    "KINDS",
    "Block",
    "Column",
    "FloatArray",
    "IntArray",
    "Kind",
    "Kinds",
    "Missing",
    "Problem",
    "Store",
    "Table",
    "TextFormat",
    "check_choice",
    "check_complete",
    "find_copies",
    "frame_library",
    "is_constant",
    "is_frame",
    "make_frame",
    "read_block",
    "read_problem",
    "select_columns",
    "to_matrix",
    "warn_caller",
]
