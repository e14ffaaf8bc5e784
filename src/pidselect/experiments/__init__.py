"""The paper, one file per experiment, its numbers beside ours."""
