"""Handle every request before its route does: bound what it may cost, and keep foreign pages and unknown callers out.

Each module has one ASGI middleware; `app.py` puts them together. `boundary` refuses requests of foreign pages,
`deadline` answers in time, `body_limit` refuses large bodies unread, `early_auth` authenticates before a body is read,
`forms`, `large_requests` and `few_uploads` bound what a body costs, `tenant_scope` starts outside of every tenant.
"""
