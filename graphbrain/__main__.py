"""`python -m graphbrain` is `graphbrain`."""

from graphbrain.cli.app import main

if __name__ == "__main__":
    main()
