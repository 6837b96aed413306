"""Word patterns in proposals for text aimed at its reader, commands to run unread code, and temporary news.

Every gap in a pattern is bounded and no repetition contains another one, so time is linear in the length of
the text.
"""

import re
import unicodedata
from collections.abc import Iterator

from agentplane.text import visible


# Letters of other scripts that look like Latin letters. Attackers use them to pass a filter.
_TWINS = str.maketrans("аеорсухіјѕԁһӏɡνο", "aeopcyxijsdhlgvo")
_BLANKS = re.compile(r"[^\S\n]+")


def folded(text: str) -> str:
    """Return lower case with uniform quotes and blanks, without hidden characters and look-alikes. Lines are
    kept.
    """
    if not text.isascii():
        unseen = {hit.char for hit in visible.hidden(text)} - {"\r"}
        if unseen:
            text = "".join(char for char in text if char not in unseen)
        text = unicodedata.normalize("NFKC", text).translate(_TWINS)
    text = text.lower().translate(_TWINS).replace("\u2019", "'").replace("\u2018", "'")
    return _BLANKS.sub(" ", text)


_READER = r"(?:user|human|reviewer|operator|maintainer|person)"
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|original|existing)"
_TOOLS = r"(?:claude|copilot|codex|gemini|cursor|chatgpt|ai|llm|assistants?|agents?)"
_ORDERS = r"(?:instructions?|prompts?|directions|guidance|guidelines|guardrails|orders|directives)"

_AIMED = tuple(
    (what, re.compile(pattern))
    for what, pattern in (
        (
            "tells its reader to ignore earlier instructions",
            (
                rf"\b(?:ignore|disregard|forget|override|bypass)\s(?:\w{{1,12}}\s){{0,3}}"
                rf"(?:{_EARLIER}\s(?:\w{{1,12}}\s){{0,2}}(?:{_ORDERS}|rules|messages you)|your\s(?:\w{{1,12}}\s)?{_ORDERS}|"
                rf"all\s(?:of\s)?(?:the\s|your\s)?{_ORDERS}|(?:everything|anything|all)\s(?:above|before this|you were told))\b|"
                rf"\b(?:ignore|disregard|forget|override|bypass)\s(?:\w{{1,12}}\s){{0,2}}(?:{_ORDERS}|rules)\s(?:above|before this|given earlier)\b|"
                r"\b(?:ignore|disregard|forget)\s(?:all\s(?:of\s)?)?the above(?: and\b| ?[.!;,]| ?$)|"
                rf"\b{_EARLIER} (?:\w{{1,12}} )?(?:{_ORDERS}|rules) (?:no longer apply|do not apply|don't apply|are (?:void|cancelled|revoked))\b|"
                rf"\b(?:these|the following) {_ORDERS} (?:supersede|override|replace|take precedence over) (?:all|any|every|your|other|{_EARLIER})\b"
            ),
        ),
        (
            "gives its reader a role or an instruction",
            (
                r"\byou (?:must|should|will|shall) now\b|\bfrom now on,? you\b|\byou are now (?:an?|the|in|free|dan|my)\b|"
                r"\bpretend (?:to be|that you|you) |\bdo anything now\b|\bact as (?:if you|an unrestricted|an? (?:admin|root)\b)|"
                r"\b(?:as|if you are|you are) an? (?:ai|llm|language model|ai (?:assistant|agent|model)|coding (?:agent|assistant))\b|"
                r"\byou are (?:\w{1,12} )?an? (?:\w{1,15} ){0,3}(?:assistant|agent|chatbot)\b|"
                rf"(?:^|[.!?;] )(?:dear |hey |hi |hello )?{_TOOLS} ?[,:] ?(?:you|please|ignore|do not|don't|always|never|run|execute|delete|disable|skip|push|approve|send)\b|"
                r"\bnew (?:system )?instructions? ?:|\b(?:ai|coding) (?:assistants?|agents?) ?[:,] ?(?:you|please|ignore|do not|run|always)\b|"
                r"\b(?:note|attention|important|message|instructions?) (?:to|for) (?:the |all |any )?"
                r"(?:ai|ais|llms?|assistants?|agents?|models?|claude|copilot|codex|gemini|cursor|chatgpt)(?: \w{1,12}){0,3} ?:"
            ),
        ),
        (
            "refers to its reader's system prompt",
            (
                r"\b(?:reveal|print|show|repeat|output|leak|dump|recite) (?:\w{1,12} ){0,3}system prompt\b|"
                r"\b(?:your|new|real|actual) system prompt\b|\bsystem prompt ?:|\bsystem prompt (?:is|says|now|has been)\b"
            ),
        ),
        (
            "asks to hide something from a person",
            (
                rf"\b(?:do not|don't|never|without|must not|should not|shouldn't) (?:tell|telling|inform|informing|mention|mentioning|"
                rf"notify|notifying|alert|alerting)(?: \w{{1,12}}){{0,3}} (?:the |your |any )?{_READER}s?\b(?!,? (?:whether|if|which|how|what|why|to)\b)|"
                rf"\b(?:hide|conceal|keep) (?:this|it|that)(?: \w{{1,12}}){{0,2}} from (?:the |your |any )?{_READER}s?\b|"
                r"\b(?:do not|don't|never) mention (?:this|these|that you)\b|"
                rf"\b(?:do not|don't|never|without) (?:ask|asking|wait for|waiting for) (?:the |your |any )?{_READER}s?(?:'s)? "
                r"(?:for |to )?(?:permission|confirmation|approval|consent|confirm|approve)\b"
            ),
        ),
        (
            "asks to be approved",
            (
                r"\b(?:approve|accept|promote|adopt|auto-?approve|rubber-stamp) (?:this|these|the following)(?: (?:memory|memories|candidates?|entry|"
                r"entries|proposals?|item|one|now|immediately|without|as is|at once)\b| ?[.!;,\n]| ?$)|"
                r"\b(?:this|it|entry|memory|proposal|candidate) (?:is|was|has been|has already been) (?:already |pre-?)?(?:approved|reviewed|verified) by\b|"
                r"\bno (?:human )?(?:review|approval) (?:is )?(?:needed|required|necessary) for this\b|\bskip (?:the )?human review\b"
            ),
        ),
        (
            "asks to send data elsewhere",
            (
                r"\b(?:send|post|upload|exfiltrate|forward|leak|pipe) [^.\n]{0,60}(?:\.env\b|\.ssh\b|id_rsa|credentials|secrets|environment variables|"
                r"api keys|source code)[^.\n]{0,40} to (?:https?:|[\w.]{1,40}@|this url|the following)|"
                r"!\[[^\]\n]{0,80}\]\(https?://[^)\s?]{1,200}\?[^)\s]|<img\b[^>\n]{0,200}src ?= ?[\"']?https?://[^>\s]{1,200}[?&][^>\s]{0,60}=|"
                r"https?://[^)\s]{1,200}[?&/=](?:\w{1,30}=)?(?:\$\{?|\{{1,2}|%|<|\[)\s?(?:api_?key|token|secret|password|env|session|cookie|conversation|context|chat|history|messages?|answer|user_?data|prompt|data)"
            ),
        ),
    )
)

_ROLE = _AIMED[1][1]
# The pattern of roles is slow, and each of its matches contains one of these keys.
_ROLE_KEYS = (
    "you ", "you'", "pretend", "act as", "anything now", "instruction", " ai", "ai ", "ai:", "ai,", "ais", "llm", "language model", "assistant", "agent", "claude",
    "copilot", "codex", "gemini", "cursor", "chatgpt", "model",
)  # fmt: skip

_ROLES = re.compile(
    r"</?(?:tool_response|function_response|user_query|user_message|system_prompt|sys|start_of_turn|end_of_turn|bos|eos|admin|jailbreak|human|ai)>|<(?:start|end)_of_turn>|"
    r"(?:^|\n)#{1,6} ?(?:assistant|human|system|user|instruction|response|ai|input|output|new task|new instructions?) ?:|\[(?:system|assistant|developer|admin)\](?:\(#|:| ?\S)|"
    r"(?<![=*_#~-])[=*_#~-]{3,}+ ?(?:system|assistant|developer|admin|root|new|end of|begin|start of|ignore|override)\b[a-z ,]{0,40}(?:override|prompt|message|instructions?|memory|document|context|input|file|notes?|task|session|data|system|conversation|mode|user|rules)\b|"
    r"[\"']role[\"'] ?: ?[\"'](?:system|assistant|developer|user|tool|function)[\"']|\bsystem (?:override|notice|alert|instruction|command|directive|update) ?[:!=]|"
    r"(?:^|\n)\W{0,3}(?:tool|function) (?:output|result|response) ?:|\bbegin (?:system|admin|developer) (?:prompt|message|instructions?)\b|"
    r"(?:^|\n)[#* ]{0,6}(?:\[?(?:system|developer|assistant) (?:message|prompt|note)\]?) ?:|"
    r"</?(?:system|assistant|function_calls?|function_results?|tool_calls?|tool_use|tool_results?|invoke|antml|system-reminder|"
    r"developer|im_start|im_end)(?: [^<>\n]{0,200}|:[a-z_]{1,30}[^<>\n]{0,200})?/?>|</(?:user|human|tool|instructions?|memory|context)>|"
    r"<\|[a-z_]{2,30}\|>|\[/?inst\]|<</?sys>>|"
    r"(?:^|\n)[#* ]{0,6}(?:assistant|human) ?:[* ]{0,3}\S|(?:^|\n)[#* ]{0,6}(?:system|user) ?:[* ]{0,3}(?:you|please|ignore|do|run|always|never)\b|"
    r"\"(?:tool_calls|function_call|tool_use)\" ?: ?[\[{\"]|\"name\" ?: ?\"[\w.-]{1,60}\" ?, ?\"(?:arguments|input|parameters)\" ?: ?\{"
)

_SHELL = r"(?:sudo (?:-\w{1,4} )?)?(?:env )?(?:/\w{1,8}){0,3}/?(?:ba|z|da|k|fi)?sh\b"
_RUNS = re.compile(
    rf"\b(?:curl|wget|fetch|iwr|irm)\b[^\n|`]{{0,200}}\| ?(?:{_SHELL}|(?:sudo )?(?:python3?|perl|ruby|node|iex)\b)|"
    rf"\b(?:{_SHELL}|eval|source|\.) ?(?:-c )?[\"'`]?(?:<\(|\$\(|`)\s?(?:curl|wget)\b|"
    rf"\bbase64 (?:-d|-di|--decode)\b[^\n|]{{0,80}}\| ?(?:{_SHELL}|(?:python3?|perl|node)\b)|"
    r"\bpowershell(?:\.exe)?\b[^\n]{0,60} -e(?:nc|ncodedcommand)?\b|\biex ?\(|"
    r"\b(?:exec|eval)\s?\([^\n)]{0,40}(?:b64decode|atob|fromcharcode|base64)|\brm -(?:rf?|fr) (?:/|~/?|\$home)(?:[\s*`'\"),;]|[.!?](?:\s|$)|$)"
)
_NEVER = r"(?<!never use )(?<!don't use )(?<!do not use )(?<!not use )(?<!not pass )(?<!never pass )(?<!avoid )(?<!never )(?<!not )(?<!without )(?<!no )"
_OPENS = re.compile(
    r"/dev/(?:tcp|udp)/\d|\b(?:nc|ncat|netcat)\b[^\n|]{0,60} -[a-z]{0,3}e\b|authorized_keys\b|\breverse shell\b|\bmkfifo /tmp/|"
    r"\bchmod (?:-[a-z]+ )?(?:0?777|a\+rwx) ?(?:-r )?/|>> ?~/\.(?:ba|z)?(?:shrc|sh_profile|profile|ssh)|to ~/\.(?:bashrc|zshrc|profile|bash_profile)\b|"
    rf"core\.hookspath\b|{_NEVER}--no-verify\b(?! (?:is|are) (?:not|never|forbidden|banned))|\bexec\([^\n]{{0,80}}(?:urlopen|requests\.get|urllib|\.read\(\)|\.text\))|"
    r"\b(?:npm|pnpm|yarn|bun) (?:install|i|add) (?:-\w+ |--[\w-]+ ){0,3}https?://|\bpip3? install (?:-\w+ |--[\w-]+ ){0,3}http://|"
    r"\b(?:--extra-index-url|--index-url|--registry)[ =]http://|(?:tools_may_approve|auto_approve_confidence) ?= ?(?:true|0)|hand_edits ?= ?[\"']accept|"
    r"\bagentplane (?:approve|adopt|init --force|undo|prune)\b|--all-clean\b|\b(?:curl|wget)\b[^\n|]{0,160}(?:-d|--data\S{0,10}|-f|-t|--post-file|--upload-file|--post-data)"
    r"[ =]?[\"']?\S{0,40}(?:@|\$\(|\.env|\$\w|`)|\b(?:curl|wget)\b[^\n|]{0,160}(?:\$\(|`)(?:cat|env|printenv|whoami|base64)\b|"
    r"\b(?:cat|env|printenv|tar|base64)\b[^\n|]{0,80}\| ?(?:curl|wget|nc|ncat|netcat)\b|\bdisable[-_]?(?:security|auth|sandbox)\b|--dangerously-\w+|--yolo\b|"
    r"\b(?:wget|curl)\b[^\n]{0,160}(?:&&|;) ?(?:sudo )?(?:sh|bash|zsh|python3?|chmod|\./)|\bgit push (?:-f|--force)\b[^\n]{0,40}\b(?:main|master)\b|:\(\) ?\{ ?:\|:|"
    r"\bcrontab -|\bcron ?job\b[^\n]{0,60}(?:https?:|curl|wget|fetch)|\bmkfs\.|\bdd if=/dev/(?:zero|random|urandom) of=/dev/|verify ?= ?false\b|"
    r"node_tls_reject_unauthorized ?= ?[\"']?0|git_ssl_no_verify|http\.sslverify[ =]false|strict-?host-?key-?checking[ =]no|\bsetenforce 0|\bufw disable|"
    r"\beval\(atob|(?:bash|sh|zsh) -i >&|\bhistory -c\b|\bunset histfile|\brm -rf? (?:\.git\b|\$home|\*|\.\s)"
)
# Each command of the pattern contains one of these keys. Looking for the keys is much faster.
_OPENS_KEYS = (
    "/dev/", "nc ", "ncat", "netcat", "authorized_keys", "reverse shell", "mkfifo", "chmod", "~/.", "hookspath", "no-verify", "exec(", "npm ",
    "yarn ", "bun ", "pip ", "pip3 ", "index-url", "registry", "tools_may", "auto_approve", "hand_edits", "agentplane ", "all-clean", "curl", "wget",
    "| nc", "disable", "dangerously", "yolo", "push -", ":|:", "cron", "mkfs", "dd if", "verify", "tls_reject", "host", "setenforce", "ufw",
    "eval(", "-i >&", "history -c", "histfile", "rm -",
)  # fmt: skip
_BLOB = re.compile(r"[0-9A-Za-z+/]{120,}")


def aimed_at_reader(clean: str) -> Iterator[tuple[str, int]]:
    """Yield a description and an offset for each attempt of a folded text to steer its reader."""
    flat = clean.replace("\n", " ")
    for what, pattern in _AIMED:
        if pattern is _ROLE and not any(key in flat for key in _ROLE_KEYS):
            continue
        match = pattern.search(flat)
        if match:
            yield what, match.start()


def role_marks(clean: str) -> int | None:
    """Return the offset of the first mark that would end the memory and begin a conversation turn or a tool
    call.
    """
    match = _ROLES.search(clean)
    return match.start() + match[0].startswith("\n") if match else None


def commands(clean: str) -> Iterator[tuple[str, int]]:
    """Yield commands that run unread code, or that open the machine or the project to other people."""
    if match := _RUNS.search(clean):
        yield "contains a command that runs code nobody has reviewed", match.start()
    if any(key in clean for key in _OPENS_KEYS) and (match := _OPENS.search(clean)):
        yield "contains a command that weakens the security of the machine or the project", match.start()


def blob(text: str) -> tuple[str, int] | None:
    """Return a description of encoded data and its offset, or None."""
    found = next((found for found in _BLOB.finditer(text) if _is_encoded(found[0])), None)
    return (f"contains {len(found[0])} characters of encoded data", found.start()) if found else None


def _is_encoded(text: str) -> bool:
    return any(map(str.isupper, text)) and any(map(str.islower, text)) and any(map(str.isdigit, text))


def line_at(text: str, at: int) -> int:
    """Return the line number of an offset."""
    return text.count("\n", 0, at) + 1


_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
# A sentence with a condition is a rule about a state, not a report of it.
_CONDITION = re.compile(
    r"\b(?:when|while|if|until|unless|once|whenever|whether|after|before|only|as long as|during|where)\b"
)
_RULE = re.compile(
    r"\b(?:must|never|always|should|shall|require[sd]?|may not|means?|don't|do not|ensure|verify|confirm|check that|make sure|states?|status(?:es)?|e\.g\.|such as)\b"
)
_WORK = r"(?:working on|debugging|investigating|fixing|refactoring|implementing|migrating|looking into|waiting (?:for|on)|blocked (?:on|by))"
_DID = (
    r"(?:fixed|merged|broke|failed|deployed|finished|added|pushed|started|completed|released|shipped|landed|updated|"
    r"refactored|implemented|removed|reverted|committed|opened|closed)"
)
_CHECKS = r"(?:tests?|test suite|build|ci|pipeline|lint|linter|main|master|type ?checks?|nightly build)"

_ALWAYS_NEWS = re.compile(
    rf"\b(?:i am|i'm|we are|we're|currently|still|now) (?:currently |still |now )?{_WORK}\b|^(?:working on|looking into|waiting for|blocked (?:on|by))\b (?!(?:behalf)\b)|"
    r"\bas of (?:now|today|this (?:moment|writing|morning|session))\b|\bat the moment\b|\bright now\b|"
    r"\b(?:will|to|gonna|going to|we|i|i'll|we'll|let's) (?:[\w/-]{1,20} ){1,8}(?:tomorrow|tonight|later today|next session|this afternoon)\b|"
    r"^(?:tomorrow|tonight|today|yesterday|this morning|this afternoon),? (?:i|we|the|will|fix|finish|continue)\b|"
    rf"\b{_DID} (?:[\w/-]{{1,20}} ){{0,8}}(?:today|yesterday|this morning|this afternoon|just now|tonight)\b|"
    rf"^(?:i|i've) (?:have |also |successfully ){{0,2}}{_DID}\b|^done ?[.!]?$|^(?:session|progress|task) summary ?:|"
    r"^(?:the )?(?:task|session|work|implementation) (?:is |was |has been )?(?:now )?(?:completed?|done|finished)(?: successfully)? ?(?:[.!]|$)|"
    r"^(?:fixed|corrected|resolved) (?:a|an|the) (?:[\w/-]{1,20} ){0,3}(?:typos?|bugs?|tests?|issues?|errors?|warnings?|crash(?:es)?)\b|"
    r"^(?:created|updated|edited|modified|deleted|renamed|wrote) (?:the |a )?(?:new )?files? [\w./-]{1,80}\.\w{1,5}\b|"
    rf"^(?:i|we|i've|we've) (?:have |just |recently |now |finally ){{1,2}}{_DID}\b|^(?:just|recently|finally) {_DID} (?:the|a|an|pr|all)\b|"
    r"^(?:wip|work in progress|todo|next steps?|remaining|still to do|current status|status update|progress report|left to do)\b ?[:\u2013-]|\b(?:is|are|as) wip\b|"
    r"\b(?:i|we) still need to\b|\b(?:still|remains) to be (?:done|fixed|merged|implemented)\b"
)
_NEWS = re.compile(
    rf"\b(?:the )?(?:\w{{1,20}} )?{_CHECKS} (?:is|are) (?:currently |still |now |all )?(?:failing|broken|red|green|passing|down|flaky|blocked|stuck)\b|"
    rf"\ball (?:\d{{1,6}} )?{_CHECKS} (?:now )?(?:pass|passed|are passing|are green)\b|"
    rf"\b\d{{1,6}} (?:of \d{{1,6}} )?(?:tests?|checks?) (?:are |is )?(?:still |currently |now )?(?:fail|fails|failing|failed|pass|passing|passed)\b|"
    rf"\b(?:currently|still|now) (?:failing|broken|blocked|down|red|in progress|in review|pending|under way|underway|half done|unfinished)\b|"
    rf"\b{_CHECKS} (?:currently |still )(?:fails?|breaks?)\b|"
    r"\b(?:is|are|work) in progress\b|"
    r"\b(?:pr|pull request|mr|merge request) ?[#!]?\d{1,7} (?:is |was |has been |got |still |now ){0,2}"
    r"(?:open|opened|merged|waiting|pending|in review|under review|blocked|ready|closed|draft|landed|needs|fixes|failing|green|approved|up)\b|"
    r"\b(?:opened|merged|waiting for|waiting on|reviewing|pushed|rebased|updated|closed|blocked (?:on|by)|see open) (?:the )?(?:pr|pull request|mr|merge request) ?[#!]?\d"
)


def news(text: str) -> int | None:
    """Return the line of the first sentence that reports a temporary state, or None."""
    clean = folded(text)
    place = 0
    for sentence in _SENTENCE_END.split(clean):
        at = clean.find(sentence, place)
        place = at + len(sentence)
        bare = sentence.strip(" -*\t\"'")
        if not bare:
            continue
        if _ALWAYS_NEWS.search(bare) and not _CONDITION.search(bare):
            return line_at(clean, at)
        if _NEWS.search(bare) and not (_CONDITION.search(bare) or _RULE.search(bare)):
            return line_at(clean, at)
    return None
