"""Entity extractors: data of many formats, training, prediction, scores, comparisons, audits and reports."""
