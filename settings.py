"""The settings: one class, read from DOCRAIL_* environment variables by the roots and handed on as values."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """What an operator may set. Every field is the environment variable of its name, with DOCRAIL_ before it."""

    model_config = SettingsConfigDict(env_prefix="DOCRAIL_", frozen=True, extra="forbid")

    temporal_address: str = Field("127.0.0.1:7233", description="Temporal's frontend, host:port")
    temporal_namespace: str = Field("default", description="Temporal namespace that runs live in")
    temporal_ui_url: str = Field(
        "http://127.0.0.1:8233", description="address of Temporal's web UI, for links to histories"
    )
    task_queue: str = Field("docrail", description="Temporal task queue that workers poll and runs are started on")
    database_url: str = Field(
        "postgresql://docrail@127.0.0.1:5432/docrail",
        description="PostgreSQL connection URL",
    )
    data_dir: Path = Field(Path("var"), description="folder of the blob store, the lake and the embedded servers' data")
    api_host: str = Field("127.0.0.1", description="address the HTTP API listens on")
    api_port: int = Field(8000, ge=0, le=65535, description="port the HTTP API listens on")
    worker_metrics_port: int = Field(
        0, ge=0, le=65535, description="port of a worker's Prometheus /metrics page; 0 turns it off"
    )
    worker_metrics_host: str = Field("127.0.0.1", description="address that a worker's /metrics page listens on")
    max_upload_bytes: int = Field(25 * 2**20, gt=0, description="largest document that may be uploaded, in bytes")
    sandboxed: bool = Field(
        default=False,
        description="run workflow code in Temporal's sandbox: catches forbidden calls, costs about a third of the "
        "worker's speed; the test suite does",
    )
    graceful_shutdown_seconds: float = Field(
        30.0, ge=0, description="how long a worker that was told to stop lets running activities finish"
    )
    worker_heartbeat_seconds: float = Field(
        5.0,
        ge=1,
        le=60,
        description="how often a worker tells Temporal that it lives; for /readyz, one that missed three times is gone",
    )
