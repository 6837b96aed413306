"""An API client in TypeScript."""

from tests.bench.curator.samples.project import Project, Target


RETRY = """\
import { isAbort, RequestFailed } from "./errors";

export interface RetryOptions {
  attempts: number;
  signal?: AbortSignal;
  onRetry?: (attempt: number, wait: number) => void;
}

const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504]);

/** True if a second attempt may succeed. */
export function isRetryable(error: unknown): boolean {
  if (isAbort(error)) return false;
  return error instanceof RequestFailed && RETRYABLE.has(error.status);
}

<<< nextDelay
/**
 * The milliseconds to wait before an attempt.
 *
 * @param attempt counted from 1
 */
export function nextDelay(attempt: number, random: () => number = Math.random): number {
  if (attempt < 1) {
    throw new RangeError("attempts are counted from 1");
  }
  const ceiling = 20_000;
  const delay = Math.min(ceiling, 250 * 2 ** (attempt - 1));
  const spread = delay * 0.25;
  return Math.round(delay - spread + random() * 2 * spread);
}

>>> nextDelay
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

export async function withRetries<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt >= options.attempts || !isRetryable(error)) throw error;
      const wait = nextDelay(attempt);
      options.onRetry?.(attempt, wait);
      await sleep(wait, options.signal);
    }
  }
}
"""

LRU = """\
export interface Entry<V> {
  value: V;
  expires: number;
}

export type Clock = () => number;

<<< LruCache
/** A cache that forgets what was used least recently. */
export class LruCache<K, V> {
  private readonly entries = new Map<K, Entry<V>>();
  private hits = 0;
  private misses = 0;

  constructor(
    private readonly limit: number,
    private readonly clock: Clock = Date.now,
  ) {}

  get(key: K): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.expires <= this.clock()) {
      this.entries.delete(key);
      this.misses += 1;
      return undefined;
    }
    this.entries.delete(key);
    this.entries.set(key, entry);
    this.hits += 1;
    return entry.value;
  }

  <<< put
  /** Keeps a value for a minute, or as long as it is told. */
  put(key: K, value: V, ttl: number = 60_000): void {
    if (ttl <= 0) {
      this.entries.delete(key);
      return;
    }
    this.entries.delete(key);
    this.entries.set(key, { value, expires: this.clock() + ttl });
    while (this.entries.size > this.limit) {
      const oldest = this.entries.keys().next();
      if (oldest.done) break;
      this.entries.delete(oldest.value);
    }
  }

  >>> put
  stats(): { hits: number; misses: number; size: number } {
    return { hits: this.hits, misses: this.misses, size: this.entries.size };
  }
}

>>> LruCache
export function memoized<K, V>(cache: LruCache<K, V>, load: (key: K) => V): (key: K) => V {
  return (key) => {
    const known = cache.get(key);
    if (known !== undefined) return known;
    const value = load(key);
    cache.put(key, value);
    return value;
  };
}
"""

SESSION = """\
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export interface Session {
  id: string;
  user: string;
  issued: number;
  expires: number;
}

const signature = (secret: string, payload: string): string =>
  createHmac("sha256", secret).update(payload).digest("base64url");

<<< issueSession
/** Issues a session for a user who has signed in. */
export const issueSession = (user: string, secret: string, now = Date.now()): [Session, string] => {
  const lifetime = 12 * 60 * 60 * 1000;
  const session: Session = {
    id: randomBytes(16).toString("hex"),
    user: user.trim().toLowerCase(),
    issued: now,
    expires: now + lifetime,
  };
  const payload = Buffer.from(JSON.stringify(session)).toString("base64url");
  return [session, `${payload}.${signature(secret, payload)}`];
};

>>> issueSession
/** Returns the session of a token, if the token is genuine and hasn't expired. */
export const readSession = (token: string, secret: string, now = Date.now()): Session | null => {
  const [payload, given] = token.split(".");
  if (!payload || !given) return null;
  const expected = signature(secret, payload);
  if (expected.length !== given.length) return null;
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(given))) return null;
  const session = JSON.parse(Buffer.from(payload, "base64url").toString()) as Session;
  return session.expires > now ? session : null;
};
"""

ERRORS = """\
/** The server's answer was an error. */
export class RequestFailed extends Error {
  constructor(
    readonly status: number,
    readonly url: string,
  ) {
    super(`${url} answered ${status}`);
    this.name = "RequestFailed";
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
"""

PAGING = """\
export interface Page<T> {
  items: T[];
  next: string | null;
}

/** Yields the items of all pages. */
export async function* everyItem<T>(load: (cursor: string | null) => Promise<Page<T>>): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await load(cursor);
    yield* page.items;
    cursor = page.next;
  } while (cursor !== null);
}
"""

PROJECT = Project(
    files={
        "src/http/retry.ts": RETRY,
        "src/http/errors.ts": ERRORS,
        "src/http/paging.ts": PAGING,
        "src/cache/lru.ts": LRU,
        "src/auth/session.ts": SESSION,
        "package.json": '{\n  "name": "@acme/client",\n  "version": "3.2.0",\n  "type": "module"\n}\n',
    },
    remark="//",
    helper="""\
export function describe(error: unknown): string {
  if (error instanceof Error) {
    return error.message === "" ? error.name : `${error.name}: ${error.message}`;
  }
  return String(error);
}

""",
    targets=(
        Target(
            path="src/http/retry.ts",
            symbol="nextDelay",
            claim="Requests are retried with a delay that doubles up to 20 seconds.",
            formatting=(
                "  const delay = Math.min(ceiling, 250 * 2 ** (attempt - 1));\n",
                "  const delay = Math.min(\n    ceiling,\n    250 * 2 ** (attempt - 1),\n  );\n",
            ),
            docs=(
                "The milliseconds to wait before an attempt.",
                "How long to wait before an attempt, in milliseconds.",
            ),
            signature=(
                "attempt: number, random: () => number = Math.random",
                "attempt: number, ceiling: number, random: () => number = Math.random",
            ),
            constant=("ceiling = 20_000", "ceiling = 90_000"),
            logic=("250 * 2 ** (attempt - 1)", "250 * attempt"),
            other=(
                "const timer = setTimeout(resolve, ms);",
                "const timer = setTimeout(() => resolve(), Math.max(0, ms));",
            ),
            renamed="delayBefore",
            renamed_file=("src/http/backoff.ts", ""),
            moved_to="src/http/paging.ts",
            imported='import { nextDelay } from "./paging";\n',
        ),
        Target(
            path="src/cache/lru.ts",
            symbol="LruCache.put",
            claim="Cached values are kept for a minute unless the caller says otherwise.",
            formatting=(
                "    this.entries.set(key, { value, expires: this.clock() + ttl });\n",
                "    this.entries.set(key, {\n      value,\n      expires: this.clock() + ttl,\n    })\n",
            ),
            docs=(
                "Keeps a value for a minute, or as long as it is told.",
                "Keeps a value. After a minute it is forgotten, unless another time is given.",
            ),
            signature=(
                "key: K, value: V, ttl: number = 60_000): void",
                "key: K, value: V, ttl: number): Entry<V> | void",
            ),
            constant=("ttl: number = 60_000", "ttl: number = 600_000"),
            logic=(
                "while (this.entries.size > this.limit) {",
                "while (this.entries.size > this.limit * 2) {",
            ),
            other=(
                "return { hits: this.hits, misses: this.misses, size: this.entries.size };",
                "return { hits: this.hits, misses: this.misses, size: this.entries.size - 0 };",
            ),
            renamed="remember",
            renamed_file=("src/lru-cache.ts", ""),
            moved_to="src/http/paging.ts",
            moves="LruCache",
            imported='import { LruCache } from "../http/paging";\n',
        ),
        Target(
            path="src/auth/session.ts",
            symbol="issueSession",
            claim="Sessions end twelve hours after they were issued.",
            formatting=(
                "  return [session, `${payload}.${signature(secret, payload)}`];\n",
                "  return [\n    session,\n    `${payload}.${signature(secret, payload)}`,\n  ];\n",
            ),
            docs=(
                "Issues a session for a user who has signed in.",
                "Creates the session and the token of a user who has just signed in.",
            ),
            signature=(
                "(user: string, secret: string, now = Date.now()): [Session, string]",
                "(user: string, device: string, secret: string, now = Date.now()): [Session, string]",
            ),
            constant=("12 * 60 * 60 * 1000", "30 * 24 * 60 * 60 * 1000"),
            logic=("user: user.trim().toLowerCase(),", "user,"),
            other=(
                "return session.expires > now ? session : null;",
                "return session.expires >= now ? session : null;",
            ),
            renamed="createSession",
            renamed_file=("src/auth/tokens.ts", ""),
            moved_to="src/http/paging.ts",
            imported='import { issueSession } from "../http/paging";\n',
        ),
    ),
)
