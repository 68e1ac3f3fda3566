"""Keeps a mirror of what Tideover answers, from its event feed. See docs/events.md.

TIDEOVER_KEY=tideover_secret_... python3 mirror.py https://tideover.example.com cards production
"""
import datetime, json, os, sys, time, urllib.parse, urllib.request

# How long access continues after `accessUntil`, until the event with the next state arrives.
LEEWAY = datetime.timedelta(minutes=5)


class Mirror:
    def __init__(self, environment, read_customer):
        self.environment, self.read_customer = environment, read_customer
        self.answers, self.cursor = {}, None  # keep both in one transaction of your database

    def apply(self, event):
        """Takes in an event; one that is repeated or comes late changes nothing."""
        customer, version = event["customer"], event["customerVersion"]
        if event["environment"] != self.environment:
            return
        if customer in self.answers and version <= self.answers[customer][0]:
            return
        answer = event["data"].get("answer")
        if answer is None:  # stored by a version that wrote no answers
            snapshot = self.read_customer(customer)
            version, answer = snapshot["customerVersion"], snapshot["entitlements"]
        self.answers[customer] = (version, answer)

    def drain(self, read_page):
        """Takes in every event that is in the feed by now."""
        more = True
        while more:
            page = read_page(self.cursor)
            for event in page["events"]:
                self.apply(event)
            self.cursor, more = page["next"], page["more"]

    def access(self, customer, entitlement, now):
        held = self.answers.get(customer, (0, {}))[1].get(entitlement)
        if held is None or not held["access"]:
            return False
        until = held["accessUntil"]
        return until is None or now < instant(until) + LEEWAY


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def main(server, app, environment, *flags):
    def get(path, **query):
        query = urllib.parse.urlencode({k: v for k, v in query.items() if v is not None})
        url = f"{server}/v1/apps/{app}/{path}?{query}"
        key = {"Authorization": "Bearer " + os.environ["TIDEOVER_KEY"]}
        request = urllib.request.Request(url, headers=key)
        return json.load(urllib.request.urlopen(request, timeout=30))

    def read_customer(customer):
        return get("customers/" + urllib.parse.quote(customer, safe=""), environment=environment)

    mirror = Mirror(environment, read_customer)
    while True:
        mirror.drain(lambda cursor: get("events", after=cursor, limit=1000))
        if "--once" in flags:
            return print(json.dumps(mirror.answers))
        time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
