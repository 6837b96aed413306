"""Formats of tokens that are recognized by their form, as a table of kind, marks and pattern.

A text must contain one of the lowercase marks to match. The marks are searched first, because that is much
cheaper. If a pattern has a group `value`, the group is the secret, otherwise the whole match. A function in
the last column says if the match is live.
"""

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

import msgspec

from agentplane.scan.secrets.plain_text import Lowered, Marks, marks_of
from agentplane.scan.secrets.values import (
    is_basic,
    is_filler,
    is_random,
    is_reference,
    is_secret,
    is_stand_in,
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class Format(msgspec.Struct, frozen=True):
    kind: str
    marks: Marks
    form: str
    is_live: Callable[[str], bool]

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when a mark is first found. Most texts need no pattern."""
        return _compiled(self.form)

    @property
    def group(self) -> str | int:
        return "value" if "(?P<value>" in self.form else 0


def _is_token(value: str) -> bool:
    return not is_filler(value)


def _is_jwt(value: str) -> bool:
    middle = value.split(".")[1]
    try:
        claims = base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4))
    except ValueError:
        claims = b""
    return b"John Doe" not in claims and not is_filler(value.rpartition(".")[2] + value)


def _is_random_token(value: str) -> bool:
    return is_random(value) and not is_stand_in(value)


def _is_credential(value: str) -> bool:
    return (
        len(value) >= 12
        and not (is_stand_in(value) or is_reference(value))
        and not re.fullmatch(r"[a-z_-]+|[A-Z_]+", value)
    )


def _is_live_basic(value: str) -> bool:
    return is_basic(value)


def _is_word_of_wifi(value: str) -> bool:
    return is_secret(value, strong=True, quoted=True)


_B64 = r"[0-9A-Za-z+/]"
_URL = r"[0-9A-Za-z_-]"
_AN = r"[0-9A-Za-z]"
_GAP = r"(?:\\{1,4}[nr]|[\s>|+])"
# The text that a diff, a log or an editor puts before a line of a key.
_BEFORE = r"(?:[ \t+>|\-\d.:,\]\[]|\d{4}-\d\d-\d\dT[\d:.,]{5,15}Z?|INFO|DEBUG|WARN|ERROR){0,40}"

FORMATS = tuple(
    Format(kind, marks_of(*marks), pattern, is_live)
    for kind, marks, pattern, is_live in (
        (
            "an AWS access key",
            ("akia", "asia", "abia", "acca", "abska"),
            r"(?<![0-9A-Za-z])(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])|ABSKA[0-9A-Za-z+/=]{60}",
            _is_token,
        ),
        (
            "a GitHub token",
            ("github_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
            r"(?:github_pat_[0-9A-Za-z_]{30,255}|gh[pousr]_[0-9A-Za-z]{36,255})",
            _is_token,
        ),
        (
            "a GitLab token",
            (
                "glpat-",
                "gldt-",
                "glrt-",
                "glptt-",
                "glcbt-",
                "glft-",
                "glsoat-",
                "glagent-",
                "gloas-",
                "glimt-",
                "glffct-",
                "gr1348941",
            ),
            rf"(?:gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|oas|imt|ffct)-(?:t\d_)?|GR1348941){_URL}{{20,300}}(?:\.[0-9a-z]{{2}}\.[0-9a-z]{{7,9}})?",
            _is_token,
        ),
        ("an Anthropic key", ("sk-ant-",), rf"sk-ant-{_URL}{{24,200}}", _is_token),
        (
            "an OpenAI key",
            ("sk-",),
            rf"(?<![0-9A-Za-z])sk-(?:(?:proj|svcacct|admin|or-v1|None)-{_URL}{{24,300}}|{_AN}{{20}}T3BlbkFJ{_AN}{{20}}|(?=[a-z-]{{0,39}}[0-9A-Z]){_AN}{{32,64}})(?![0-9A-Za-z])",
            _is_token,
        ),
        ("a Google API key", ("aiza",), rf"AIza{_URL}{{35}}", _is_token),
        (
            "a Google OAuth token",
            ("ya29.", "gocspx-", "1//0"),
            rf"(?:ya29\.[0-9A-Za-z_.-]{{24,400}}|GOCSPX-{_URL}{{20,40}}|(?<![0-9A-Za-z:/])1//0{_URL}{{40,120}})",
            _is_token,
        ),
        (
            "a Hugging Face token",
            ("hf_", "api_org_"),
            rf"(?<![0-9A-Za-z_])(?:hf_|api_org_){_AN}{{30,60}}",
            _is_token,
        ),
        ("an npm token", ("npm_",), rf"(?<![0-9A-Za-z_])npm_{_AN}{{36}}", _is_token),
        ("a PyPI token", ("pypi-ag",), rf"pypi-Ag{_URL}{{50,400}}", _is_token),
        (
            "a Slack token",
            ("xox", "xapp-", "xwfp-"),
            r"xox[abdeoprs](?:\.xox[bp])?-[0-9A-Za-z-]{16,400}|x(?:app|wfp)-[0-9A-Za-z]{1,12}-[0-9A-Za-z-]{16,400}",
            _is_token,
        ),
        (
            "a Slack webhook",
            ("hooks.slack.com/",),
            r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[TE][0-9A-Za-z]{6,14}/[0-9A-Za-z/]{20,80})",
            _is_token,
        ),
        (
            "a Stripe key",
            ("k_live_", "k_test_", "whsec_"),
            rf"(?<![0-9A-Za-z])(?:[rs]k_(?:live|test)_{_AN}{{20,250}}|whsec_[0-9A-Za-z+/=]{{20,80}})",
            _is_token,
        ),
        ("a Twilio key", ("ac", "sk"), r"(?<![0-9A-Za-z])(?:AC|SK)[0-9a-f]{32}(?![0-9A-Za-z])", _is_token),
        ("a SendGrid key", ("sg.",), rf"(?<![0-9A-Za-z])SG\.{_URL}{{16,24}}\.{_URL}{{30,64}}", _is_token),
        ("a DigitalOcean token", ("_v1_",), r"do[opr]_v1_[0-9a-f]{40,64}", _is_token),
        (
            "a Shopify token",
            ("shpat_", "shpca_", "shppa_", "shpss_"),
            r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
            _is_token,
        ),
        ("an age key", ("age-secret-key-",), r"(?i:AGE-SECRET-KEY-(?:PQ-)?1)[0-9A-Za-z]{40,120}", _is_token),
        (
            "a minisign key",
            ("rwrty0iy", "minisign encrypted secret key"),
            rf"RWRTY0Iy{_B64}{{60,300}}={{0,2}}",
            _is_token,
        ),
        ("a Vault token", ("hvs.", "hvb.", "hvr."), rf"(?<![0-9A-Za-z])hv[sbr]\.{_URL}{{24,300}}", _is_token),
        ("a Linear key", ("lin_api_", "lin_oauth_"), rf"lin_(?:api|oauth)_{_AN}{{32,64}}", _is_token),
        ("a Mailgun key", ("key-",), r"(?<![\w-])key-[0-9a-f]{32}(?![0-9A-Za-z])", _is_token),
        ("a Mailchimp key", ("-us",), r"(?<![0-9A-Za-z])[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])", _is_token),
        (
            "a Databricks token",
            ("dapi", "dkea", "dose"),
            r"(?<![0-9A-Za-z])(?:dapi|dkea|dose)[0-9a-f]{32}",
            _is_token,
        ),
        ("a Postman key", ("pmak-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", _is_token),
        (
            "a Supabase token",
            ("sbp_", "sb_secret_"),
            rf"sbp_(?:v0_)?[0-9a-f]{{40}}|sb_secret_{_URL}{{24,60}}",
            _is_token,
        ),
        ("a RubyGems key", ("rubygems_",), r"rubygems_[0-9a-f]{48}", _is_token),
        (
            "a Brevo key",
            ("xkeysib-", "xsmtpsib-"),
            rf"x(?:key|smtp)sib-[0-9a-f]{{64}}-{_AN}{{16}}",
            _is_token,
        ),
        ("a Groq key", ("gsk_",), rf"gsk_{_AN}{{40,60}}", _is_token),
        ("an xAI key", ("xai-",), rf"(?<![0-9A-Za-z])xai-{_AN}{{60,100}}", _is_token),
        ("a Replicate token", ("r8_",), rf"(?<![0-9A-Za-z])r8_{_AN}{{36,40}}", _is_token),
        ("a Perplexity key", ("pplx-",), rf"pplx-{_AN}{{40,60}}", _is_token),
        ("a Figma token", ("figd_", "figo_"), rf"fig[do]_{_URL}{{36,60}}", _is_token),
        ("a Docker Hub token", ("dckr_pat_", "dckr_oat_"), rf"dckr_[po]at_{_URL}{{24,40}}", _is_token),
        (
            "a Grafana token",
            ("glsa_", "glc_ey"),
            rf"glsa_{_AN}{{32}}_[0-9a-fA-F]{{8}}|glc_eyJ[0-9A-Za-z+/]{{32,400}}={{0,2}}",
            _is_token,
        ),
        (
            "an Atlassian token",
            ("atatt3", "atctt3", "atbb"),
            rf"AT(?:ATT|CTT)3[0-9A-Za-z_=-]{{60,250}}|(?<![0-9A-Za-z])ATBB{_AN}{{32}}",
            _is_token,
        ),
        ("a Sentry token", ("sntry",), r"sntry[su]_[0-9A-Za-z_=+/-]{40,400}", _is_token),
        (
            "a New Relic key",
            ("nrak-", "nrjs-", "nraa-", "nrii-", "nral"),
            rf"NR(?:AK|AA|II|IQ|RA|BR)-{_URL}{{27,40}}|(?<![0-9A-Za-z])[0-9a-f]{{36}}NRAL",
            _is_token,
        ),
        (
            "a Discord webhook",
            ("/webhooks/",),
            rf"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/[0-9]{{10,22}}/{_URL}{{60,90}}",
            _is_token,
        ),
        (
            "a Discord bot token",
            (".",),
            rf"(?<![0-9A-Za-z_.-])[MNO][0-9A-Za-z_-]{{22,28}}\.{_URL}{{6}}\.{_URL}{{27,45}}(?![0-9A-Za-z_.-])",
            _is_token,
        ),
        (
            "a Telegram bot token",
            (":aa",),
            rf"(?<![0-9])[0-9]{{7,12}}:AA{_URL}{{32,34}}(?![0-9A-Za-z_-])",
            _is_token,
        ),
        (
            "an Azure AD secret",
            ("q~",),
            r"(?<![0-9A-Za-z_~.-])[0-9A-Za-z_~.-]{3}\dQ~[0-9A-Za-z_~.-]{31,34}(?![0-9A-Za-z_~.-])",
            _is_token,
        ),
        (
            "an Azure storage key",
            ("accountkey=", "sharedaccesskey=", "azcs", "+astr", "apim", "acdb"),
            rf"(?i:AccountKey|SharedAccessKey)=(?P<value>{_B64}{{40,100}}={{0,2}})|(?<![0-9A-Za-z+/]){_B64}{{52,76}}(?:AzCS|AzSe|APIM|ACDb|\+ASt|\+AMC|\+ABa){_B64}{{0,10}}={{0,2}}",
            _is_token,
        ),
        ("an Azure signature", ("sig=",), r"(?<=[?&;])sig=(?P<value>[0-9A-Za-z%+/=_-]{40,140})", _is_token),
        (
            "a Square token",
            ("eaaa", "sq0csp-", "sq0atp-", "sq0idp-"),
            rf"sq0(?:csp|atp)-{_URL}{{22,43}}|(?<![0-9A-Za-z])EAAA[a-zA-Z0-9_-]{{60,64}}(?![0-9A-Za-z])",
            _is_token,
        ),
        (
            "an Artifactory token",
            ("akcp", "cmvmdgtu"),
            rf"(?<![0-9A-Za-z+/=])AKCp{_AN}{{64,75}}(?![0-9A-Za-z])|cmVmdGtu{_AN}{{50,60}}",
            _is_token,
        ),
        (
            "a Cloudflare token",
            ("cfut_", "cfat_", "cfk_", "v1.0-"),
            rf"cf(?:ut|at|k)_{_URL}{{40,60}}|(?<![0-9A-Za-z])v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{146}}",
            _is_token,
        ),
        ("a Terraform token", (".atlasv1.",), rf"{_AN}{{14}}\.atlasv1\.{_URL}{{60,70}}", _is_token),
        ("a Pulumi token", ("pul-",), r"(?<![0-9A-Za-z])pul-[0-9a-f]{40}", _is_token),
        (
            "a Doppler token",
            ("dp.",),
            rf"(?<![0-9A-Za-z])dp\.(?:pt|st|sa|ct|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?{_AN}{{40,44}}",
            _is_token,
        ),
        ("a PlanetScale token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[0-9A-Za-z_.=-]{32,64}", _is_token),
        (
            "a Notion token",
            ("ntn_", "secret_"),
            rf"(?<![0-9A-Za-z])ntn_{_AN}{{40,50}}|(?<![0-9A-Za-z_])secret_(?=[a-z]{{0,42}}[0-9A-Z]){_AN}{{43}}(?![0-9A-Za-z])",
            _is_token,
        ),
        ("an Airtable token", ("pat",), r"(?<![0-9A-Za-z])pat[0-9A-Za-z]{14}\.[0-9a-f]{64}", _is_token),
        (
            "an Asana/ClickUp token",
            ("pk_",),
            r"(?<![0-9A-Za-z])pk_\d{6,10}_[0-9A-Z]{32}(?![0-9A-Za-z])",
            _is_token,
        ),
        (
            "a Fly token",
            ("fm1", "fm2_"),
            r"FlyV1 fm\d[ar]?_[0-9A-Za-z+/=,_ ]{60,800}|(?<![0-9A-Za-z])fm[12][ar]?_[0-9A-Za-z+/=]{60,800}",
            _is_token,
        ),
        ("a Contentful token", ("cfpat-",), rf"CFPAT-{_URL}{{43}}", _is_token),
        ("a Dynatrace token", ("dt0",), r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", _is_token),
        ("a Tailscale key", ("tskey-",), rf"tskey-[a-z]{{2,12}}-{_URL}{{12,60}}", _is_token),
        ("a Buildkite token", ("bkua_", "bkat_"), r"bk[ua][at]_[0-9a-f]{40}", _is_token),
        (
            "a Sourcegraph token",
            ("sgp_",),
            r"(?<![0-9A-Za-z])sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}",
            _is_token,
        ),
        ("an easypost key", ("ezak", "eztk"), rf"(?<![0-9A-Za-z])EZ[AT]K{_AN}{{54}}", _is_token),
        ("a LangSmith key", ("lsv2_",), r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", _is_token),
        (
            "a 1Password token",
            ("ops_ey", "a3-"),
            r"ops_eyJ[0-9A-Za-z+/_=-]{100,2000}|(?<![0-9A-Za-z])A3-[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})(?:-[0-9A-Z]{5}){3}",
            _is_token,
        ),
        (
            "an Adafruit/Heroku key",
            ("aio_", "hrku-"),
            rf"(?<![0-9A-Za-z])aio_{_AN}{{28}}|HRKU-{_URL}{{36,64}}",
            _is_token,
        ),
        (
            "a Facebook token",
            ("eaac", "eaab", "eaam"),
            rf"(?<![0-9A-Za-z+/])EAA[CBM]{_AN}{{80,300}}",
            _is_token,
        ),
        (
            "a JWT",
            ("eyj",),
            rf"(?<![0-9A-Za-z])ey[JI]{_URL}{{8,2000}}\.ey[JI]{_URL}{{4,8000}}\.{_URL}{{6,2000}}",
            _is_jwt,
        ),
        # Hashes of crypt(3), whose owner can guess passwords offline. Bcrypt hashes count only after a user
        # name, as htpasswd writes them. Elsewhere they are rows of a database or a test.
        (
            "a password hash",
            ("$1$", "$5$", "$6$", "$y$", "$gy$", "$7$", "$apr1$", "$md5$", "$sha1$"),
            (
                r"\$(?:1|apr1)\$[0-9A-Za-z./]{1,8}\$[0-9A-Za-z./]{22}(?![0-9A-Za-z./])|"
                r"\$[56]\$(?:rounds=\d{1,9}\$)?[^\s$:\"']{1,16}\$[0-9A-Za-z./]{43,86}(?![0-9A-Za-z/])|"
                r"\$(?:g?y|7)\$[0-9A-Za-z./]{1,40}\$(?:[0-9A-Za-z./]{1,86}\$)?[0-9A-Za-z./]{22,60}|"
                r"\$(?:md5|sha1)[$,][^\s:\"']{1,40}\$[0-9A-Za-z./]{22,40}"
            ),
            _is_token,
        ),
        (
            "a password hash",
            ("$2a$", "$2b$", "$2y$"),
            r"(?<![\w.-])[\w.@-]{1,60}:(?P<value>\$2[aby]\$\d\d\$[0-9A-Za-z./]{53})(?![0-9A-Za-z./])",
            _is_token,
        ),
        (
            "a password hash",
            ("{ssha", "{sha}", "{smd5}", "{sha256}", "{sha512}", "{crypt}", "{pbkdf2"),
            r"(?i:\{(?:ssha|sha|smd5|ssha256|ssha512|sha256|sha512|crypt|pbkdf2[\w-]{0,10})\})[0-9A-Za-z+/.$]{16,140}={0,2}",
            _is_token,
        ),
        (
            "a Dropbox token",
            ("sl.",),
            rf"(?<![0-9A-Za-z.])sl\.(?:[a-z]{{1,2}}\.)?{_URL}{{100,1500}}",
            _is_token,
        ),
        (
            "a Mapbox token",
            ("sk.eyj", "tk.eyj"),
            rf"(?<![0-9A-Za-z.])[st]k\.eyJ{_URL}{{20,400}}\.{_URL}{{16,60}}",
            _is_token,
        ),
        # Tokens with a prefix for the service or its purpose, before 20 or more letters and digits.
        (
            "a service's token",
            (
                "rnd_",
                "phx_",
                "phc_",
                "ccipat_",
                "nfp_",
                "nfc_",
                "tfp_",
                "pmat-",
                "shippo_",
                "waka_",
                "ddp_",
                "tvly-",
                "nvapi-",
                "csk-",
                "jina_",
                "pcsk_",
                "apify_api_",
                "clojars_",
                "lip_",
                "pnu_",
                "duffel_",
                "flwseck",
                "igqv",
                "eaag",
                "sk-lf-",
                "fc-",
                "e2b_",
                "bb_",
                "vcp_",
                "vca_",
                "cio",
                "exa_",
                "fal_",
                "key_live_",
                "sk_prod_",
                "sk_sandbox_",
                "secret_live_",
                "secret_test_",
                "live_",
                "test_",
                "sk-or-",
                "together_",
                "fw_",
                "tgp_v1_",
                "cr_",
                "mcp_",
                "sb_secret_",
                "dd_",
                "bkua_",
                "dop_",
                "sec_",
                "frp_",
                "hc_",
                "ubdb",
                "ory_",
                "unkey_",
                "wandb_",
                "trigger_",
                "tr_",
                "svix_",
                "knock_",
                "inf_",
                "r2_",
                "uploadthing",
                "clerk_",
                "scw-",
                "scwa",
                "lsk_",
                "zpka_",
                "gsk_",
                "sntryi_",
                "atlasv1",
                "rg_",
                "tok_",
                "ptla_",
                "ptlc_",
                "kv_",
                "doo_",
                "rzp_",
            ),
            (
                rf"(?<![0-9A-Za-z_-])(?:(?:rnd|phx|nfp|nfc|ddp|pcsk|jina|lip|pnu|e2b|vcp|vca|tgp_v1|sb_secret|ory_(?:at|rt|pat|st|sl)|frp|unkey|exa|lsk|zpka|ptl[ac]|clerk|svix|trigger|knock|apify_api|duffel_(?:test|live)|shippo_(?:test|live)|"
                rf"(?:key|secret|sk)_(?:live|test|prod|sandbox))_(?=[A-Za-z_-]{{0,60}}[0-9]){_URL}{{20,200}}|(?:live|test)_(?=[a-zA-Z]{{0,40}}[0-9])(?:[0-9a-f]{{40}}|[0-9A-Za-z]{{30,35}})|"
                rf"rzp_(?:live|test)_{_AN}{{14}}|CCIPAT_{_AN}{{22}}_[0-9a-f]{{40}}|tfp_{_URL}{{40,70}}|PMAT-{_AN}{{26}}|"
                rf"(?:waka_|sk-lf-)[0-9a-f]{{8}}-(?:[0-9a-f]{{4}}-){{3}}[0-9a-f]{{12}}|tvly-(?:dev-|prod-)?{_AN}{{32}}|nvapi-{_URL}{{60,70}}|csk-{_AN}{{40,60}}|CLOJARS_[0-9a-f]{{60}}|"
                rf"FLWSECK(?:_TEST)?-[0-9a-f]{{12,40}}-X|IGQV{_URL}{{80,300}}|EAAG{_AN}{{80,300}}|fc-[0-9a-f]{{32}}|"
                rf"scw-[0-9a-f]{{8}}-(?:[0-9a-f]{{4}}-){{3}}[0-9a-f]{{12}})(?![0-9A-Za-z])"
            ),
            _is_token,
        ),
        (
            "a service's token",
            ("access_token$", "swmtkn-1-", "amzn.mws.", "::server:", "oy2", "4/0a", "re_"),
            (
                rf"access_token\$(?:production|sandbox)\$[0-9a-z]{{16}}\$[0-9a-f]{{32}}|SWMTKN-1-[0-9a-z]{{40,60}}-[0-9a-z]{{20,30}}|amzn\.mws\.[0-9a-f]{{8}}-(?:[0-9a-f]{{4}}-){{3}}[0-9a-f]{{12}}|"
                rf"(?<![0-9A-Za-z])K10[0-9a-f]{{64}}::server:[0-9A-Za-z]{{8,64}}|(?<![0-9A-Za-z])oy2(?=[a-z]{{0,42}}\d)[0-9a-z]{{43}}(?![0-9A-Za-z])|(?<![0-9A-Za-z/])4/0A{_URL}{{40,120}}|"
                rf"(?<![0-9A-Za-z_])re_{_AN}{{8}}_{_AN}{{24}}(?![0-9A-Za-z])"
            ),
            _is_token,
        ),
        (
            "a cookie that opens a cluster",
            ("erlang", "release_cookie", "-setcookie"),
            r"(?:(?i:erlang[_.-]?cookie|release_cookie)[\"']?\s{0,2}[:=]{1,2}\s{0,2}|-setcookie\s)[\"']?(?P<value>[0-9A-Za-z_-]{12,120})(?![\w.({-])",
            _is_token,
        ),
        (
            "a token that joins a cluster",
            ("--token", "discovery-token", "tlsbootstraptoken"),
            r"(?i:(?:--token|--discovery-token|tlsbootstraptoken)[ =:]{1,2}[\"']?)(?P<value>[a-z0-9]{6}\.[a-z0-9]{16})(?![a-z0-9])",
            _is_token,
        ),
        (
            "a key's second half",
            ("secretid", "secret_id", "secret id"),
            r"(?<![A-Za-z_-])(?i:secret[ _]?id)[\"']?\s{0,2}(?:[:=]|\s)\s{0,12}[\"']?(?P<value>[0-9A-Za-z-]{32,44})(?![\w/-])",
            _is_random_token,
        ),
        (
            "a key of a Wi-Fi",
            ("psk=", "wpa_passphrase=", "psk:"),
            r"(?<![A-Za-z])(?i:psk|wpa_passphrase)\s{0,2}[=:]\s{0,2}[\"']?(?P<value>[^\s\"'$<>{}]{8,64})",
            _is_word_of_wifi,
        ),
        (
            "a key of a gossip",
            ("encrypt",),
            r"(?<![\w.-])(?i:encrypt)[\"']?\s{0,2}[:=]\s{0,2}[\"'](?P<value>[0-9A-Za-z+/]{22,44}={0,2})[\"']",
            _is_random_token,
        ),
        (
            "an encrypted token",
            ("eyj",),
            rf"(?<![0-9A-Za-z])eyJ{_URL}{{16,2000}}\.{_URL}{{0,1000}}\.{_URL}{{12,400}}\.{_URL}{{8,8000}}\.{_URL}{{16,100}}",
            _is_token,
        ),
        (
            "a private key",
            (
                "miie",
                "b3blbnnzac1rzxktdj",
                "mhcca",
                "mc4caqaw",
                "miij",
                "miig",
                "migh",
                "mihc",
                "mgccaq",
                "miic",
                "miib",
                "lqo",
                "lqd",
            ),
            rf"(?<![0-9A-Za-z+/])(?:MII[CEGJB][0-9A-Za-z+/]{{1,3}}(?:IBAAKC|ADANBgkqhkiG9w0BAQEFAASC|QIBADANBgkq)|b3BlbnNzaC1rZXktdj|MHcCAQEEI|MC4CAQAwBQYDK2VwBCIEI|MIGHAgEAMBMGByqGSM49|MIGkAgEBBD|MIHcAgEBBE|lQ[OdIHP][SYs]BG)(?:{_GAP}{{0,12}}[0-9A-Za-z+/=]{{4,2000}}){{1,400}}",
            _is_token,
        ),
        (
            "an HTTP credential",
            ("basic",),
            r"(?i:(?:authorization|auth|header)\b.{0,6}[:=,]\s{0,2}[\"']?basic )\s{0,2}(?P<value>[0-9A-Za-z+/_-]{8,400}={0,2})",
            _is_live_basic,
        ),
        (
            "an HTTP credential",
            ("bearer ", "token ", "apikey ", "api-key ", "authorization"),
            r"(?i:authorization\b.{0,6}[:=,]\s{0,2}[\"']?(?:bearer|ssws|token|apikey|api-key|key|genie-?key|pat|oauth|hmac|splunk|negotiate|digest)[ :=\"']{1,3}|\bbearer )\s{0,2}(?P<value>[0-9A-Za-z+/_.=~:-]{12,4000})",
            _is_credential,
        ),
        (
            "an HTTP credential",
            ("authorization",),
            r"(?i:authorization\b[\"']?\]?\s{0,2}[:=,]\s{0,2}[\"']?)(?P<value>[0-9A-Za-z+/_.=~-]{16,4000})(?![0-9A-Za-z+/_.=~ -])",
            _is_random_token,
        ),
        (
            "a login of a registry",
            ("auth",),
            r"(?i:[\"']?_?auth[\"']?)\s{0,2}[:=]\s{0,2}[\"']?(?P<value>[0-9A-Za-z+/]{8,400}={0,2})(?![0-9A-Za-z+/])",
            _is_live_basic,
        ),
        (
            "a session cookie",
            ("cookie", " -b ", "phpsessid", "jsessionid", "connect.sid", "asp.net_sessionid", "_session="),
            (
                r"(?i:cookie[\"']?\s{0,2}[:=,]\s{0,2}[\"']?(?:[^\n;\"']{1,200};\s?){0,6}?|\s-b\s{0,2}[\"']?|--cookie[ =][\"']?|(?=phpsessid|jsessionid|connect\.sid|asp\.net_sessionid)|(?<![\w-])_[a-z]{2,20}(?=_session=))"
                r"(?i:[\w.-]{0,24}(?:sess|sid|auth|jwt|token|remember)[\w.-]{0,16})=(?P<value>[0-9A-Za-z%+/_.:~-]{16,400})"
            ),
            _is_random_token,
        ),
        (
            "a one-time password's seed",
            ("otpauth://", "totp", "otp", "2fa", "mfa"),
            r"(?i:otpauth://[^\s\"']{1,200}?[?&]secret=|\b(?:totp|otp|2fa|mfa)[\w -]{0,12}(?:secret|seed|key)[\"']?\s{0,2}(?:[:=]|is)\s{0,2}[\"']?)(?P<value>[A-Za-z2-7]{16,128})(?![0-9A-Za-z])",
            _is_token,
        ),
        (
            "a JWK",
            ('"kty"', "'kty'"),
            rf"[\"'](?:d|k|p|q|dp|dq|qi)[\"']\s{{0,2}}:\s{{0,2}}[\"'](?P<value>{_URL}{{16,1000}})[\"']",
            _is_token,
        ),
        (
            "a client key",
            ("client-key-data", "private-key-data"),
            r"(?:client-key-data|private-key-data)[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?P<value>[0-9A-Za-z+/=]{24,20000})",
            _is_token,
        ),
    )
)

_OF_BEGIN: Mapping[bytes, tuple[int, ...]] = {
    begin: tuple(place for place, form in enumerate(FORMATS) if begin in form.marks.by_begin)
    for begin in {begin for form in FORMATS for begin in form.marks.by_begin}
}
_ALWAYS = frozenset(place for place, form in enumerate(FORMATS) if form.marks.short)


def possible(low: Lowered) -> Iterable[Format]:
    """Return the formats whose marks a text can contain, in the order of the table."""
    if low.triples is None:
        return FORMATS
    places = _ALWAYS.union(*(_OF_BEGIN[begin] for begin in _OF_BEGIN.keys() & low.triples))
    return (FORMATS[place] for place in sorted(places))


WRAPPED = tuple(
    form
    for form in FORMATS
    if form.group == 0 and form.kind != "a private key" and min(map(len, form.marks.words)) > 3
)
"""Formats that are also searched across wrapped lines."""

_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
KEY_BEGIN = re.compile(_BEGIN)
KEY_END = re.compile(_END)
PUTTY = re.compile(r"Private-Lines: \d{1,4}\s")
KEY_LINE = re.compile(
    rf"{_BEFORE}(?P<body>[0-9A-Za-z+/=]{{1,1700}}(?:(?:\\{{1,4}}[nr]|[ ])+[0-9A-Za-z+/=]{{4,100}})*)(?:\\{{1,4}}[nr])?[\"',;|]{{0,4}}\s{{0,4}}$"
)
KEY_HEADER = re.compile(r".{0,60}(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|Private-MAC): .{0,200}$")
KEY_EMPTY = re.compile(
    r"[ \t+>|-]{0,20}(?:\d{4}-\d\d-\d\dT[\d:.,]{5,15}Z?[ \t]*(?:INFO|DEBUG|WARN|ERROR)?)?[ \t]*$"
)
