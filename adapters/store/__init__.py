"""Store files: folders on disk or S3, content-addressed blobs, and large values."""
