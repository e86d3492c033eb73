"""The answers suite: asks the product gold questions, and scores its answers without a model."""
