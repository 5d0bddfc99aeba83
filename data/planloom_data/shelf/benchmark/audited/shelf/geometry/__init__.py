"""Boxes and polygons in the plane."""
