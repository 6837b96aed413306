"""Quick check of a text for places where a secret can be. It imports only `re`, because most texts have none."""

import re


LINE = re.compile(
    rb"(?i)key|pass|pwd|pswd|pword|pw\b|secret|token|auth|bearer|phrase|mnemonic|kennwort|geheimwort|contras|clave|mdp|senha|palavra|parol|haslo|heslo|"
    rb"wachtwoord|adgangskode|kodeord|salasana|sifre|sandi|laluan|khau|jelsz|nenosiri|jeton|cred|cookie|session|otp|"
    rb"recovery|backup|scratch|rescue|code|words|seed|psk|pepper|\bpat\b|_pat\b|\$[1567gyams]{1,4}|\{\w{3,8}\}|hmac|encrypt|<<<|credentials|community|"
    rb"log.?in|log.?on|logged|sign.?in|signed|user|account|zugang|benutz|anmeld|identif|connexion|usu|utente|dane logow|akun|masuk|giri|"
    rb"\s-{1,2}[a-z]|\s/r?p|://|:543|:\*:|:6432:|oracle|machine|connect|alias|echo|%[0-9a-f]{2}|&#|\\x|&lt;|[\x80-\xff]|"
    rb"[0-9A-Za-z_+/=-]{18}|[A-Z0-9]{11}"
)
NAME = re.compile(rb"(?i)key|pass|pwd|secret|token|auth|cred|curl|://|[\x80-\xff]|[0-9A-Za-z+=]{18}")
"""The check for paths and tool names. They join words by `_`, `-` and `/`, so a long word isn't a secret."""
