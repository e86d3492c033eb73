"""The answers suite: the product is asked, and its answers are held against gold without a model."""
