"""Postings are appended, never changed; a correction is a posting of its own."""


def post(connection, transfer_id: str, rows) -> None:
    if sum(row.minor for row in rows) != 0:
        raise ValueError(f"transfer {transfer_id} does not balance")
    connection.executemany(
        "insert into posting (transfer, account, minor, currency) values (?, ?, ?, ?)", rows
    )
