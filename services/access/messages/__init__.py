"""Requests read into what the rest of access works with, and rows written as answers."""
