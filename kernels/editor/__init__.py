"""The structured editor of a spec: sections as data, forms whose field names are paths of the spec document."""
