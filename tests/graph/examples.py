"""Parameters with which every statement can be planned and run: one table for all tests that need them.

The web they fit, made by `small_web`: `HUB` links to `LEAF`s, is leased, has an alias; and some queues.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphbrain import Brain, Failed, Fetched
from graphbrain.opichits import FIRST_RANK
from graphbrain.url import key_of

HUB, OTHER, ALIAS, BROKEN, WAITING = (
    "http://hub.org/",
    "http://other.org/",
    "http://alias.org/",
    "http://broken.org/",
    "http://waiting.org/",
)
LEAVES = tuple(f"http://leaf.org/{n}" for n in range(4))
NOW = 1_700_000_000.0
TOKEN = "feedfeedfeedfeedfeedfeedfeedfeed"


def small_web(brain: Brain, later: Callable[[float], object]) -> dict[str, int]:
    """A page in every state, and hosts in every mood; URL → internal id."""
    brain.report([Fetched(HUB, LEAVES, body=b"hub"), Fetched(ALIAS, redirected_to=HUB)])
    brain.seed([OTHER, BROKEN, WAITING])
    later(1.0)
    brain.report([Failed(BROKEN, error="time-out")])
    brain.set_host("leaf.org", delay=5.0)
    brain.set_relevance(OTHER, 0.9)
    held = brain.next_urls(3)
    assert len(held) == 3
    urls = (HUB, OTHER, ALIAS, BROKEN, WAITING, *LEAVES)
    found = brain.graph.read(lambda tx: tx.one("pages/find", keys=sorted(map(key_of, urls)))[0], "pages/find")
    ids = {row[0]: row[1] for row in found}
    return {url: ids[key_of(url)] for url in urls}


def params(name: str, ids: Mapping[str, int]) -> dict[str, Any]:
    """What to send with the statement `name`. KeyError when the table below does not know it."""
    if name.startswith("schema/"):
        return {}
    return _table(ids)[name]


def _table(at: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    hub, other, alias, broken = at[HUB], at[OTHER], at[ALIAS], at[BROKEN]
    some = sorted([hub, other, alias])
    columns = {
        "cash": [0.5, -1.0],
        "history": [1.5, 2.0],
        "paid": [0.25, 0.5],
        "updated": [7.0, 7.5],
        "rank": [3, None],
        "priority": [3, None],
        "weight": [0.5, 0.25],
        "lane": [900, 1001],
        "sum": [7, None],
        "payout": [2.0, None],
    }

    def of_two(*names: str) -> dict[str, Any]:
        """Two pages and a value of each for these properties: a kind, mostly that of a side."""
        return {"ids": [hub, other], **{name: columns[name.rpartition("_")[2]] for name in names}}

    visit = [hub, "known", 200, NOW, 2, TOKEN, "changed"]
    page = ["0" * 32, "http://new.org/", "new.org", "new.org", 1, True, "frontier", 1000, 0.5, 0.0, None, 1.5]
    which = {"text": "org", "host": None, "state": None, "fetched": None}
    least = {"hub": 0.5, "authority": 0.5, "name": "pagerank", "score": 0.5}
    none: dict[str, Any] = {}
    return {
        "accounts/authority_cash": of_two("authority_cash"),
        "accounts/authority_priority": of_two("authority_priority"),
        "accounts/authority_rank": of_two("authority_rank"),
        "accounts/authority_spent": of_two("authority_cash", "authority_history", "authority_paid") | {"now": NOW},
        "accounts/authority_history": of_two("authority_history"),
        "accounts/authority_settled": of_two("authority_history", "authority_paid", "authority_cash"),
        "accounts/hub_cash": of_two("hub_cash"),
        "accounts/hub_history": of_two("hub_history"),
        "accounts/hub_settled": of_two("hub_history", "hub_paid"),
        "accounts/settled": of_two("hub_history", "hub_paid", "authority_history", "authority_paid", "authority_cash"),
        "accounts/hub_priority": of_two("hub_priority"),
        "accounts/hub_rank": of_two("hub_rank"),
        "accounts/hub_spent": of_two("hub_cash", "hub_history", "hub_paid") | {"now": NOW},
        "accounts/in_weight": of_two("in_weight") | {"even": True},
        "accounts/lane": of_two("lane"),
        "accounts/hosts": {"ids": some},
        "accounts/lock": {"ids": some},
        "accounts/payout": of_two("payout", "own_payout"),
        "accounts/payouts": {"ids": some},
        "accounts/out_weight": of_two("out_weight", "links_sum") | {"even": True},
        "accounts/reset": {"ids": some},
        "accounts/values": {"ids": some, "name": "value"},
        "addresses/lock": {"names": ["192.0.2.1", "192.0.2.2"]},
        "addresses/write": {"rows": [["192.0.2.1", {"in_flight": 1, "next_at": NOW}]]},
        "audit/addresses": {"names": None},
        "audit/budgets": {"names": None, "budget": 3},
        "audit/counts": none,
        "audit/hosts": {"names": None},
        "audit/resting": none,
        "audit/in_flight": none,
        "audit/indexes": none,
        "audit/pages": {"ids": some, "intra": 0.5},
        "audit/stranded": none,
        "audit/waiting": {"alpha": 0.15},
        "brain/adopt": none,
        "brain/advance": {"after": "f" * 32},
        "brain/await_indexes": none,
        "brain/change": {"settings": {"eps": 0.05, "order": "breadth_first"}},
        "brain/clear_links": {"limit": 1000},
        "brain/clear_nodes": {"limit": 1000},
        "brain/clock": none,
        "brain/pace": {"hour": int(NOW // 3600)},
        "brain/count": {
            "price": 0.5,
            "hour": 1,
            "worker": "w",
            "now": NOW,
            "tending": True,
            "counts": [1, 2, 3, 4, 5, 6],
        },
        "brain/awaited": none,
        "brain/create": {"settings": {"crawl": "test", "eps": 0.03}, "now": NOW, "rules": 1},
        "brain/foreign": none,
        "brain/imported": none,
        "brain/occupied": none,
        "brain/lock": none,
        "brain/note": {"notes": {"repaying": "0" * 32}},
        "brain/read": none,
        "brain/remarked": {"before": "", "after": "f" * 32, "revision": 1},
        "brain/settle_begin": {"token": TOKEN, "now": NOW, "until": NOW + 60},
        "brain/settle_end": {"token": TOKEN, "now": NOW},
        "brain/sizes": none,
        "brain/states": none,
        "brain/step": {"rows": [[999, "999_example", "0" * 16]], "now": NOW},
        "brain/steps": none,
        "brain/tended_by": {"hour": int(NOW // 3600), "now": NOW},
        "brain/tokens": {"properties": ["url", "key"], "types": ["LINKS"]},
        "brain/totals": none,
        "brain/transactions": none,
        "cash/authority_candidates": {"least": -100, "limit": 10},
        "cash/hub_candidates": {"least": -100, "limit": 10},
        "cash/marked": {"least": -100, "limit": 10},
        "classic/all_authorities": {"limit": 10, "cash": 1.0},
        "classic/all_hubs": {"limit": 10, "cash": 0.0},
        "classic/authority_candidates": {"limit": 10},
        "classic/authority_spent": of_two("authority_cash", "authority_history", "authority_updated"),
        "classic/born": of_two("hub_cash", "authority_cash", "hub_history", "authority_history") | {"clock": 7.0},
        "classic/counts": none,
        "classic/drop_index_authority": none,
        "classic/drop_index_hub": none,
        "classic/hub_candidates": {"limit": 10},
        "classic/hub_spent": of_two("hub_cash", "hub_history", "hub_updated"),
        "classic/ids_in": {"first": 0, "limit": 100},
        "classic/lock": {"ids": some},
        "classic/lock_virtual": none,
        "classic/make_index_authority": none,
        "classic/make_index_hub": none,
        "classic/read_virtual": none,
        "classic/rebase": of_two("hub_cash", "authority_cash"),
        "classic/reset": {"ids": some, "clock": 7.0},
        "classic/sums": {"rebased": 0},
        "classic/top_authorities": {"first": FIRST_RANK, "limit": 10},
        "classic/top_hubs": {"first": FIRST_RANK, "limit": 10},
        "classic/write_virtual": {"virtual": {"virtual_pages": 9, "virtual_clock": 7.5}},
        "claims/due": {"now": NOW + 1e6, "limit": 10},
        "claims/heads": {"now": NOW + 1e6, "limit": 10},
        "claims/held": {"ids": some},
        "claims/host_heads": {"names": ["leaf.org", "hub.org"], "now": NOW + 1e6, "per_host": 2},
        "claims/lane_heads": {
            "ones": [["leaf.org", 1, 2]],
            "limit": 1,
            "wide": [["*", 0, 1 << 40], ["leaf.org", 0, 1 << 40]],
            "few": 2,
            "deep": [["*", 0, 1 << 40]],
            "most": 3,
        },
        "claims/lapsed": {"now": NOW + 1e6, "limit": 10},
        "claims/lock": {"ids": some},
        "claims/mine": {"keys": sorted([key_of(HUB), key_of(OTHER)]), "token": TOKEN},
        "claims/outlook": none,
        "claims/ready_hosts": {"now": NOW + 1e6, "limit": 10, "budget": 3},
        "claims/release": {"rows": [[other, "*", TOKEN], [hub, None, TOKEN]]},
        "claims/renew": {"ids": [other], "until": NOW + 99.0},
        "claims/requeue": {"rows": [[broken, "*"]]},
        "claims/retry": {"ids": [broken], "now": NOW + 1e6},
        "claims/ripe_at": {"queues": ["*", "leaf.org", "nowhere.org"]},
        "claims/take": {
            "rows": [[other, True, "192.0.2.1", True]],
            "token": TOKEN,
            "until": NOW + 9.0,
            "worker": "w",
            "moves": [[at[LEAVES[0]], "leaf.org"]],
        },
        "exports/accounts": {"ids": some},
        "exports/terms": {"ids": some},
        "exports/last_id": none,
        "exports/urls": {"ids": some},
        "exports/links": {"first": 0, "last": 20_000},
        "hosts/after": {"after": "hub.org", "limit": 10},
        "hosts/at_addresses": {"names": ["192.0.2.1"], "now": NOW, "limit": 3},
        "hosts/fetched": {"names": ["hub.org", "leaf.org"]},
        "hosts/lock": {"names": ["hub.org", "leaf.org"]},
        "hosts/news": {"limit": 10},
        "hosts/page": {
            "after": "",
            "limit": 10,
            "text": "org",
            "blocked": False,
            "queued": None,
            "slowed": None,
            "now": NOW,
        },
        "hosts/pages": {"name": "leaf.org"},
        "hosts/read": {"names": ["hub.org", "leaf.org"]},
        "hosts/robots": {"names": ["hub.org", "leaf.org"]},
        "hosts/view": {"name": "hub.org"},
        "hosts/write": {"rows": [["hub.org", {"next_at": NOW, "in_flight": 1}], ["leaf.org", {"queued": None}]]},
        "links/alias": {"rows": [[alias, other]]},
        "links/best_in": {"key": key_of(LEAVES[0]), "limit": 10},
        "links/best_out": {"key": key_of(HUB), "limit": 10},
        "links/create": {"rows": [[other, [hub, alias]]], "now": NOW},
        "links/delete": {"rows": [[hub, [at[LEAVES[0]], at[LEAVES[1]]]]]},
        "links/degrees": {"ids": some},
        "links/ends_in": {"key": key_of(LEAVES[0]), "ids": [0, 1]},
        "links/ends_out": {"key": key_of(HUB), "ids": [0, 1]},
        "links/in": {"ids": some},
        "links/inside": {"ids": some},
        "links/out": {"ids": some},
        "links/packed_in": {"ids": some},
        "links/packed_out": {"ids": some},
        "links/payments_in": {"key": key_of(LEAVES[0]), "limit": 2, "intra": 0.5},
        "links/payments_out": {"key": key_of(HUB), "limit": 2, "intra": 0.5},
        "links/led_to": {"ids": [alias]},
        "links/move": {"sources": [hub], "old": at[LEAVES[0]], "new": other},
        "links/reroute": {"rows": [[hub, at[LEAVES[0]], hub, other]]},
        "links/some_in": {"id": at[LEAVES[0]], "limit": 10},
        "links/spelt": {"ids": some, "cross": False},
        "links/unalias": {"ids": [alias]},
        "pages/forgotten": {"keys": ["0" * 32]},
        "rekey/carry": {"rows": [[hub, {"is_seed": True, "value": None}]]},
        "rekey/facts": {"ids": some},
        "rekey/forget": {"ids": [at[LEAVES[0]]]},
        "rekey/holders": {"keys": ["0" * 32]},
        "rekey/hosts": {"names": ["hub.org"]},
        "rekey/left_hosts": {"names": ["nobody.org"]},
        "rekey/named": {"ids": some},
        "rekey/notes": {"rows": [["0" * 32, "1" * 32]]},
        "rekey/pages": {"first": 0, "last": max(some)},
        "rekey/redirects": {"rows": [[at[LEAVES[0]], other]]},
        "rekey/rehost": {"rows": [[hub, "hub.org"]]},
        "rekey/some_in": {"ids": some, "limit": 10},
        "rekey/trace": {"rows": [["0" * 32, "1" * 32]]},
        "rekey/traces": {"keys": ["0" * 32]},
        "rekey/write": {"rows": [[hub, "0" * 32, "http://hub.org/", "hub.org", None]]},
        "pages/all_authorities": {"limit": 10},
        "pages/all_hubs": {"limit": 10},
        "pages/bar": {"ids": [other]},
        "pages/best_authorities": {"rank": 12, "least": 8.0, **which},
        "pages/best_hubs": {"rank": 12, "least": 8.0, **which},
        "pages/create": {"rows": [page], "account": {"hub_cash": 0.0, "authority_cash": 0.0}, "now": NOW},
        "pages/deepen": {"rows": [[hub, 0, True], [other, 0, False]]},
        "pages/deepened": {"limit": 10},
        "pages/depths": {"ids": some},
        "pages/details": {"ids": some},
        "pages/find": {"keys": sorted([key_of(HUB), key_of(OTHER)])},
        "notes/forget": {"key": key_of(OTHER)},
        "notes/read": {"keys": [key_of(HUB), key_of(OTHER)]},
        "notes/write": {"rows": [[key_of(OTHER), "read it twice"]]},
        "pages/forget": {"id": broken},
        "pages/forget_for_ever": {"key": key_of(OTHER), "now": NOW},
        "pages/get": {"key": key_of(HUB)},
        "pages/guess": {"rows": [[other, 0.95], [hub, 0.95]]},
        "pages/highest": {"name": "pagerank", "limit": 10},
        "pages/hinted": {"rows": [[hub, NOW, "sitemap"], [other, NOW, "ping"]]},
        "pages/hints": {"ids": some},
        "pages/hosts": {"names": ["hub.org", "new.org"], "now": NOW},
        "pages/ids_from": {"after": "", "limit": 5},
        "pages/load": {"rows": [["1" * 32, "http://loaded.org/", "loaded.org", "loaded.org", 1, *[None] * 28]]},
        "pages/look_again": {"ids": some, "at": NOW},
        "pages/move_back": {"rows": [[hub, NOW - 9.0]]},
        "pages/neighbours": {"key": key_of(HUB)},
        "pages/of_host": {"limit": 10, **which, **least, "host": "hub.org"},
        "pages/park": {"rows": [[other, "parked", "orphan"], [broken, "outside", None]]},
        "pages/path": {"source": key_of(HUB), "target": key_of(LEAVES[0])},
        "pages/path_from_seed": {"target": key_of(LEAVES[0])},
        "pages/relevance": {"rows": [[hub, 0.75], [other, None]]},
        "pages/facts": {"id": hub, "facts": {"value": 2.0, "interval": None}},
        "pages/pardon": {"ids": some},
        "pages/scan": {"first": 0, "last": 100, **which, **least},
        "pages/scope": {"ids": some},
        "pages/seed": {"ids": some},
        "pages/shares": {"target": 0.7},
        "pages/stand": {"rows": [[hub, "known", "*", NOW, None], [other, "outside", None, NOW, "scope"]]},
        "pages/respell": {"rows": [[hub, "http://hub.org/?x=1", "hub.org", "hub.org", 1, 2]], "now": NOW},
        "pages/spellings": {"ids": some},
        "pages/state": {"rows": [[hub, "outside", None, "robots"], [other, "frontier", "*", None]]},
        "pages/standing": {"ids": some},
        "pages/to_look_at": {"now": NOW + 1e6, "limit": 10},
        "pages/top_authorities": {"first": FIRST_RANK, "limit": 10},
        "pages/top_hubs": {"first": FIRST_RANK, "limit": 10},
        "pages/unlinked_mark": {"ids": some, "now": NOW},
        "pages/unlinked": {"ids": some},
        "scores/all": none,
        "scores/begin": {"method": "pagerank", "facts": {"token": TOKEN, "started": NOW, "damping": 0.85}},
        "scores/end": {"method": "pagerank", "now": NOW},
        "scores/hold": {"method": "pagerank", "token": TOKEN},
        "scores/seeds": none,
        "scores/some": {"name": "pagerank"},
        "scores/write": {"name": "pagerank", "ids": some, "values": [0.5, 0.25, 0.25], "before": NOW + 9.0},
        "visits/beliefs": {"ids": some},
        "visits/believe": {"rows": [[hub, 0.5, 3.0]]},
        "visits/first_again": {"rows": [[hub, 2.5, True], [other, 1.0, None]]},
        "visits/firsts": {"first": 0, "end": 1 << 40, "value": "authority", "name": "authority"},
        "visits/standing": {"ids": some},
        "visits/waits": {"rows": [[hub, "*", NOW]]},
        "visits/failed": {"rows": [[other, "frontier", 500, "HTTP 500", NOW, 1, NOW + 9.0, None, TOKEN, "retry"]]},
        "visits/fetched": {"rows": [visit]},
        "visits/read": {"ids": some},
        "visits/touched": {"rows": [visit]},
        "visits/cleared": {"ids": some},
        "visits/content": {"rows": [[hub, NOW, NOW, 1, "abc", "def", -1]]},
        "visits/validators": {"rows": [[hub, "tag", None]]},
    }
