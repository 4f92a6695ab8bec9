"""`python -m graphbrain` is `graphbrain`."""

from graphbrain.cli import main

if __name__ == "__main__":
    main()
