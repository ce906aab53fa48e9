"""Pages to look at: HTML that opens from disk with no network, made from what the CSVs and JSON files of a run say."""
