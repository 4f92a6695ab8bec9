"""The views of the console on a real graph."""
