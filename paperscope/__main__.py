"""`python -m paperscope` is the command `paperscope`."""

from service.cli import main

if __name__ == "__main__":
    main()
