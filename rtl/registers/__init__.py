"""The register description and what is made from it."""
