"""Run the command line as ``python -m pidselect.cli``."""

from pidselect.cli import main

if __name__ == "__main__":
    main()
