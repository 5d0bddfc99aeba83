"""Rows of records: grouping, joining and printing them."""
