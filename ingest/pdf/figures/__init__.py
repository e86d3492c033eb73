"""Figures, their panels, and pictures without a caption."""
