"""`python -m pozor`: the command line."""

from pozor.cli import main

if __name__ == "__main__":
    main()
