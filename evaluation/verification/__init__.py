"""Wrong numbers planted in right answers: how many does the product's own verification flag?"""
