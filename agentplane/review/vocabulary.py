"""Words that review knows: families of alternatives, opposites, synonyms, units. Data, no rules.

A family holds things of which a subject has one: `postgresql` and `mysql` are both answers to "which database".
A row is `name=other name,other name; next name`. Hyphens stand as spaces.
"""


def listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FAMILIES = {
    "database": "postgresql=postgres,psql,pg; mysql; mariadb; sqlite=sqlite3; oracle=oracle db; sql server=mssql;"
    " mongodb=mongo; cockroachdb=cockroach; dynamodb; cassandra; couchdb; firestore; duckdb; clickhouse; neo4j;"
    " redis; supabase; planetscale; tidb; scylladb; spanner; bigquery; snowflake; influxdb; timescaledb; h2",
    "cache": "redis; memcached=memcache; varnish; valkey; dragonfly; keydb; hazelcast; in memory; caffeine; ehcache",
    "search engine": "elasticsearch=elastic search,elastic; opensearch; solr; meilisearch; typesense; algolia;"
    " lucene; tantivy; sphinx search",
    "message broker": "kafka; rabbitmq=rabbit mq; sqs; nats; pulsar; redis streams=redis stream; redis; activemq;"
    " zeromq; pub sub=pubsub,google pub sub; kinesis; mqtt; mosquitto; eventbridge; service bus; redpanda; sns",
    "job queue": "celery; dramatiq; rq; huey; arq; sidekiq; resque; bullmq=bull; airflow; temporal; cron; faktory;"
    " hangfire; quartz; prefect; dagster; procrastinate; apscheduler; oban; good job",
    "data format": "json; yaml=yml; toml; xml; csv; ini; protobuf=protocol buffers,protocol buffer; avro; msgpack="
    "message pack; parquet; plain text=plaintext; ndjson=json lines,jsonl; hcl; cbor; logfmt; thrift; json5; tsv",
    "language": "python; go=golang; rust; java; kotlin; typescript=ts; javascript=js; ruby; php; c++=cpp; c#=csharp;"
    " scala; elixir; swift; bash=shell,shell script; perl; haskell; clojure; dart; lua; zig; erlang; ocaml; f#; julia;"
    " powershell; objective c; r lang; make lang",
    "tui framework": "textual; urwid; curses=ncurses; prompt toolkit; blessed; rich; npyscreen; asciimatics; bubbletea="
    "bubble tea; ratatui; tview; ink; tcell; termion; charm",
    "web framework": "django; flask; fastapi; starlette; litestar; tornado; bottle; pyramid; aiohttp; sanic; falcon;"
    " express; koa; nestjs=nest; fastify; hono; rails=ruby on rails; sinatra; spring=spring boot; quarkus; micronaut;"
    " laravel; symfony; gin; echo framework; fiber; chi; actix; axum; rocket; phoenix; ktor; asp.net",
    "frontend framework": "react; vue=vue.js; angular; svelte=sveltekit; solid=solid.js; preact; ember; htmx; lit;"
    " alpine=alpine.js; next.js=nextjs; nuxt; remix; astro; qwik; backbone; jquery; flutter; react native; gatsby",
    "state management": "redux=redux toolkit; zustand; mobx; recoil; jotai; pinia; vuex; ngrx; xstate; context api="
    "react context; signals; valtio; tanstack query=react query; swr",
    "styling": "tailwind=tailwind css; css modules; styled components; sass=scss; less; bootstrap; emotion; vanilla"
    " extract; plain css; bulma; material ui=mui; chakra=chakra ui; stylex; unocss; panda css",
    "bundler": "webpack; vite; rollup; parcel; esbuild; turbopack; rspack; snowpack; browserify; tsup; bun",
    "test runner": "pytest=py.test; unittest; nose=nose2; jest; vitest; mocha; jasmine; karma; ava; rspec; minitest;"
    " junit; testng; phpunit; go test; ctest; doctest; bats; tox; nox; node test",
    "end-to-end test tool": "playwright; cypress; selenium=webdriver; puppeteer; testcafe; webdriverio; nightwatch;"
    " capybara; robot framework; detox; appium",
    "formatter": "black; ruff=ruff format; yapf; autopep8; prettier; biome; dprint; gofmt=go fmt; rustfmt; clang"
    " format; google java format; standardjs; ktlint; gofumpt; isort",
    "linter": "ruff; flake8; pylint; eslint; biome; tslint; oxlint; golangci lint; clippy; rubocop; jshint; pyflakes;"
    " standardjs; stylelint; semgrep; sonarqube; checkstyle; spotbugs",
    "type checker": "mypy; pyright; pyre; pytype; basedpyright; ty; flow; sorbet; phpstan; psalm",
    "package manager": "pip; poetry; uv; pipenv; conda; pdm; hatch; rye; npm; yarn; pnpm; bun; pip tools; cargo;"
    " maven; gradle; composer; bundler; nuget; conan; vcpkg; homebrew; nix; apt; mamba; setuptools; flit",
    "build tool": "make=makefile,gnu make; cmake; bazel; buck; pants; gradle; maven; ninja; meson; ant; sbt; nx;"
    " turborepo=turbo; lerna; just; task; earthly; scons; msbuild; mage; rake; invoke; gulp; grunt",
    "auth scheme": "jwt=json web token,json web tokens,jwt bearer token; session cookie=session cookies,cookie session,"
    "cookies,server side session; oauth=oauth2,oauth 2; oidc=openid connect; saml; api key=api keys; basic auth="
    "http basic auth,basic authentication; mtls=mutual tls,client certificate; ldap; kerberos; paseto; passkey="
    "webauthn,passkeys; magic link; hmac signature; opaque token=opaque tokens; personal access token",
    "password hash": "bcrypt; argon2=argon2id,argon2i; scrypt; pbkdf2; sha256=sha 256; md5; sha1=sha 1; sha512",
    "digest": "sha256=sha 256; sha512; md5; sha1=sha 1; blake2=blake2b; blake3; xxhash; crc32",
    "identity provider": "auth0; okta; keycloak; cognito; clerk; firebase auth; supabase auth; entra=azure ad; zitadel",
    "cloud": "aws=amazon web services; gcp=google cloud,google cloud platform; azure; digitalocean=digital ocean;"
    " hetzner; heroku; fly.io=fly; vercel; netlify; render; railway; cloudflare; linode; ovh; on premise=on prem,"
    "on premises; oracle cloud; scaleway",
    "object store": "s3=amazon s3,aws s3; gcs=google cloud storage; azure blob storage=azure blob,blob storage; minio;"
    " r2=cloudflare r2; local disk=local filesystem,local file system,file system,filesystem; backblaze=b2; ceph;"
    " nfs; swift store; database blob",
    "container platform": "kubernetes=k8s; docker compose=compose; docker swarm=swarm; nomad; ecs; fargate; cloud run;"
    " lambda=aws lambda; openshift; bare metal; systemd; virtual machine=vm,vms,virtual machines; gke; eks; aks; mesos",
    "container engine": "docker; podman; containerd; buildah; cri o; lxc",
    "ci service": "github actions=github action,gha; gitlab ci=gitlab pipelines; jenkins; circleci=circle ci; travis="
    "travis ci; buildkite; teamcity; azure pipelines=azure devops; drone; tekton; bitbucket pipelines; bamboo; woodpecker",
    "infrastructure tool": "terraform; pulumi; cloudformation; ansible; opentofu=tofu; cdk=aws cdk; chef; puppet;"
    " saltstack; crossplane; bicep; helm; kustomize",
    "code host": "github; gitlab; bitbucket; gitea; forgejo; codeberg; gerrit; sourcehut",
    "error tracker": "sentry; rollbar; bugsnag; airbrake; honeybadger; raygun; glitchtip",
    "monitoring": "prometheus; datadog; grafana; new relic; cloudwatch; statsd; graphite; nagios; zabbix; honeycomb;"
    " opentelemetry=otel; victoriametrics; jaeger; zipkin; dynatrace",
    "log library": "structlog; loguru; winston; pino; log4j; logback; zap; zerolog; logrus; slog; stdlib logging="
    "standard logging,logging module; serilog; bunyan; tracing crate; nlog",
    "log level": "debug; info; warning=warn; error level; trace level; critical",
    "api style": "rest=restful,rest api; graphql; grpc; soap; json rpc; trpc; odata; websocket=websockets,web socket,"
    "web sockets; server sent events=sse; xml rpc; long polling; polling; webhook=webhooks",
    "pagination": "cursor=cursors,cursor based,keyset; offset=offsets,offset based,limit offset; page number=page numbers",
    "naming style": "snake case; camel case=camelcase; pascal case=pascalcase,pascal,upper camel case; kebab case=dash case;"
    " screaming snake case=upper snake case; hungarian notation",
    "indentation": "tab=tabs; space=spaces",
    "quotes": "single quote=single quotes,single quoted; double quote=double quotes,double quoted",
    "line endings": "lf=unix line endings; crlf=windows line endings",
    "encoding": "utf 8=utf8; utf 16=utf16; latin 1=latin1,iso 8859 1; ascii",
    "concurrency": "asyncio=async io,async await,asyncio tasks; thread=threads,threading,thread pool; processes="
    "multiprocessing,process pool; trio; gevent=greenlets; actor=actors; goroutine=goroutines; coroutine=coroutines;"
    " tokio; event loop; callback=callbacks",
    "number type": "cent=cents,integer cents,minor units; float=floats,floating point,double type; decimal=decimals,"
    "decimal type,numeric type; string number",
    "time zone": "utc=coordinated universal time,gmt; local time=local timezone,local time zone,user's time zone,"
    "server time,server's time zone,user's timezone,wall clock time",
    "date format": "iso 8601=iso8601,iso strings,rfc 3339; unix timestamp=unix timestamps,epoch,epoch seconds,unix time,"
    "epoch milliseconds; rfc 2822",
    "id type": "uuid=uuids,uuidv4,uuid v4,uuidv7,uuid v7,guid,guids; serial=auto increment,auto increment integers,"
    "auto increment integer,autoincrement,serial integers,bigserial,sequential integers,auto incrementing integers,"
    "sequential ids,identity column; ulid=ulids; snowflake id=snowflake ids; nanoid=nano id; cuid; natural key="
    "natural keys; slug=slugs; hash id=hashids",
    "repository layout": "monorepo=mono repo,single repository,one repository; polyrepo=poly repo,multi repo,multirepo,"
    "own repository,separate repositories,separate repository,many repositories",
    "architecture": "monolith=modular monolith; microservice=microservices; serverless; event sourcing; crud;"
    " hexagonal=ports and adapters; mvc; layered architecture; cqrs",
    "merge strategy": "squash=squashed,squashing,squash merge; rebase=rebased,rebasing; merge commit=merge commits;"
    " fast forward",
    "branch model": "trunk based=trunk based development,trunk; git flow=gitflow; github flow; release branches",
    "versioning": "semantic versioning=semver,semantic versions,semantic version; calendar versioning=calver,calendar"
    " versions; zerover",
    "licence": "mit; apache=apache 2.0,apache 2,apache license,apache licence; gpl=gplv3,gplv2,gpl 3; lgpl; agpl=agplv3;"
    " bsd=bsd 3 clause,bsd 2 clause; mpl=mpl 2.0; isc; unlicense; proprietary; cc0; bsl=business source license",
    "markup": "markdown; restructuredtext=rst,restructured text; asciidoc; latex; html; org mode; mdx; textile;"
    " confluence; wiki",
    "docs tool": "mkdocs; sphinx; docusaurus; hugo; jekyll; vitepress; gitbook; read the docs; mdbook; antora; nextra",
    "orm": "sqlalchemy; django orm; tortoise=tortoise orm; peewee; prisma; typeorm; sequelize; drizzle; hibernate;"
    " active record=activerecord; gorm; diesel; sqlx; raw sql=plain sql,handwritten sql; ecto; knex; jooq; pony;"
    " mikro orm; kysely; sqlmodel; entity framework; mybatis; sqlc",
    "migration tool": "alembic; flyway; liquibase; django migrations; prisma migrate; goose; dbmate; atlas;"
    " golang migrate; yoyo; knex migrations",
    "validation library": "pydantic; marshmallow; attrs; msgspec; zod; yup; joi; cerberus; voluptuous; dataclass="
    "dataclasses; json schema; valibot; ajv; io ts; typebox",
    "cli framework": "click; typer; argparse; docopt; fire; cobra; clap; commander; yargs; oclif; cement; urfave cli",
    "http client": "python requests; httpx; aiohttp; urllib=urllib3; axios; fetch=fetch api; got; ky;"
    " okhttp; retrofit; reqwest; guzzle; faraday; curl; superagent; undici",
    "web server": "nginx; apache httpd=apache server; caddy; traefik; haproxy; envoy; gunicorn; uvicorn; hypercorn;"
    " uwsgi; daphne; iis; tomcat; jetty; puma; kong; istio; linkerd; granian; waitress",
    "payment provider": "stripe; paypal; adyen; braintree; square; mollie; klarna; paddle; lemon squeezy; razorpay",
    "email provider": "ses=amazon ses; sendgrid; mailgun; postmark; smtp; mailchimp; resend; sparkpost; brevo",
    "feature flags": "launchdarkly; unleash; flagsmith; split; growthbook; configcat; openfeature; statsig",
    "secret store": "vault=hashicorp vault; secrets manager=aws secrets manager; parameter store; environment variables="
    "environment variable,env vars,env variables; doppler; sops; 1password; sealed secrets; keychain=keyring; key vault",
    "template engine": "jinja=jinja2; mako; handlebars; mustache; ejs; pug; liquid; erb; thymeleaf; twig; blade; nunjucks",
    "compression": "gzip=gz; zstd=zstandard; brotli; lz4; snappy; bzip2; xz; deflate; lzma",
    "cipher": "aes=aes 256,aes gcm,aes 256 gcm; chacha20=chacha20 poly1305; rsa; ed25519; ecdsa; 3des=triple des;"
    " blowfish",
    "javascript runtime": "node=node.js,nodejs; deno; bun",
    "natural language": "english=british english; american english=us english; german; french; spanish; italian; dutch;"
    " japanese; chinese; portuguese; polish",
    "delivery": "at least once; at most once; exactly once",
    "consistency": "eventual consistency=eventually consistent; strong consistency=strongly consistent; linearizable;"
    " serializable; read committed; repeatable read; snapshot isolation; read uncommitted",
    "locking": "optimistic locking=optimistic lock,optimistic concurrency,optimistic,optimistically,optimistic locks; pessimistic locking=pessimistic"
    " lock,pessimistic,pessimistically,pessimistic locks",
    "import style": "absolute imports=absolute import,absolute; relative imports=relative import,relative",
    "paradigm": "composition; inheritance; functional style; object oriented=oop",
    "rendering": "server side rendering=ssr,server rendered,rendered on the server; client side rendering=csr,client"
    " rendered,rendered on the client,rendered in the browser; static generation=ssg,statically generated,static site",
    "export style": "named export=named exports; default export=default exports",
    "component style": "function component=function components,functional components; class component=class components",
    "commit style": "conventional commits=conventional commit; gitmoji; free form commits",
    "deployment style": "blue green=blue green deployment,blue green deployments; canary=canary release,canary releases,"
    "canary deployment; rolling=rolling update,rolling updates,rolling deployment; big bang; recreate strategy",
    "deletion": "soft delete=soft deletes,soft deleted,soft deletion; hard delete=hard deletes,hard deleted,hard deletion",
    "icons": "lucide; font awesome=fontawesome; heroicons; material icons; feather icons; phosphor",
    "editor": "vs code=vscode,visual studio code; vim=neovim; emacs; pycharm; intellij",
    "dependency injection": "constructor injection; service locator; setter injection; field injection; singleton=singletons",
    "error style": "exception=exceptions; result type=result types,result objects,result object; error code="
    "error codes,return codes; sentinel value=sentinel values; panic=panics",
    "streaming mode": "batch=batches,batch processing; stream processing=streaming,streams",
    "operating system": "alpine=alpine linux; debian=debian slim; ubuntu; fedora; centos; rhel; distroless; windows;"
    " macos; amazon linux; rocky linux; arch linux; nixos; busybox; wolfi",
    "ip version": "ipv4; ipv6",
    "scheme": "http; https; ftp; sftp; ssh; scp",
    "text case": "upper case=uppercase,upper cased; lower case=lowercase,lower cased; title case; sentence case",
    "number form": "singular; plural",
    "vector store": "pinecone; weaviate; qdrant; milvus; chroma; pgvector; faiss; lancedb",
    "model provider": "openai; anthropic; gemini; bedrock; ollama; mistral; cohere; vertex ai",
}

# What a family's members are called beside their name: "JWT tokens" are JWT, but "JSON fields" are fields.
HEADS = listed(
    "database db cache queue broker format language framework library tool runner formatter linter checker manager"
    " server service services store storage token tokens authentication auth hash hashes hashing api interface"
    " pagination case indentation quote quotes licence license layout commit commits strategy type types time"
    " timestamps timestamp string strings id ids key keys cluster pipeline pipelines workflow workflows action actions"
    " bucket bearer imports exports engine provider mode style level schema schemas"
)

# Members that are also plain words: taken for the name only where it is written or used as one.
AMBIGUOUS = listed(
    "go rest make just task express rich ink fire got ant split square render less lit ember flow rocket falcon"
    " bottle pyramid express chi fiber gin click clap invoke mage buck pants nose ava karma black prettier flit hatch"
    " rye nest echo lucene temporal vault fly drone chef salt puppet flux swift dart julia crystal basic charm blessed"
    " signals alpine solid remix quartz pony diesel atlas goose sphinx unleash blade liquid slim twig caddy"
    " puma envoy istio kong iis bull tap cement sops info debug critical warning offset cursor cursors tab tabs space"
    " spaces actor actors process processes batch batches stream streams singular plural absolute relative recreate"
    " rolling trunk wiki crud polling swarm compose spring chroma prefect bamboo zap inheritance composition"
    " fetch sanic emotion parcel split mustache meson ninja nomad flask pod vim panic helm graphite"
    " drizzle peewee mako rq arq huey task tasks"
)
# Of these the plain word and the member are one; they need no capital letter.
PLAIN = listed(
    "cursor cursors tab tabs space spaces offset singular plural absolute relative rolling inheritance composition"
    " actor actors process processes polling click black flask express sphinx"
)
AMBIGUOUS = (AMBIGUOUS - PLAIN) | listed("info debug critical warning")

# axis: one side / other side. Adjectives and adverbs, verbs, and the two prepositions of time.
_OPPOSITES = (
    ("enabled", "enable enabled activate activated turn-on turned-on switched-on",
     "disable disabled deactivate deactivated turned-off switched-off"),
    ("before", "before prior-to", "after"),
    ("automatic", "automatic automatically automated auto unattended", "manual manually by-hand"),
    ("public", "public publicly", "private internal privately"),
    ("mutable", "mutable mutate mutated mutation modifiable", "immutable frozen read-only unchangeable"),
    ("blocking", "blocking", "non-blocking nonblocking"),
    ("synchronous", "synchronous sync synchronously", "asynchronous async asynchronously"),
    ("parallel", "parallel concurrently concurrent parallelized", "sequential sequentially serially one-after-another"),
    ("strict", "strict strictly", "lenient loose leniently permissive tolerant"),
    ("keep", "keep retain preserve", "delete remove drop discard purge"),
    ("open", "expanded open opened", "collapsed closed"),
    ("visible", "visible shown show display displayed", "hidden hide invisible"),
    ("eager", "eager eagerly", "lazy lazily"),
    ("stateless", "stateless", "stateful"),
    ("static", "static statically", "dynamic dynamically"),
    ("explicit", "explicit explicitly", "implicit implicitly"),
    ("encrypted", "encrypted", "unencrypted cleartext"),
    ("signed", "signed", "unsigned"),
    ("ascending", "ascending oldest-first", "descending newest-first"),
    ("nullable", "nullable", "non-null not-null non-nullable"),
    ("global", "global globally", "local locally per-user"),
    ("include", "include including included", "exclude excluding excluded omit omitted"),
    ("case", "case-sensitive", "case-insensitive"),
    ("verbose", "verbose", "quiet silent terse"),
    ("start", "start started begin", "stop stopped end"),
    ("centralized", "centralized centralised central", "decentralized decentralised distributed"),
    ("online", "online", "offline"),
    ("fast", "fail-fast fails-fast failing-fast", "best-effort fail-safe"),
    ("side", "server-side on-the-server", "client-side on-the-client in-the-client in-the-browser"),
    ("top", "top first", "bottom last"),
    ("left", "left", "right"),
    ("unique", "unique", "non-unique duplicated"),
    ("ephemeral", "ephemeral temporary transient in-memory", "persistent permanent durable persisted"),
    ("shallow", "shallow", "deep"),
    ("push", "push-based", "pull-based"),
    ("wet", "inline inlined", "external extracted"),
    ("add", "add adds adding", "remove removing"),
    ("accept", "accept accepts accepted", "reject rejects rejected refuse refused"),
    ("commit", "tracked checked-in", "untracked ignored gitignored"),
    ("minify", "minified", "unminified"),
    ("increase", "increase", "decrease reduce lower"),
    ("trust", "trusted", "untrusted"),
)  # fmt: skip
# One meaning a row; the first is the word that stands for all. Hyphens stand as spaces.
_SYNONYMS = (
    "database db datastore data-store datastores dbms",
    "main primary principal master",
    "config configuration configure configured settings setting",
    "doc documentation document docs documents",
    "auth authentication authenticate authenticates authenticated login-check authn",
    "authz authorization authorisation authorize authorise",
    "repository repo repos repositories",
    "expire expires expiry ttl lifetime valid validity time-to-live expiration live-for",
    "timeout time-out times-out timeouts timed-out timing-out deadline",
    "keep retention retain kept retains",
    "pullrequest pull-request pull-requests pr prs merge-request merge-requests mr mrs",
    "upload uploads uploaded uploaded-file uploaded-files uploading",
    "parameterised parameterized parametrised parametrized bound-parameters prepared-statements",
    "annotation type-annotation type-annotations type-hint type-hints annotations hint hints",
    "indent indentation indented indenting",
    "background-job background-jobs background-task background-tasks background-work async-task async-tasks job jobs",
    "dependency dependencies deps third-party-packages package packages",
    "fail failed failing failure failures fails",
    "startup start-up app-starts application-starts starts boot launch at-boot on-boot startup-time",
    "tui terminal-interface terminal-ui terminal-user-interface text-user-interface",
    "ui user-interface gui",
    "frontend front-end web-client web-frontend web-ui",
    "backend back-end",
    "e2e end-to-end end-to-end-test",
    "2fa two-factor-authentication two-factor mfa multi-factor-authentication multi-factor second-factor",
    "force-push force-pushes force-pushing force-pushed",
    "foreign-key foreign-keys",
    "bugfix bug-fix bug-fixes bugfixes fixed-bug",
    "error errors err failure-response",
    "exception exceptions",
    "retry retries retried retrying try-again tried-again reattempt",
    "limit limits limited cap capped restrict restricted ceiling",
    "rate-limit rate-limits rate-limited throttle throttled throttling",
    "key keyboard",
    "format formatter formatting formatted",
    "lint linter linting linted",
    "personal-data pii personally-identifiable-information",
    "secret secrets credential credentials password passwords",
    "environment env environments",
    "env-file dotenv",
    "feature-flag feature-flags feature-toggle feature-toggles",
    "endpoint endpoints route routes",
    "function functions method methods",
    "folder directory directories folders dir",
    "remove delete removed deleted deletes deletion removal erase clean-up cleans-up cleaned-up cleanup",
    "message messages msg",
    "publish publishes published emit emitted emits",
    "money monetary amounts-of-money monetary-amounts monetary-values price prices",
    "swallow swallowed suppress suppressed",
    "send sends sent deliver delivered delivery deliveries",
    "user users end-user end-users people",
    "customer customers client-account",
    "translate translatable localised localized localizable localisable i18n translated translation translations",
    "line lines",
    "accessible usable accessibility a11y",
    "test tests testing tested",
    "unit-test unit-tests",
    "check verify verified verifies checks checked verification",
    "validate validation validated validates",
    "log logs logging logged log-line log-lines",
    "image images picture pictures",
    "service services",
    "hash hashed hashing hashes",
    "update upgrade updated updates upgraded upgrades",
    "create created creates creation",
    "approval approvals approve approved sign-off reviewer-approval",
    "review reviews reviewed",
    "deploy deployment deployments deploys deployed rollout roll-out",
    "release releases released",
    "migration migrations migrate migrated",
    "change changes changed modification modifications",
    "schema schemas",
    "query queries queried",
    "depend depends rely relies",
    "access touch reach reaches touches accesses reachable",
    "network internet",
    "friday fridays",
    "monday mondays",
    "default standard",
    "branch branches",
    "licence license licensed licenced licenses",
    "infrastructure infra",
    "variable variables",
    "identifier identifiers",
    "coverage covered",
    "bundle bundler bundled bundles bundling",
    "response responses reply replies answer",
    "backup backups backed-up",
    "number count",
    "permission permissions rights",
    "metric metrics",
    "notification notifications notify notified",
    "payload payloads",
    "encrypt encrypted encryption",
    "page-size items-per-page",
    "comment comments",
    "global-state globals global-variables",
    "thread-safe threadsafe",
    "dead-letter dlq dead-letter-queue",
    "pinned pin pins pinning exact-pin",
    "supported support supports",
    "newer newest later higher",
    "request requests http-call http-calls",
    "ci continuous-integration pipeline pipelines build-pipeline",
    "deterministic reproducible",
    "mock mocks mocked stub stubs fake fakes test-double test-doubles",
    "hosting host hosts hosted",
    "stack-trace stack-traces stacktrace traceback tracebacks",
    "id identify identified identifies ids",
    "cli command-line command-line-tool command-line-interface",
    "shutdown shut-down shuts-down shutting-down",
    "rule rules logic",
    "describe described description descriptions",
    "handwritten manual hand-written by-hand manually manual-edit",
    "edit edited edits editing",
    "docstring docstrings doc-string doc-strings",
    "separator delimiter separators delimiters separated delimited",
    "concatenate join concatenation joined concatenated",
    "fast quick quickly rapid",
    "fix fixes fixed repair mend repaired",
    "bug defect defects bugs",
    "explain explanation explained",
    "own owner owners ownership owned owns",
    "receive receives received accept accepts consume",
    "fetch fetches fetched retrieve retrieves load loads loaded",
    "name named naming names called",
    "call calls called invoke invokes invocation",
    "screen page view pages views",
    "picture photo photos",
    "purchase order purchases orders",
    "mail email emails e-mail e-mails mails",
    "colour color colors colours",
    "behaviour behavior behaviors behaviours",
    "organise organize organised organized",
    "serialise serialize serialised serialized serialization",
    "initialise initialize initialised initialized",
    "root superuser",
    "administrator admin admins administrators",
    "argument parameter arguments parameters args params",
    "attribute property attributes properties",
    "generate generated generation autogenerated auto-generated",
    "instruction guideline guidelines instructions",
    "third-party external-library vendor-library",
    "concurrent simultaneous simultaneously",
    "duplicate duplicated duplication duplicates",
    "forward forwards",
    "vulnerability vulnerabilities cve",
    "observability telemetry",
    "notify alert alerts alerting",
    "automatic automatically automated",
)

# Words that carry no meaning of their own here.
STOP = listed(
    "after before without older a an the this that these those it its their our your my we us they them he she i you is are was were be been being"
    " am of in on at to for from by with as into onto through via per than then so and or but if when while where which"
    " who whom whose what how there here also just too very such same own other another both all any each every some"
    " do does did done have has had having will would shall can could might up down out off over under about again"
    " only ever still yet because since until till during within between among across against toward towards s t"
    " don doesn isn aren won didn t ll re ve etc eg ie now new always never must not no nor none should may please"
    " please ought need needs needed require requires required let lets make makes made sure way ways thing things"
    " get gets getting got everything anything everywhere fine ok okay well whole entire everyone time times time's"
    " once already instead rather longer away back go goes going see one's prefer preferred avoid avoided allowed"
    " forbidden prohibited permitted allow permit forbid disallow disallowed ban banned strictly simply directly"
    " everybody nobody nothing somewhere inside outside upon therefore thus hence one most least above below"
)

# Words so common in memory that they neither make two subjects the same nor keep them apart.
LIGHT = listed(
    "use run write build live store put hold keep set define make manage handle project code app application system"
    " size length max maximum min minimum limit long newer support contain have serve listen provide represent save"
    " persist install implement follow go talk exist stay remain apply work perform take give return expose"
    " add include introduce adopt choose pick select goal library framework tool technology value data item instance"
    " style approach default standard format team require written team's own happen appear go last part"
    " count major level late interface file object element come"
)

# What is done to the subject: two of these that differ make two subjects of one noun.
ACTIONS = listed(
    "store show display render send log test delete validate sort compress encrypt index parse export import fetch"
    " publish deploy hash name sign download upload cache retry review lint search filter paginate"
)

IRREGULAR = {
    "built": "build", "written": "write", "wrote": "write", "sent": "send", "held": "hold", "ran": "run",
    "shown": "show", "taken": "take", "given": "give", "chosen": "choose", "drawn": "draw", "broken": "break",
    "thrown": "throw", "threw": "throw", "hidden": "hide", "caught": "catch", "bought": "buy", "read-only": "immutable",
    "spoken": "speak", "driven": "drive", "begun": "begin", "kept": "keep", "stored": "store", "used": "use",
    "found": "find", "put": "put", "sold": "sell", "paid": "pay", "lost": "lose", "left": "leave", "met": "meet",
    "split": "split", "children": "child", "people": "user", "indices": "index", "indexes": "index",
    "schemata": "schema", "criteria": "criterion", "data": "data", "media": "media", "frozen": "freeze",
}  # fmt: skip

NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "ninety": 90, "hundred": 100, "thousand": 1000, "once": 1, "twice": 2, "thrice": 3, "single": 1,
    "dozen": 12, "million": 1_000_000,
}  # fmt: skip

# unit -> (what is measured, how much of the base unit it is). Seconds, bytes.
UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), ("time", 1e-9)),
    **dict.fromkeys(("us", "microsecond", "microseconds"), ("time", 1e-6)),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), ("time", 1e-3)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day", "days"), ("time", 86400.0)),
    **dict.fromkeys(("w", "week", "weeks"), ("time", 604800.0)),
    **dict.fromkeys(("month", "months"), ("time", 2592000.0)),
    **dict.fromkeys(("year", "years", "yr"), ("time", 31536000.0)),
    **dict.fromkeys(("b", "byte", "bytes"), ("size", 1.0)),
    **dict.fromkeys(("kb", "kilobyte", "kilobytes", "k"), ("size", 1e3)),
    **dict.fromkeys(("mb", "megabyte", "megabytes"), ("size", 1e6)),
    **dict.fromkeys(("gb", "gigabyte", "gigabytes"), ("size", 1e9)),
    **dict.fromkeys(("tb", "terabyte", "terabytes"), ("size", 1e12)),
    "kib": ("size", 1024.0),
    "mib": ("size", 1024.0**2),
    "gib": ("size", 1024.0**3),
    "tib": ("size", 1024.0**4),
    **dict.fromkeys(("%", "percent", "pct"), ("percent", 1.0)),
    **dict.fromkeys(("px", "pixel", "pixels"), ("pixels", 1.0)),
}
# Written out, they are units also without a number: "an hour", "per minute", "daily".
PERIODS = {"hourly": 3600.0, "daily": 86400.0, "nightly": 86400.0, "weekly": 604800.0, "monthly": 2592000.0}


def _rows(table: str) -> list[tuple[str, tuple[str, ...]]]:
    found = []
    for row in table.split(";"):
        name, _, others = row.strip().partition("=")
        found.append((name, tuple(other.strip() for other in others.split(",") if other.strip())))
    return found


def _families() -> dict[str, tuple[tuple[str, str], ...]]:
    """Each way to write a member -> the families it is in, and its name there."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for family, table in _FAMILIES.items():
        for name, others in _rows(table):
            for written in (name, *others):
                found[written] = (*found.get(written, ()), (family, name))
    return found


def _poles() -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    for axis, one, other in _OPPOSITES:
        for side, words in ((1, one), (-1, other)):
            for word in words.split():
                found.setdefault(word.replace("-", " "), (axis, side))
    return found


MEMBERS = _families()
POLES = _poles()
SYNONYMS = {
    written.replace("-", " "): row.split()[0].replace("-", " ")
    for row in _SYNONYMS
    for written in row.split()
}
