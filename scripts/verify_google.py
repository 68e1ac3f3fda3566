"""Asks Google's own library about the simulated Google, which `TideoverTrials google` serves on a socket.

Run by scripts/verify-google.sh, which installs what it imports. Each check is one sentence; the first that
does not hold is not the last that is tried, and any makes the run fail.
"""

import json
import subprocess
import sys

import google.auth.exceptions
import google.auth.transport.requests
import jwt
from google.oauth2 import id_token, service_account

SCOPE = "https://www.googleapis.com/auth/androidpublisher"
ISSUERS = ["accounts.google.com", "https://accounts.google.com"]


class Checks:
    def __init__(self):
        self.held, self.count = 0, 0

    def check(self, sentence, holds):
        self.count += 1
        self.held += bool(holds)
        print(f"{'held  ' if holds else 'FAILED'} {sentence}")


def refusal(action):
    """What an action was refused with; None where it was not."""
    try:
        action()
    except (ValueError, google.auth.exceptions.GoogleAuthError, jwt.PyJWTError) as error:
        return error
    return None


def check_pushes(checks, words):
    request = google.auth.transport.requests.Request()
    tokens, audience = words["tokens"], words["audience"]
    for form in ("v1", "v3"):
        url = f"{words['url']}/oauth2/{form}/certs"

        def verify(token, audience=audience, url=url):
            return id_token.verify_token(token, request, audience, certs_url=url)

        claims = verify(tokens["current"])
        checks.check(f"{form}: a token is verified by its published key", claims["iss"] in ISSUERS)
        sender = claims["email"] == words["email"] and claims["email_verified"] is True
        checks.check(f"{form}: it names who pushes, verified", sender)
        checks.check(f"{form}: it lasts an hour", claims["exp"] - claims["iat"] == 3600)
        checks.check(f"{form}: the key before a rotation still counts", verify(tokens["before"]))
        for name in ("withdrawn", "expired"):
            checks.check(f"{form}: a token {name} is refused", refusal(lambda: verify(tokens[name])))
        wrong = refusal(lambda: verify(tokens["current"], "https://other.example"))
        checks.check(f"{form}: a token for somebody else is refused", wrong)
        head, payload, signature = tokens["current"].split(".")
        changed = f"{head}.{payload}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"
        checks.check(f"{form}: a changed signature is refused", refusal(lambda: verify(changed)))


def credentials(key_file):
    return service_account.Credentials.from_service_account_info(key_file, scopes=[SCOPE])


def check_access(checks, words):
    request = google.auth.transport.requests.Request()
    account = credentials(words["keyFile"])
    account.refresh(request)
    checks.check("an assertion is exchanged for an access token", account.valid and account.token)
    error = refusal(lambda: credentials(words["otherKeyFile"]).refresh(request))
    checks.check("an assertion by another key is an invalid grant", "invalid_grant" in str(error))
    session = google.auth.transport.requests.AuthorizedSession(account)
    root = f"{words['url']}/androidpublisher/v3/applications/{words['package']}/purchases"
    answer = session.get(f"{root}/subscriptionsv2/tokens/{words['purchase']}")
    state = answer.json().get("subscriptionState")
    checks.check("the token opens the API", state == "SUBSCRIPTION_STATE_ACTIVE")
    unknown = session.get(f"{root}/subscriptionsv2/tokens/nobodys-token")
    status = unknown.json()["error"]["status"]
    checks.check("an error has Google's form", (unknown.status_code, status) == (404, "NOT_FOUND"))


def main():
    with subprocess.Popen([sys.argv[1], "google"], stdout=subprocess.PIPE) as program:
        try:
            words = json.loads(program.stdout.readline())
            checks = Checks()
            check_pushes(checks, words)
            check_access(checks, words)
        finally:
            program.terminate()
    print(f"held: {checks.held} of {checks.count}")
    return 0 if checks.held == checks.count else 1


if __name__ == "__main__":
    sys.exit(main())
