"""A job queue in Go."""

from tests.bench.curator.samples.project import Project, Target


WORKER = """\
package queue

import (
	"context"
	"errors"
	"log/slog"
	"math/rand"
	"time"
)

// ErrPermanent marks failures that no retry can repair.
var ErrPermanent = errors.New("permanent failure")

// Handler does the work of one job.
type Handler func(ctx context.Context, job *Job) error

<<< Backoff
// Backoff returns how long to wait before an attempt. The wait doubles with each attempt.
func Backoff(attempt int, random *rand.Rand) time.Duration {
	if attempt < 1 {
		return 0
	}
	const ceiling = 15 * time.Minute
	wait := time.Second << min(attempt-1, 20)
	if wait > ceiling {
		wait = ceiling
	}
	spread := wait / 10
	return wait - spread + time.Duration(random.Int63n(int64(2*spread)+1))
}

>>> Backoff
// Worker takes jobs from a store, one at a time.
type Worker struct {
	store   *Store
	handle  Handler
	random  *rand.Rand
	logger  *slog.Logger
	retries int
}

// Run works until the context ends.
func (w *Worker) Run(ctx context.Context) error {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			if err := w.step(ctx); err != nil {
				w.logger.Error("step failed", "error", err)
			}
		}
	}
}

func (w *Worker) step(ctx context.Context) error {
	job, err := w.store.Claim(ctx, "worker")
	if err != nil || job == nil {
		return err
	}
	if err := w.handle(ctx, job); err != nil {
		if errors.Is(err, ErrPermanent) || job.Attempts >= w.retries {
			return w.store.Bury(ctx, job, err)
		}
		return w.store.Release(ctx, job, Backoff(job.Attempts, w.random))
	}
	return w.store.Finish(ctx, job)
}
"""

STORE = """\
package queue

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Job is one row of the table of jobs.
type Job struct {
	ID       int64
	Queue    string
	Payload  []byte
	Attempts int
	LockedAt time.Time
}

// Store keeps jobs in PostgreSQL.
type Store struct {
	db *sql.DB
}

// NewStore returns a store on an open database.
func NewStore(db *sql.DB) *Store {
	return &Store{db: db}
}

<<< Claim
// Claim locks the oldest job that is due. Two workers never get the same job.
func (s *Store) Claim(ctx context.Context, owner string) (*Job, error) {
	const lease = 5 * time.Minute
	query := `
		UPDATE jobs SET locked_by = $1, locked_at = now(), attempts = attempts + 1
		WHERE id = (
			SELECT id FROM jobs
			WHERE run_at <= now() AND (locked_at IS NULL OR locked_at < now() - $2::interval)
			ORDER BY run_at
			FOR UPDATE SKIP LOCKED
			LIMIT 1
		)
		RETURNING id, queue, payload, attempts, locked_at`
	row := s.db.QueryRowContext(ctx, query, owner, fmt.Sprintf("%d seconds", int(lease.Seconds())))
	job := &Job{}
	err := row.Scan(&job.ID, &job.Queue, &job.Payload, &job.Attempts, &job.LockedAt)
	if err == sql.ErrNoRows {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("claim a job: %w", err)
	}
	return job, nil
}

>>> Claim
// Finish removes a job that was done.
func (s *Store) Finish(ctx context.Context, job *Job) error {
	_, err := s.db.ExecContext(ctx, "DELETE FROM jobs WHERE id = $1", job.ID)
	return err
}

// Release makes a job due again after a wait.
func (s *Store) Release(ctx context.Context, job *Job, wait time.Duration) error {
	_, err := s.db.ExecContext(ctx,
		"UPDATE jobs SET locked_at = NULL, run_at = now() + $2::interval WHERE id = $1",
		job.ID, fmt.Sprintf("%d milliseconds", wait.Milliseconds()))
	return err
}

// Bury keeps a job that failed for good, with its error.
func (s *Store) Bury(ctx context.Context, job *Job, cause error) error {
	_, err := s.db.ExecContext(ctx,
		"UPDATE jobs SET failed_at = now(), error = $2 WHERE id = $1", job.ID, cause.Error())
	return err
}
"""

CONFIG = """\
package queue

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// DefaultQueue is used where a job names none.
const DefaultQueue = "default"

<<< Limits
// Limits bounds what a queue accepts.
type Limits struct {
	// MaxPayload is in bytes.
	MaxPayload  int           `json:"max_payload" default:"65536"`
	MaxAttempts int           `json:"max_attempts" default:"12"`
	Timeout     time.Duration `json:"timeout" default:"30s"`
	Queues      []string      `json:"queues"`
}

>>> Limits
// Validate returns an error if a limit makes no sense.
func (l Limits) Validate() error {
	if l.MaxPayload <= 0 || l.MaxAttempts <= 0 {
		return fmt.Errorf("limits have to be positive: %+v", l)
	}
	return nil
}

// FromEnv reads limits from the environment.
func FromEnv() (Limits, error) {
	limits := Limits{MaxPayload: 65536, MaxAttempts: 12, Timeout: 30 * time.Second}
	if text := os.Getenv("QUEUE_MAX_ATTEMPTS"); text != "" {
		number, err := strconv.Atoi(text)
		if err != nil {
			return limits, fmt.Errorf("QUEUE_MAX_ATTEMPTS: %w", err)
		}
		limits.MaxAttempts = number
	}
	return limits, limits.Validate()
}
"""

METRICS = """\
package queue

import (
	"sync/atomic"
	"time"
)

// Metrics counts what workers did.
type Metrics struct {
	done   atomic.Int64
	failed atomic.Int64
	spent  atomic.Int64
}

// Record adds one job.
func (m *Metrics) Record(err error, took time.Duration) {
	if err != nil {
		m.failed.Add(1)
	} else {
		m.done.Add(1)
	}
	m.spent.Add(int64(took))
}

// Mean returns the mean time of a job.
func (m *Metrics) Mean() time.Duration {
	count := m.done.Load() + m.failed.Load()
	if count == 0 {
		return 0
	}
	return time.Duration(m.spent.Load() / count)
}
"""

PROJECT = Project(
    files={
        "go.mod": "module example.com/queue\n\ngo 1.22\n",
        "internal/queue/worker.go": WORKER,
        "internal/queue/store.go": STORE,
        "internal/queue/config.go": CONFIG,
        "internal/queue/metrics.go": METRICS,
    },
    remark="//",
    helper="""\
// describe returns a short text for logs.
func describe(job *Job) string {
	if job == nil {
		return "no job"
	}
	return job.Queue
}

""",
    targets=(
        Target(
            path="internal/queue/worker.go",
            symbol="Backoff",
            claim="Failed jobs wait twice as long each time, and at most 15 minutes.",
            formatting=(
                "func Backoff(attempt int, random *rand.Rand) time.Duration {\n",
                "func Backoff(\n\tattempt int,\n\trandom *rand.Rand,\n) time.Duration {\n",
            ),
            docs=("The wait doubles with each attempt.", "Each wait is twice the one before."),
            signature=(
                "(attempt int, random *rand.Rand) time.Duration",
                "(attempt int, base time.Duration, random *rand.Rand) time.Duration",
            ),
            constant=("15 * time.Minute", "2 * time.Hour"),
            logic=("time.Second << min(attempt-1, 20)", "time.Second * time.Duration(attempt)"),
            other=("time.NewTicker(200 * time.Millisecond)", "time.NewTicker(500 * time.Millisecond)"),
            renamed="WaitBefore",
            renamed_file=("internal/queue/runner.go", ""),
            moved_to="internal/queue/metrics.go",
        ),
        Target(
            path="internal/queue/store.go",
            symbol="Store.Claim",
            claim="A worker that died keeps its job locked for five minutes.",
            formatting=(
                "\tif err == sql.ErrNoRows {\n\t\treturn nil, nil\n\t}\n",
                "\n\tif err == sql.ErrNoRows { return nil, nil }\n\n",
            ),
            docs=("Two workers never get the same job.", "No job is given to two workers."),
            signature=(
                "(ctx context.Context, owner string) (*Job, error)",
                "(ctx context.Context, owner string, queues ...string) (*Job, error)",
            ),
            constant=("lease = 5 * time.Minute", "lease = 45 * time.Minute"),
            logic=("ORDER BY run_at\n", "ORDER BY id DESC\n"),
            other=("failed_at = now(), error = $2", "failed_at = now(), locked_at = NULL, error = $2"),
            renamed="Take",
            renamed_file=("internal/storage/postgres.go", "package queue|package storage"),
            moved_to="internal/queue/metrics.go",
        ),
        Target(
            path="internal/queue/config.go",
            symbol="Limits",
            claim="A job is tried at most 12 times, and its payload has at most 64 KiB.",
            formatting=(
                '\tMaxPayload  int           `json:"max_payload" default:"65536"`\n\tMaxAttempts int           `json:"max_attempts" default:"12"`\n',
                '\tMaxPayload int `json:"max_payload" default:"65536"`\n\n\tMaxAttempts int `json:"max_attempts" default:"12"`\n\n',
            ),
            docs=(
                "// Limits bounds what a queue accepts.",
                "// Limits says what a queue accepts, and for how long.",
            ),
            signature=("\tQueues      []string ", "\tQueues      map[string]int "),
            constant=('default:"12"', 'default:"40"'),
            logic=('\tTimeout     time.Duration `json:"timeout" default:"30s"`\n', ""),
            other=(
                "if l.MaxPayload <= 0 || l.MaxAttempts <= 0 {",
                "if l.MaxPayload <= 0 || l.MaxAttempts <= 0 || l.Timeout <= 0 {",
            ),
            renamed="Bounds",
            renamed_file=("internal/queue/limits.go", ""),
            moved_to="internal/queue/metrics.go",
        ),
    ),
)
