"""`python -m doublebubble` is the `doublebubble` command."""

from doublebubble.cli import main

if __name__ == "__main__":
    main()
