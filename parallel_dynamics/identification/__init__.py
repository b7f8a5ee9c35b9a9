"""Parameters of a real machine: base parameters, exciting motions, identification."""
