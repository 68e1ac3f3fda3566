import http.server
import threading
import time
import unittest

from tideover import Answer, EntitlementCache, Tideover, TideoverError

from .support import BEGIN, Server, iso, problem, reply, snapshot


def client(route, **options):
    server = Server(route)
    pauses = []
    api = Tideover("https://billing.example.com/", "cards", "pk_1", send=server, jitter=lambda: 0.5,
                   sleep=pauses.append, **options)
    return api, server, pauses


class Requests(unittest.TestCase):
    def test_a_request_contains_app_customer_environment_and_key(self):
        api, server, _ = client(lambda *_: reply(200, snapshot(), etag='W/"1"'), environment="sandbox")
        _, etag = api.snapshot("u/1 ä")
        self.assertEqual(etag, 'W/"1"')
        _, url, headers, _ = server.requests[0]
        self.assertEqual(
            url, "https://billing.example.com/v1/apps/cards/customers/u%2F1%20%C3%A4?environment=sandbox")
        self.assertEqual(headers["Authorization"], "Bearer pk_1")

    def test_a_key_from_a_file_is_sent_without_its_new_line(self):
        server = Server(lambda *_: reply(200, snapshot()))
        Tideover("https://billing.example.com", "cards", "sk_1\n", send=server).snapshot("anna")
        self.assertEqual(server.requests[0][2]["Authorization"], "Bearer sk_1")

    def test_an_id_that_no_url_can_contain_is_refused_before_anything_is_sent(self):
        api, server, pauses = client(lambda *_: reply(200, snapshot()), environment="sandbox")
        for customer in (".", "..", ""):
            for ask in (api.snapshot, api.reconcile, api.timeline, api.explain):
                with self.assertRaises(TideoverError) as raised:
                    ask(customer)
                self.assertEqual((raised.exception.code, raised.exception.status), ("bad-customer", 400))
                self.assertFalse(raised.exception.is_transient)
        with self.assertRaises(TideoverError):
            EntitlementCache(api).answer("..", "premium")
        self.assertEqual((server.requests, pauses), ([], []))
        api.snapshot("a.b...")
        self.assertIn("/customers/a.b...?", server.requests[0][1])

    def test_an_answer_without_entitlements_is_malformed(self):
        for body in ({}, {"entitlements": None}, {"entitlements": ["premium"]},
                     {"entitlements": {"premium": True}}):
            api, _, _ = client(lambda *_, body=body: reply(200, body))
            for ask in (api.snapshot, api.reconcile):
                with self.assertRaises(TideoverError) as raised:
                    ask("anna")
                self.assertEqual((raised.exception.code, raised.exception.status), ("malformed", 200))
            cache = EntitlementCache(api)
            self.assertEqual(cache.answer("anna", "premium").because, "offline")
            self.assertIsNone(cache.prompt("anna"))

    def test_an_answer_without_a_prompt_has_none_to_show(self):
        api, _, _ = client(lambda *_: reply(200, {"entitlements": {}}))
        self.assertEqual(api.snapshot("anna")[0]["prompt"], {"kind": "none"})
        self.assertEqual(api.reconcile("anna")["items"], [])
        self.assertEqual(EntitlementCache(api).prompt("anna"), {"kind": "none"})

    def test_a_known_store_is_sent(self):
        api, server, _ = client(lambda *_: reply(200, {**snapshot(), "items": []}), store="appStore")
        api.snapshot("anna")
        api.reconcile("anna", nothing=True)
        for _, url, _, _ in server.requests:
            self.assertTrue(url.endswith("?environment=production&store=appStore"), url)

    def test_the_customers_language_is_sent(self):
        api, server, _ = client(lambda *_: reply(200, snapshot()), language="de-AT, en;q=0.5")
        api.snapshot("anna", 'W/"1"')
        self.assertEqual(server.requests[0][2]["Accept-Language"], "de-AT, en;q=0.5")
        plain, server, _ = client(lambda *_: reply(200, snapshot()))
        plain.snapshot("anna")
        self.assertNotIn("Accept-Language", server.requests[0][2])

    def test_a_prompt_is_reported(self):
        api, server, _ = client(lambda *_: reply(200, {"id": "p", "kind": "soft"}))
        api.report_prompt("anna", "p", "soft", response="dismissed")
        method, url, _, body = server.requests[0]
        self.assertEqual(method, "POST")
        self.assertTrue(url.endswith("/customers/anna/prompts?environment=production"), url)
        self.assertEqual(body, {"id": "p", "kind": "soft", "response": "dismissed"})

    def test_a_prompt_of_the_sandbox_is_reported_there(self):
        api, server, _ = client(lambda *_: reply(200, {"id": "p", "kind": "soft"}))
        api.report_prompt("anna", "p", "soft", environment="sandbox")
        self.assertTrue(server.requests[0][1].endswith("/prompts?environment=sandbox"))

    def test_a_cached_answer_is_not_read_again(self):
        api, server, _ = client(lambda *_: reply(304))
        self.assertIsNone(api.snapshot("anna", 'W/"1"'))
        self.assertEqual(server.requests[0][2]["If-None-Match"], 'W/"1"')

    def test_a_retryable_failure_is_retried_with_growing_delays(self):
        for first in (OSError("reset"), problem(429, "slow"), problem(503, "down"), reply(502, b"<html>")):
            def route(_, count, first=first):
                if count == 3:
                    return reply(200, snapshot())
                if isinstance(first, OSError):
                    raise first
                return first
            api, _, pauses = client(route)
            api.snapshot("anna")
            self.assertEqual(pauses, [0.25, 0.5])

    def test_a_delay_is_at_least_the_retry_after(self):
        def route(_, count):
            return reply(200, snapshot()) if count == 2 else problem(503, "busy", retry_after="7")
        api, _, pauses = client(route)
        api.snapshot("anna")
        self.assertEqual(pauses, [7.25])

    def test_attempts_are_limited_and_a_long_retry_after_ends_them(self):
        for answer, count in ((problem(503, "down"), 3), (problem(429, "slow", retry_after="31"), 1),
                              (problem(429, "slow", retry_after="1000000"), 1),
                              (problem(404, "not-found"), 1), (reply(301), 1)):
            api, server, _ = client(lambda *_, answer=answer: answer)
            with self.assertRaises(TideoverError):
                api.snapshot("anna")
            self.assertEqual(len(server.requests), count)

    def test_a_problem_has_its_code(self):
        api, _, _ = client(lambda *_: problem(403, "wrong-app"))
        with self.assertRaises(TideoverError) as raised:
            api.explain("anna")
        self.assertEqual((raised.exception.code, raised.exception.status), ("wrong-app", 403))

    def test_the_code_is_the_last_part_of_the_type(self):
        for type in ("/problems/wrong-app", "https://billing.example.com/problems/wrong-app",
                     "urn:tideover:problem:wrong-app"):
            api, _, _ = client(lambda *_, type=type: reply(403, {"type": type, "title": "", "status": 403}))
            with self.assertRaises(TideoverError) as raised:
                api.explain("anna")
            self.assertEqual(raised.exception.code, "wrong-app")

    def test_purchases_beyond_a_request_are_sent_in_several_with_continuous_numbers(self):
        def route(request, _):
            items = [{"kind": "purchase", "index": index, "verdict": "accepted"}
                     for index in range(len(request[3].get("purchases", [])))]
            return reply(200, {**snapshot(), "items": items, "drift": []})
        api, server, _ = client(route)
        answer = api.reconcile("anna", purchases=({"productId": str(it)} for it in range(35)))
        self.assertEqual([len(it[3]["purchases"]) for it in server.requests], [16, 16, 3])
        self.assertEqual([item["index"] for item in answer["items"]], list(range(35)))

    def test_a_device_conclusion_is_sent_with_the_last_purchases(self):
        for count, expected in ((0, [(0, True, True)]), (16, [(16, True, True)]),
                                (17, [(16, False, True), (1, True, False)])):
            api, server, _ = client(lambda *_: reply(200, {**snapshot(), "items": [], "drift": []}))
            api.reconcile("anna", purchases=[{"productId": "p"}] * count, renewalInfos=["a"],
                          device={"entitlements": {"premium": {"access": True}}})
            bodies = [request[3] for request in server.requests]
            self.assertEqual([(len(body.get("purchases", [])), "device" in body, "renewalInfos" in body)
                              for body in bodies], expected)

    def test_the_feed_is_read_page_by_page(self):
        def route(request, _):
            is_second = "after=1" in request[1]
            return reply(200, {"events": [{"id": "2" if is_second else "1"}],
                               "next": "2" if is_second else "1", "more": not is_second})
        api, _, _ = client(route)
        self.assertEqual([event["id"] for event in api.events_after()], ["1", "2"])


class Loopback(unittest.TestCase):
    def test_the_key_follows_no_redirect(self):
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(302)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            api = Tideover(f"http://127.0.0.1:{server.server_port}", "cards", "sk")
            with self.assertRaises(TideoverError):
                api.pass_keys()
            server.shutdown()
        self.assertEqual(asked, ["/v1/apps/cards/pass-keys"])

    def test_a_truncated_body_is_a_network_error(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", "100")
                self.end_headers()
                self.wfile.write(b"{")

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            api = Tideover(f"http://127.0.0.1:{server.server_port}", "cards", "sk", attempts=1)
            with self.assertRaises(TideoverError) as raised:
                api.pass_keys()
            server.shutdown()
        self.assertEqual(raised.exception.code, "network")

    def test_an_unreachable_server_is_a_network_error(self):
        api = Tideover("http://127.0.0.1:9", "cards", "sk", attempts=1)
        with self.assertRaises(TideoverError) as raised:
            api.snapshot("anna")
        self.assertEqual(raised.exception.code, "network")


class Cache(unittest.TestCase):
    def setUp(self):
        self.now = BEGIN
        self.is_offline = False
        self.answer = snapshot()

        def route(request, _):
            if self.is_offline:
                raise OSError("away")
            etag = f'W/"{self.answer["customerVersion"]}"'
            return reply(304) if request[2].get("If-None-Match") == etag \
                else reply(200, self.answer, etag=etag)
        self.api, self.server, _ = client(route, attempts=1)
        self.cache = EntitlementCache(self.api, clock=lambda: self.now, max_customers=2)

    def status(self, customer="anna", name="premium"):
        answer = self.cache.answer(customer, name)
        return answer.because or answer.status

    def test_an_answer_is_cached_for_half_a_minute_then_requested_with_its_tag(self):
        self.assertEqual(self.status(), "granted")
        self.now += 29.999
        self.assertEqual(self.status(), "granted")
        self.assertEqual(len(self.server.requests), 1)
        self.now += 0.001
        self.assertEqual(self.status(), "granted")
        self.assertEqual(self.server.requests[1][2]["If-None-Match"], 'W/"1"')

    def test_an_answer_is_never_cached_past_its_change(self):
        self.answer = snapshot(nextChange=iso(BEGIN + 10))
        self.status()
        self.now += 9.999
        self.status()
        self.assertEqual(len(self.server.requests), 1)
        self.now = BEGIN + 10
        self.answer = snapshot(at=self.now, version=2, access=False, state="expired")
        self.assertEqual(self.status(), "denied")

    def test_an_answer_is_valid_offline_for_ten_minutes_and_never_past_its_change(self):
        for change, last in ((None, 600), (iso(BEGIN + 60), 60)):
            self.cache.forget("anna")
            self.is_offline, self.now, self.answer = False, BEGIN, snapshot(nextChange=change)
            self.status()
            self.is_offline, self.now = True, BEGIN + last - 0.001
            self.assertEqual(self.status(), "granted")
            self.now = BEGIN + last
            self.assertEqual(self.status(), "offline")

    def test_a_prompt_is_cached_and_ends_with_its_time_while_the_server_is_unreachable(self):
        until = iso(BEGIN + 60)
        prompt = {"kind": "soft", "entitlement": "premium", "arguments": {"until": until}}
        self.answer = {**snapshot(state="grace", nextChange=until), "prompt": prompt}

        def kind():
            found = self.cache.prompt("anna")
            return found and found["kind"]
        self.assertEqual(kind(), "soft")
        self.now += 29.999
        self.assertEqual(kind(), "soft")
        self.assertEqual(len(self.server.requests), 1)
        self.is_offline, self.now = True, BEGIN + 59.999
        self.assertEqual(kind(), "soft")
        self.now = BEGIN + 60
        self.assertIsNone(kind())
        self.is_offline, self.answer = False, snapshot(at=self.now, version=2, access=False, state="hold")
        self.assertEqual(kind(), "none")

    def test_the_cache_is_bounded(self):
        for customer in ("a", "b", "c", "b", "c"):
            self.status(customer)
        self.assertEqual(len(self.server.requests), 3)

    def test_a_server_that_does_not_answer_is_waited_for_briefly_and_its_answer_is_kept(self):
        arrived, go_on = threading.Event(), threading.Event()

        def route(_, count):
            if count > 1:
                arrived.set()
                go_on.wait(30)
            return reply(200, self.answer)
        api, server, _ = client(route, attempts=1)
        self.cache = EntitlementCache(api, clock=lambda: self.now, max_wait=0.02)
        self.status()
        self.now += 30
        self.assertEqual([self.status(), self.status()], ["granted", "granted"])
        arrived.wait(30)  # the thread that asks may start later than the answers here
        self.assertEqual((self.cache.prompt("anna")["kind"], len(server.requests)), ("none", 2))
        self.answer = snapshot(at=self.now, version=2, access=False, state="expired")
        question = self.cache._asked["anna"]
        go_on.set()
        question.entry.result(30)
        self.assertEqual((self.status(), len(server.requests)), ("denied", 2))

    def test_a_server_that_hangs_holds_a_limited_number_of_threads(self):
        go_on = threading.Event()

        def route(_, count):
            if count > 40:
                go_on.wait(30)
            return reply(200, snapshot())
        api, server, _ = client(route, attempts=1)
        cache = EntitlementCache(api, clock=lambda: self.now, max_wait=0)
        customers = [str(number) for number in range(40)]
        for _ in range(2):
            self.assertEqual({cache.answer(it, "premium").status for it in customers}, {"granted"})
            self.now += 30
        questions = list(cache._asked.values())
        self.assertEqual((len(questions), cache._threads), (32, 32))
        go_on.set()
        for question in questions:
            question.entry.result(30)
        end = time.monotonic() + 30
        while cache._threads and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual((cache._threads, len(server.requests)), (0, 72))

    def test_a_busy_server_is_asked_about_each_customer_however_many_at_a_time(self):
        arrived = threading.Barrier(40)

        def route(_, count):
            if count <= 40:
                return reply(200, snapshot())
            arrived.wait(30)
            return reply(200, snapshot(version=2, access=False, state="expired"))
        api, _, _ = client(route, attempts=1)
        cache = EntitlementCache(api, clock=lambda: self.now, max_wait=30)
        customers = [str(number) for number in range(40)]
        for it in customers:
            cache.answer(it, "premium")
        self.now += 30
        found = []
        threads = [threading.Thread(target=lambda it=it: found.append(cache.answer(it, "premium").status))
                   for it in customers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(found, ["denied"] * 40)

    def test_many_threads_cause_one_request(self):
        arrived, go_on = threading.Barrier(9), threading.Event()

        def route(*_):
            go_on.wait(30)
            return reply(200, snapshot())
        api, server, _ = client(route, attempts=1)
        self.cache = EntitlementCache(api, clock=lambda: self.now)
        found = []

        def ask():
            arrived.wait(30)
            found.append(self.status())
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        arrived.wait(30)
        time.sleep(0.1)  # the others ask meanwhile, or would
        go_on.set()
        for thread in threads:
            thread.join(30)
        self.assertEqual((found, len(server.requests)), (["granted"] * 8, 1))

    def test_an_answer_from_before_a_change_that_a_webhook_reported_is_not_kept(self):
        cache = None

        def route(_, count):
            if count > 1:
                return reply(200, snapshot(version=2))
            cache.forget("anna")
            return reply(200, snapshot(access=False, state="expired"))
        api, _, _ = client(route, attempts=1)
        cache = self.cache = EntitlementCache(api, clock=lambda: self.now)
        self.assertEqual([self.status(), self.status()], ["denied", "granted"])

    def test_an_answer_from_before_the_change_is_not_kept_under_an_alias_either(self):
        cache = None

        def route(_, count):
            if count > 1:
                return reply(200, {**snapshot(version=2), "customer": "anna"})
            cache.forget("anna")
            cache.forget("ben")
            return reply(200, {**snapshot(access=False, state="expired"), "customer": "anna"})
        api, _, _ = client(route, attempts=1)
        cache = self.cache = EntitlementCache(api, clock=lambda: self.now)
        self.assertEqual([self.status("anonymous-1"), self.status("anonymous-1")], ["denied", "granted"])

    def test_a_customer_is_forgotten_under_each_of_its_ids(self):
        id = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        self.answer = {**snapshot(), "customer": id}
        for _ in range(2):
            self.assertEqual([self.status("u_42"), self.status(id.upper())], ["granted", "granted"])
        self.assertEqual(len(self.server.requests), 2)
        self.answer = {**snapshot(version=2, access=False, state="expired"), "customer": id}
        self.cache.forget(None)
        self.assertEqual(self.status("u_42"), "granted")
        self.cache.forget(id)
        self.assertEqual([self.status("u_42"), self.status(id.upper())], ["denied", "denied"])

    def test_a_server_that_refuses_the_key_is_a_mistake_to_correct_and_no_outage(self):
        answer = reply(200, snapshot())
        api, _, _ = client(lambda *_: answer, attempts=1)
        self.cache = EntitlementCache(api, clock=lambda: self.now)
        self.status()
        for status, name in ((401, "key-unknown"), (403, "key-not-allowed"), (404, "unknown-app")):
            answer = problem(status, name)
            with self.assertRaises(TideoverError) as raised:
                self.status("ben")
            self.assertEqual(raised.exception.code, name)
            self.assertIsNone(self.cache.prompt("ben"))
        # What is known of a customer still counts, for the ten minutes of an outage.
        self.now += 599.999
        self.assertEqual(self.status(), "granted")
        self.now += 0.001
        with self.assertRaises(TideoverError):
            self.status()
        # A proxy has such a page while the server is away.
        for answer in (reply(403, b"<html>"), reply(404, b"<html>"), reply(200, b"<html>"),
                       problem(503, "overloaded")):
            self.assertEqual(self.status("ben"), "offline")

    def test_a_stopped_worker_leaves_no_request_that_others_wait_for(self):
        class Stopped(BaseException):
            pass

        def route(_, count):
            if count == 1:
                raise Stopped
            return reply(200, snapshot())
        api, _, _ = client(route, attempts=1)
        self.cache = EntitlementCache(api, clock=lambda: self.now)
        with self.assertRaises(Stopped):
            self.status()
        self.assertEqual(self.status(), "granted")

    def test_an_entitlement_outside_of_the_catalogue_is_neither(self):
        self.assertEqual(self.status(name="gold"), "unnamed")

    def test_an_answer_has_no_truth_value(self):
        with self.assertRaises(TypeError):
            bool(Answer("unknown", "offline"))
