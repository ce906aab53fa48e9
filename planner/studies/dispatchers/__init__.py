"""The study of dispatchers for large machines with node classes: published figures beside ours."""
