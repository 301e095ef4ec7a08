"""`python -m pozor.lessons`: the process that the lessons run in; see `server.py`."""

from pozor.lessons.server import main

main()
