"""The study of the metrics paper: policies, predictors and distorted runtimes, published figures beside ours."""
