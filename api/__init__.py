"""Serve HTTP: a file for each noun has its routes, `app.py` assembles them.

The other files are about requests of all nouns. Before a request reaches a route: `server` and `connections` bound what
a connection may cost, `boundary` keeps foreign pages out, `body_limit`, `body_sizes`, `large_requests` and
`first_problems` bound its body, `methods` answers HEAD and OPTIONS, `tenant_scope` starts it outside of every tenant.
With every route: `auth` (the caller and their scopes), `parameters`, `errors`, `descriptions`, `large_answers`,
`downloads`.
"""
