from app.webhooks import retry_delay


def test_delay_doubles_up_to_an_hour():
    assert [retry_delay(n) for n in (1, 2, 20)] == [2.0, 4.0, 3600.0]
