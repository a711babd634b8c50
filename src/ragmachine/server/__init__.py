"""The HTTP API and the connections for agents: a thin layer over `RagPipeline`.

Needs the extra ``server``; `app.create_app` makes the application, `run.serve` listens.
"""
