"""Many runs: plans and their cells."""
