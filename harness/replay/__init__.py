"""One artifact, played once in fresh containers, judged from outside."""
