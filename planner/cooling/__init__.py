"""The physical model behind the PUE tables: a site's cooling plant from its nameplate data."""
