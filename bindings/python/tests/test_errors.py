"""Bad input is an error of one line, the same as in Rust."""

import re

import hairpin
import pytest

CONFIG = '<configuration><channel id="318"/><channel id="320"/></configuration>'
KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
OTHER_KEY = "HgECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
ORDER = """[gateway]
primary = ["127.0.0.1:1"]
[logon]
access_key_id = "K"
secret_file = "key"
session = "ABC"
firm = "123"
system_name = "n"
system_version = "1"
system_vendor = "v"
[operator]
sender_id = "T"
location = "US,IL"
"""
IN_MEMORY = "[journal]\nin_memory = true\n"


def one_line(expected, call):
    with pytest.raises(hairpin.Error, match="^" + re.escape(expected)) as error:
        call()
    text = str(error.value)
    assert "\n" not in text and KEY not in text and "not*a*key" not in text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_missing_file(folder):
    text = "cannot read config.xml: No such file or directory (os error 2)"
    one_line(text, lambda: hairpin.Feed("config.xml", 310))
    text = "cannot read order.toml: No such file or directory (os error 2)"
    one_line(text, lambda: hairpin.Session("order.toml"))


def test_unknown_channel_lists_those_present(folder):
    (folder / "config.xml").write_text(CONFIG)
    text = "cannot use config.xml: cannot find channel 310: the file has channels 318, 320"
    one_line(text, lambda: hairpin.Feed("config.xml", 310))


def test_bad_key_names_its_line(folder):
    (folder / "order.toml").write_text(ORDER.replace("firm", "frim"))
    text = "cannot use order.toml: line 7: unknown field"
    one_line(text, lambda: hairpin.Session("order.toml"))


def test_secret_that_is_missing_or_no_key(folder):
    (folder / "order.toml").write_text(ORDER)
    text = "cannot read key: No such file or directory"
    one_line(text, lambda: hairpin.Session("order.toml"))
    (folder / "key").write_text("not*a*key")
    (folder / "key").chmod(0o600)
    text = "cannot use order.toml: cannot use the secret key in key: "
    one_line(text, lambda: hairpin.Session("order.toml"))


def test_no_journal(folder):
    (folder / "order.toml").write_text(ORDER)
    (folder / "key").write_text(KEY)
    (folder / "key").chmod(0o600)
    text = "cannot use order.toml: no [journal]: give its `folder`, or `in_memory = true`"
    one_line(text, lambda: hairpin.Session("order.toml"))
    (folder / "order.toml").write_text(ORDER + IN_MEMORY)
    hairpin.Session("order.toml")


def test_wrong_interface(folder):
    with hairpin.Exchange(instruments=1) as exchange:
        open_on = lambda *names: hairpin.Feed(exchange.config, 310, interfaces=names)
        text = "cannot use interface nope0: interface nope0 does not exist"
        one_line(text, lambda: open_on("nope0", "lo"))
        text = "cannot use interface 192.0.2.1: no interface has the address 192.0.2.1"
        one_line(text, lambda: open_on("lo", "192.0.2.1"))


def test_journal_in_use():
    with hairpin.Exchange(instruments=1) as exchange, hairpin.Session(exchange.orders):
        text = f"cannot open the journal in {exchange.orders.parent}/journal: already open"
        one_line(text, lambda: hairpin.Session(exchange.orders))


def test_wrong_secret_is_not_shown():
    with hairpin.Exchange(instruments=1) as exchange:
        (exchange.orders.parent / "order.key").write_text(OTHER_KEY)
        session = hairpin.Session(exchange.orders)
        with pytest.raises(hairpin.Error) as error:
            session.run(hairpin.Strategy())
        assert str(error.value).startswith("cannot log on: 0 (signature does not match)")
        assert OTHER_KEY not in str(error.value) and "\n" not in str(error.value)


def test_unknown_symbol():
    with hairpin.Exchange(instruments=1) as exchange, hairpin.Session(exchange.orders) as session:
        assert session.security_id("HP001") == 1001
        text = "cannot find instrument NOPE: not in [instruments] and no definition received"
        one_line(text, lambda: session.security_id("NOPE"))


def test_unknown_setting_and_wait(folder):
    with hairpin.Exchange(instruments=1) as exchange:
        with pytest.raises(TypeError, match="there is no setting 'speed'"):
            hairpin.Feed(exchange.config, 310, speed=1)
        with pytest.raises(ValueError, match="'sleep' is no wait"):
            hairpin.Feed(exchange.config, 310, wait="sleep")
