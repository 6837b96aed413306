import os


DATABASE_URL = os.environ.get("DATABASE_URL", "postgresql://localhost/payments")
REDIS_URL = os.environ.get("REDIS_URL", "redis://localhost:6379/0")
WEBHOOK_TIMEOUT_SECONDS = 10
