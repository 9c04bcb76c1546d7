"""Serve HTTP: a file for each noun has its routes, `app.py` assembles them.

The other files are about requests of all nouns. `server` and `connections` bound what a connection may cost, and
`middleware/` what a request may, before it reaches a route; `body_sizes` and `first_problems` bound its body, `methods`
answers HEAD and OPTIONS. With every route: `auth` (the caller and their scopes), `parameters`, `errors`,
`descriptions`, `large_answers`, `downloads`.
"""
