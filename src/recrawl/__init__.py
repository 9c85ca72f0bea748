"""recrawl: a crawler that learns the web's rhythm."""

__version__ = "0.1.0"
