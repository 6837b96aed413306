"""The truth set: short memory pairs of the kind that coding agents propose, with the kind to expect.

Every pair was written before the detector was, and half of them are set aside by a hash of their text
(`held_out`): the vocabulary and the limits of `review/` were tuned on the other half only.
"""

import hashlib
from typing import Literal

import msgspec


Expected = Literal["duplicate", "contradiction", "supersession", "compatible", "unrelated"]


class Pair(msgspec.Struct, frozen=True):
    topic: str
    expected: Expected
    how: str
    """What makes a contradiction one: choice, number, polarity, antonym; `scope`: what keeps two apart."""
    first: str
    """What stands on the shelf."""
    second: str
    """What is proposed."""
    first_scope: tuple[str, ...] = ()
    second_scope: tuple[str, ...] = ()

    @property
    def held_out(self) -> bool:
        return hashlib.sha256(f"{self.first}\n{self.second}".encode()).digest()[0] % 2 == 1


# A line a pair: kind[/how] | on the shelf | proposed. `@ glob` at the end of a side is its scope.
_TABLE = """
[database]
duplicate | Use PostgreSQL as the primary database. | Our main data store is Postgres.
duplicate | Schema changes go through Alembic migrations. | Every database schema change must be an Alembic migration.
duplicate | Never run migrations automatically at startup. | Migrations must not be run automatically when the app starts.
duplicate | All queries must be parameterised. | Always use parameterized queries.
contradiction/choice | The application stores its data in PostgreSQL. | The application stores its data in MySQL.
contradiction/number | The connection pool holds 10 connections at most. | The maximum size of the connection pool is 50 connections.
contradiction/polarity | Services must not share a database. | Services may share a database.
contradiction/polarity | Foreign keys are required on every relation. | Never add foreign keys to relations.
contradiction/antonym | Run migrations before deploying the new version. | Run migrations after deploying the new version.
contradiction/choice | Primary keys are UUIDs. | Use auto-increment integers as primary keys.
compatible | Store orders in PostgreSQL. | Store search documents in Elasticsearch.
compatible | The read replica lags by up to 5 seconds. | The connection pool times out after 30 seconds.
compatible | Index every foreign key column. | Name every foreign key column after its table.
compatible | Soft delete users with a deleted_at column. | Hard delete sessions after they expire.
unrelated | Use PostgreSQL as the primary database. | Buttons have rounded corners in the design system.
unrelated | Never run migrations automatically at startup. | The changelog follows Keep a Changelog.

[cache]
duplicate | Cache sessions in Redis. | Sessions are cached in Redis.
duplicate | Cached product pages expire after 5 minutes. | The TTL of cached product pages is 300 seconds.
duplicate | Do not cache responses that contain personal data. | Responses with personal data must never be cached.
contradiction/choice | Cache sessions in Redis. | Keep the session cache in Memcached.
contradiction/number | Cached product pages expire after 5 minutes. | Cached product pages expire after 1 hour.
contradiction/polarity | Always cache API responses. | Never cache API responses.
contradiction/number | The session cache is limited to 512 MB. | The session cache is limited to 2 GB.
contradiction/antonym | Caching is enabled in tests. | Caching is disabled in tests.
supersession | Cache sessions in Memcached. | Switch the session cache from Memcached to Redis.
compatible | Cache sessions in Redis. | Cache pages in Varnish.
compatible | Cached images expire after 1 day. | Cached prices expire after 1 minute.
compatible | Invalidate the product cache when a price changes. | Warm the product cache after each deployment.
compatible/scope | Cache sessions in Redis. @ services/web/** | Cache sessions in Memcached. @ services/admin/**
unrelated | Cache sessions in Redis. | Commit messages are written in English.
unrelated | Do not cache responses that contain personal data. | The CLI prints errors to stderr.

[queue]
duplicate | Background jobs run on Celery. | Use Celery for background tasks.
duplicate | Consumers of the order queue must be idempotent. | Order queue consumers have to tolerate the same message twice, so they must be idempotent.
duplicate | Failed messages are retried 3 times. | Retry failed messages three times.
contradiction/choice | Domain events are published to Kafka. | Publish domain events through RabbitMQ.
contradiction/number | Failed messages are retried 3 times. | Failed messages are retried 10 times before they are dropped.
contradiction/polarity | Events must carry the full payload. | Events must not carry the full payload, only the id.
contradiction/antonym | Email delivery is synchronous. | Email delivery is asynchronous.
contradiction/choice | Background jobs run on Celery. | Use Dramatiq for background jobs.
supersession | Domain events are published to RabbitMQ. | Replace RabbitMQ with Kafka for domain events.
compatible | Domain events are published to Kafka. | Background jobs run on Celery.
compatible | Failed messages are retried 3 times. | Failed logins lock the account after 5 attempts.
compatible | The email worker handles 20 messages per second. | The thumbnail worker handles 5 images per second.
unrelated | Background jobs run on Celery. | Colours come from the theme tokens.
unrelated | Consumers of the order queue must be idempotent. | Python files are formatted with ruff.

[auth]
duplicate | API clients authenticate with JWT bearer tokens. | Authentication of API clients uses JWTs in the bearer header.
duplicate | Passwords are hashed with argon2id. | Use argon2id to hash passwords.
duplicate | Access tokens expire after 15 minutes. | Access tokens are valid for a quarter of an hour.
duplicate | Never log passwords or tokens. | Tokens and passwords must not appear in the logs.
contradiction/choice | Passwords are hashed with bcrypt. | Passwords are hashed with argon2id.
contradiction/number | Access tokens expire after 15 minutes. | Access tokens expire after 24 hours.
contradiction/choice | The web app authenticates users with session cookies. | The web app authenticates users with JWTs.
contradiction/polarity | Admin accounts must use two-factor authentication. | Two-factor authentication is optional for admin accounts.
contradiction/antonym | The metrics endpoint is public. | The metrics endpoint is private.
contradiction/number | Lock an account after 5 failed logins. | An account is locked after 10 failed logins.
supersession | Passwords are hashed with bcrypt. | We no longer hash passwords with bcrypt; use argon2id.
compatible | Access tokens expire after 15 minutes. | Refresh tokens expire after 30 days.
compatible | Service accounts authenticate with mTLS. | Users authenticate with OIDC.
compatible | Never log passwords or tokens. | Always log failed logins.
compatible/scope | Endpoints require authentication. @ api/private/** | Endpoints do not require authentication. @ api/public/**
unrelated | Passwords are hashed with argon2id. | The monorepo is built with Bazel.
unrelated | Access tokens expire after 15 minutes. | Docs are written in Markdown.

[http-api]
duplicate | The public API is REST. | We expose a REST interface to the public.
duplicate | List endpoints are paginated with cursors. | Use cursor pagination on all list endpoints.
duplicate | Request timeouts are 30 seconds. | Requests time out after half a minute.
duplicate | Error responses follow RFC 7807 problem details. | Return errors as RFC 7807 problem JSON.
contradiction/choice | The public API is REST. | The public API is GraphQL.
contradiction/number | The API timeout is 30 s. | The API timeout is 60 s.
contradiction/choice | List endpoints are paginated with cursors. | List endpoints use offset pagination.
contradiction/polarity | Breaking changes of the public API are never allowed without a new version. | Breaking changes of the public API are allowed in minor releases without a new version.
contradiction/number | Clients are limited to 100 requests per minute. | The rate limit for clients is 10 requests per second.
contradiction/choice | JSON field names are snake_case. | JSON field names are camelCase.
contradiction/number | Page size is limited to 100 items. | Page size is limited to 500 items.
compatible | The public API is REST. | Internal services talk gRPC.
compatible | The API timeout is 30 s. | The database timeout is 5 s.
compatible | List endpoints are paginated with cursors. | List endpoints sort by creation date.
compatible | JSON field names are camelCase. | Python variable names are snake_case.
unrelated | The public API is REST. | Tests run in random order.
unrelated | Request timeouts are 30 seconds. | The licence of the project is MIT.

[testing]
duplicate | Run the tests with pytest. | pytest is the test runner of this project.
duplicate | Tests must not access the network. | Never touch the network in tests.
duplicate | Every bug fix needs a regression test. | A regression test is required for each bugfix.
duplicate | Integration tests live in tests/integration. | Put integration tests into tests/integration.
contradiction/choice | Run the tests with pytest. | Use unittest to run the tests.
contradiction/polarity | Tests must not access the network. | Tests may access the network.
contradiction/number | Test coverage must stay above 80 %. | Test coverage must stay above 95 percent.
contradiction/polarity | Prefer mocks for the payment gateway in tests. | Avoid mocks for the payment gateway in tests.
contradiction/choice | End-to-end tests are written with Playwright. | End-to-end tests are written with Cypress.
contradiction/antonym | Integration tests run sequentially. | Integration tests run in parallel.
supersession | End-to-end tests are written with Cypress. | Migrate end-to-end tests from Cypress to Playwright.
compatible | Run the tests with pytest. | Frontend tests run with Vitest.
compatible | Unit tests must finish in 10 seconds. | End-to-end tests must finish in 10 minutes.
compatible | Tests must not access the network. | Tests must not depend on the system clock.
compatible/scope | Use mocks for the database in tests. @ tests/unit/** | Do not use mocks for the database in tests. @ tests/integration/**
unrelated | Every bug fix needs a regression test. | The service listens on port 8080.
unrelated | Run the tests with pytest. | Prices are stored in cents.

[style]
duplicate | Indent with four spaces. | Use 4 spaces for indentation.
duplicate | All functions need type annotations. | Type hints are required on every function.
duplicate | Lines are at most 100 characters long. | The maximum line length is 100 characters.
duplicate | Format Python with ruff. | ruff is the formatter for Python code.
contradiction/choice | Indent with tabs. | Indent with spaces.
contradiction/number | Lines are at most 100 characters long. | The maximum line length is 120 characters.
contradiction/choice | Format Python with black. | Format Python code with ruff.
contradiction/polarity | Use wildcard imports in plugin modules. | Do not use wildcard imports in plugin modules.
contradiction/number | Indent with four spaces. | Indent with 2 spaces.
contradiction/choice | Strings are quoted with single quotes. | Strings use double quotes.
compatible | Format Python with ruff. | Format JavaScript with Prettier.
compatible | Lines are at most 100 characters long. | Functions are at most 50 lines long.
compatible/scope | Indent with tabs. @ **/*.go | Indent with spaces. @ **/*.py
compatible | Class names are PascalCase. | Function names are snake_case.
unrelated | Indent with four spaces. | Customer emails are sent through SES.
unrelated | All functions need type annotations. | The staging cluster runs in Frankfurt.

[packaging]
duplicate | Use uv to manage Python dependencies. | Python dependencies are managed with uv.
duplicate | Dependencies are pinned to exact versions. | Pin exact versions of all dependencies.
duplicate | The minimum supported Python version is 3.11. | Python 3.11 or newer is required.
contradiction/choice | Use npm to install JavaScript packages. | JavaScript packages are installed with pnpm.
contradiction/number | The minimum supported Python version is 3.9. | The minimum supported Python version is 3.12.
contradiction/polarity | Commit the lock file. | Do not commit the lock file.
contradiction/choice | Use Poetry to manage Python dependencies. | Python dependencies are managed with uv.
contradiction/choice | The project is licensed under MIT. | The licence of the project is Apache-2.0.
supersession | Use Poetry to manage Python dependencies. | Use uv instead of Poetry for Python dependencies.
compatible | Use uv to manage Python dependencies. | Use pnpm to manage JavaScript dependencies.
compatible | The minimum supported Python version is 3.11. | The minimum supported Node version is 20.
compatible | Commit the lock file. | Do not commit the .env file.
unrelated | Dependencies are pinned to exact versions. | Avatars are cropped to a square.
unrelated | The project is licensed under MIT. | Webhooks are signed with HMAC.

[deploy]
duplicate | Production runs on Kubernetes. | We deploy to Kubernetes in production.
duplicate | Deploy only from the main branch. | Deployments must only happen from main.
duplicate | The service listens on port 8080. | Port 8080 is what the service listens on.
duplicate | Never deploy on Fridays. | Do not deploy on a Friday.
contradiction/choice | Production runs on AWS. | Production runs on Google Cloud.
contradiction/number | The service listens on port 8080. | The service listens on port 9000.
contradiction/polarity | Deploy on Fridays only with approval. | Never deploy on Fridays.
contradiction/antonym | Deployments to production are manual. | Deployments to production are automatic.
contradiction/choice | CI runs on GitHub Actions. | CI pipelines run on GitLab CI.
contradiction/number | Run at least 3 replicas of the web service. | The web service runs with at least 2 replicas.
contradiction/choice | Infrastructure is defined in Terraform. | Define infrastructure with Pulumi.
supersession | CI runs on Jenkins. | Moved CI from Jenkins to GitHub Actions.
compatible | The service listens on port 8080. | The metrics endpoint listens on port 9090.
compatible | Production runs on Kubernetes. | Local development runs on Docker Compose.
compatible | Deployments to staging are automatic. | Deployments to production are manual.
compatible | Run at least 3 replicas of the web service. | Run at least 2 replicas of the worker.
unrelated | Never deploy on Fridays. | Money is never represented as a float.
unrelated | CI runs on GitHub Actions. | Dates are shown in the reader's locale.

[logging]
duplicate | Logs are written as JSON. | Write log lines in JSON format.
duplicate | Log retention is 30 days. | Keep logs for 30 days.
duplicate | Use structlog for logging. | Logging goes through structlog.
contradiction/choice | Logs are written as JSON. | Logs are written as plain text.
contradiction/number | Logs are kept for 30 days. | Logs are kept for 90 days.
contradiction/choice | The default log level is INFO. | The default log level is DEBUG.
contradiction/polarity | Log request bodies. | Do not log request bodies.
contradiction/choice | Use structlog for logging. | Use loguru for logging.
contradiction/polarity | The library must never print to stdout. | The library should print progress to stdout.
compatible | Logs are kept for 30 days. | Backups are kept for 90 days.
compatible | Logs are written as JSON. | Configuration is written as TOML.
compatible | Log every request with its id. | Log every error with its stack trace.
unrelated | Use structlog for logging. | Feature branches are squashed on merge.
unrelated | Logs are kept for 30 days. | Icons come from the Lucide set.

[frontend]
duplicate | The web frontend is built with React. | Use React for the web frontend.
duplicate | Style components with Tailwind. | Tailwind is used for styling components.
duplicate | Components must be accessible by keyboard. | All components have to be usable with the keyboard.
contradiction/choice | The web frontend is built with React. | The web frontend is built with Vue.
contradiction/choice | Client state lives in Redux. | Client state lives in Zustand.
contradiction/polarity | Avoid inline styles. | Prefer inline styles.
contradiction/choice | The terminal interface uses textual as its TUI framework. | The TUI is written with urwid.
contradiction/number | The main bundle must stay below 200 kB. | The main bundle must stay below 1 MB.
contradiction/antonym | The sidebar is collapsed by default. | The sidebar is expanded by default.
supersession | The frontend is bundled with webpack. | Switch the frontend bundler from webpack to Vite.
compatible | The web frontend is built with React. | The mobile app is built with Flutter.
compatible | Style components with Tailwind. | Test components with Testing Library.
compatible | Dark mode is enabled by default. | Animations are disabled by default.
unrelated | Avoid inline styles. | The nightly backup goes to S3.
unrelated | The web frontend is built with React. | Retry failed payments after one day.

[time-and-money]
duplicate | Store all timestamps in UTC. | Timestamps are always stored as UTC.
duplicate | Money is stored as integer cents. | Represent amounts of money in cents, as integers.
duplicate | Never use floats for money. | Money must not be represented as floating point.
contradiction/choice | Store all timestamps in UTC. | Timestamps are stored in local time.
contradiction/choice | Money is stored as integer cents. | Money is stored as floats.
contradiction/choice | Dates in the API are ISO 8601 strings. | Dates in the API are Unix timestamps.
contradiction/number | Invoices are due after 14 days. | Invoices are due after 30 days.
contradiction/polarity | Round prices before adding tax. | Never round prices before adding tax.
contradiction/number | The VAT rate is 19 %. | The VAT rate is 7 percent.
compatible | Store all timestamps in UTC. | Show all timestamps in the user's time zone.
compatible | Invoices are due after 14 days. | Reminders are sent after 7 days.
compatible | Money is stored as integer cents. | Exchange rates are stored as decimals.
unrelated | Store all timestamps in UTC. | Modals trap the focus.
unrelated | Money is stored as integer cents. | Releases are tagged with semantic versions.

[git-workflow]
duplicate | Pull requests are squashed when merged. | Squash pull requests on merge.
duplicate | Commit messages follow Conventional Commits. | Use Conventional Commits for commit messages.
duplicate | Every pull request needs two approvals. | At least 2 approvals are required on each pull request.
duplicate | Never force-push to main. | Force pushes to the main branch are forbidden.
contradiction/number | Every pull request needs two approvals. | Every pull request needs one approval.
contradiction/polarity | Never force-push to main. | Force pushes to main are allowed.
contradiction/choice | Pull requests are squashed when merged. | Pull requests are rebased, not squashed, when merged.
contradiction/choice | All services live in a monorepo. | Each service lives in its own repository, we use a polyrepo.
contradiction/antonym | Delete feature branches after the merge. | Keep feature branches after the merge.
contradiction/choice | The default branch is main. | The default branch is develop.
compatible | Never force-push to main. | Force-push to feature branches is fine.
compatible | Every pull request needs two approvals. | Every pull request needs a changelog entry.
compatible | Commit messages follow Conventional Commits. | Commit messages are written in English.
unrelated | Pull requests are squashed when merged. | Sessions live for an hour.
unrelated | Never force-push to main. | Thumbnails are 200 pixels wide.

[errors]
duplicate | Errors are raised as exceptions of our own hierarchy. | Raise exceptions from our own hierarchy for errors.
duplicate | Never swallow exceptions silently. | Exceptions must not be silently swallowed.
duplicate | Validate user input at the boundary. | User input is validated at the boundary.
contradiction/polarity | Retry failed payment requests. | Never retry failed payment requests.
contradiction/number | Retry HTTP calls 3 times. | Retry HTTP calls 5 times.
contradiction/choice | Errors are reported to Sentry. | Errors are reported to Rollbar.
contradiction/polarity | Stack traces must not be shown to users. | Show stack traces to users.
contradiction/antonym | The importer fails fast on invalid rows; validation is strict. | Validation in the importer is lenient on invalid rows.
contradiction/number | The circuit breaker opens after 5 errors. | The circuit breaker opens after 20 errors.
compatible | Retry HTTP calls 3 times. | Retry database transactions 5 times.
compatible | Errors are reported to Sentry. | Metrics are reported to Prometheus.
compatible | Never retry payment requests. | Always retry webhook deliveries.
unrelated | Never swallow exceptions silently. | The logo is served from the CDN.
unrelated | Errors are reported to Sentry. | Table names are plural.

[storage]
duplicate | Uploaded files are stored in S3. | Store uploads in S3.
duplicate | Uploads are limited to 10 MB. | The maximum upload size is 10 MB.
duplicate | Backups are encrypted. | All backups must be encrypted.
contradiction/choice | Uploaded files are stored in S3. | Uploaded files are stored in Azure Blob Storage.
contradiction/number | Uploads are limited to 10 MB. | The upload limit is 25 MB.
contradiction/choice | Configuration files are written in YAML. | Configuration files are written in TOML.
contradiction/antonym | The uploads bucket is public. | The uploads bucket must be private.
contradiction/polarity | User uploads must be scanned for viruses. | User uploads don't need to be scanned for viruses.
contradiction/number | Backups run every 6 hours. | Backups run every 24 hours.
supersession | Configuration files are written in YAML. | Configuration files are written in TOML rather than YAML.
compatible | Uploaded files are stored in S3. | Backups are stored in Azure Blob Storage.
compatible | Uploads are limited to 10 MB. | Avatars are limited to 1 MB.
compatible | Backups run every 6 hours. | Reports run every 24 hours.
unrelated | Uploads are limited to 10 MB. | Reviewers are assigned by CODEOWNERS.
unrelated | Backups are encrypted. | Lint warnings are errors.

[concurrency]
duplicate | The worker uses asyncio, no threads. | No threads in the worker: it runs on asyncio.
duplicate | Config objects are immutable. | Configuration objects must not be mutated.
duplicate | Hold the lock for at most 100 ms. | The lock must not be held longer than 0.1 seconds.
contradiction/choice | The worker uses asyncio. | The worker uses threads.
contradiction/antonym | Config objects are immutable. | Config objects are mutable.
contradiction/number | Hold the lock for at most 100 ms. | Hold the lock for at most 5 seconds.
contradiction/antonym | The file reader is blocking. | The file reader must be non-blocking.
contradiction/polarity | Global state is forbidden in plugins. | Plugins may use global state.
contradiction/number | The scheduler starts 4 workers. | The scheduler starts 16 workers.
compatible | The worker uses asyncio. | The importer uses threads.
compatible | The scheduler starts 4 workers. | The scheduler wakes up every 4 seconds.
compatible | Config objects are immutable. | Config objects are validated when loaded.
unrelated | The scheduler starts 4 workers. | Emails have a plain-text part.
unrelated | Hold the lock for at most 100 ms. | Docs are built with MkDocs.

[language]
duplicate | The backend is written in Go. | Go is the language of the backend.
duplicate | User-facing text must be translatable. | All text that users see must be translatable.
duplicate | Write documentation in British English. | Documentation is written in British English.
contradiction/choice | The backend is written in Go. | The backend is written in Rust.
contradiction/choice | Write new frontend code in TypeScript. | New frontend code is written in plain JavaScript.
contradiction/choice | Documentation is written in reStructuredText. | Documentation is written in Markdown.
contradiction/polarity | Abbreviations are forbidden in identifiers. | Abbreviations are fine in identifiers.
contradiction/number | Support the last 2 major versions of Node. | Support the last 3 major versions of Node.
supersession | The command line tool is written in Bash. | Rewrite the command line tool from Bash to Go.
compatible | The backend is written in Go. | The build scripts are written in Python.
compatible | Write documentation in British English. | Write documentation in Markdown.
compatible | Write new frontend code in TypeScript. | Write new backend code in Kotlin.
unrelated | The backend is written in Go. | Refunds need a second approval.
unrelated | Documentation is written in Markdown. | The pool holds 10 connections.
"""


def _read() -> tuple[Pair, ...]:
    pairs, topic = [], ""
    for line in _TABLE.strip().splitlines():
        if line.startswith("["):
            topic = line.strip("[]")
        elif line:
            kind, first, second = line.split(" | ")
            expected, _, how = kind.partition("/")
            (left, left_scope), (right, right_scope) = map(_side, (first, second))
            pairs.append(
                Pair(topic, msgspec.convert(expected, Expected), how, left, right, left_scope, right_scope)
            )
    return tuple(pairs)


def _side(text: str) -> tuple[str, tuple[str, ...]]:
    words, _, scope = text.partition(" @ ")
    return words, (scope,) if scope else ()


PAIRS = _read()
TUNED = tuple(pair for pair in PAIRS if not pair.held_out)
HELD_OUT = tuple(pair for pair in PAIRS if pair.held_out)
