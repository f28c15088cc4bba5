"""Pages of strangers in a real browser: what they can get from a server that runs beside."""

import http.server
import shutil
import threading

import pytest

from tests.explore.server.test_process import Served

pytestmark = pytest.mark.slow

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# What a page can try: reading, changing with and without a preflight, framing, embedding.
ATTACK = """async (to) => {
  const said = [];
  const attempt = async (name, what) => {
    try { said.push([name, String(await what())]); } catch (e) { said.push([name, 'refused']); }
  };
  const all = {credentials: 'include'};
  await attempt('read', async () => (await fetch(to + '/api/labels', all)).text());
  await attempt('preflight', async () => (await fetch(to + '/api/labels', {...all,
    method: 'POST', body: '{"rows": [0], "name": "evil"}',
    headers: {'Content-Type': 'application/json', 'X-Tacit': '1'}})).text());
  await attempt('simple', async () => (await fetch(to + '/api/labels', {...all,
    method: 'POST', body: '{"rows": [0], "name": "evil"}', mode: 'no-cors'})).type);
  await attempt('events', () => new Promise((done, fail) => {
    const source = new EventSource(to + '/api/jobs/x/events', {withCredentials: true});
    source.onopen = () => done('open'); source.onerror = () => { source.close(); fail(); };
  }));
  await attempt('script', () => new Promise((done, fail) => {
    const tag = document.createElement('script');
    tag.src = to + '/api/labels'; tag.onload = () => done('loaded'); tag.onerror = fail;
    document.head.append(tag);
  }));
  await attempt('frame', () => new Promise(done => {
    const frame = document.createElement('iframe');
    frame.src = to + '/';
    frame.onload = () => {
      try { done(frame.contentDocument.body.innerText); } catch { done('opaque'); }
    };
    document.body.append(frame);
  }));
  return said;
}"""


@pytest.fixture(scope="module")
def chromium():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("there is no Chromium or Chrome on this machine")
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Quiet(http.server.BaseHTTPRequestHandler):
    """A page with a link to wherever its address says."""

    def do_GET(self):
        body = b"<!doctype html><title>other</title><a id=go>go</a>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def elsewhere():
    """A server of somebody else on this machine; its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def served(prepared, tmp_path_factory):
    ours = shutil.ignore_patterns("labels.sqlite*", "serving")
    path = tmp_path_factory.mktemp("attacked") / "topics.tacit"
    server = Served(shutil.copytree(prepared, path, ignore=ours))
    yield server
    server.end()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])  # another site; another port
def test_a_page_of_another_origin_sees_and_changes_nothing(chromium, elsewhere, served, name):
    context = chromium.new_context()
    try:
        user = context.new_page()
        user.goto(served.address)
        assert user.url == f"http://{served.netloc}/"
        page = context.new_page()
        page.goto(f"http://{name}:{elsewhere}/")
        reply = dict(page.evaluate(ATTACK, f"http://{served.netloc}"))
        assert reply.pop("simple") in ("opaque", "refused")  # sent blindly, and refused there
        assert reply.pop("frame") in ("opaque", "refused", "")
        assert set(reply.values()) == {"refused"}
        assert served.get("/api/labels")["rows"] == {}
    finally:
        context.close()


def test_a_link_on_another_page_opens_the_report(chromium, elsewhere, served):
    """As in a terminal that is a web page itself; a strict cookie is not sent on redirects."""
    context = chromium.new_context()
    try:
        page = context.new_page()
        page.goto(f"http://localhost:{elsewhere}/")
        page.evaluate("to => { document.getElementById('go').href = to }", served.address)
        page.click("#go")
        page.wait_for_url(f"http://{served.netloc}/")
        page.wait_for_selector("h1")
        assert "topics" in page.title()
    finally:
        context.close()


def test_the_cookie_is_out_of_reach_of_scripts(chromium, served):
    context = chromium.new_context()
    try:
        page = context.new_page()
        page.goto(served.address)
        assert page.evaluate("document.cookie") == ""
        (cookie,) = context.cookies()
        assert cookie["httpOnly"] is True
        assert cookie["sameSite"] == "Strict"
    finally:
        context.close()
