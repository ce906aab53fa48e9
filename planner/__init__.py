"""Plans an HPC site's day for profit: revenue from the resources used, less energy, less cooling."""

__version__ = "0.1.0"
