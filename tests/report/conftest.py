"""A browser without a screen, and pages opened in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
DESKTOP = (1280, 900)
IS_READY = "return document.documentElement.dataset.ready === 'true'"
TWO_FRAMES = """
    const done = arguments[arguments.length - 1];
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)));
"""


class Page:
    """A page that is open, as its reader has it."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, address):
        from selenium.webdriver.support.ui import WebDriverWait

        self.driver.get("about:blank")
        self.list_errors()  # of the page before
        self.driver.get(address)
        WebDriverWait(self.driver, 20, 0.05).until(lambda _: self.run(IS_READY))

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def list_texts(self, selector):
        """Return the texts of elements, as written, seen or not."""
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return self.run(script, selector)

    def read(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def list_lines(self):
        """Return the lines of the curves, as drawn."""
        paths = self.driver.find_elements("css selector", "#curve-chart .mark-line path")
        return [path.get_attribute("d") for path in paths]

    def is_shown(self, selector):
        return self.find(selector).is_displayed()

    def wait(self):
        """Wait until what has changed is drawn."""
        self.driver.execute_async_script(TWO_FRAMES)

    def move(self, cut):
        """Move the slider to a cut."""
        self.run(
            "const slider = document.getElementById('cut'); slider.value = arguments[0];"
            "slider.dispatchEvent(new Event('input', { bubbles: true }))",
            cut,
        )
        self.wait()

    def choose(self, selector, text):
        """Choose the option of a select that has this text."""
        from selenium.webdriver.support.ui import Select

        Select(self.find(selector)).select_by_visible_text(text)
        self.wait()

    def press(self, selector, *keys):
        self.find(selector).send_keys(*keys)
        self.wait()

    def click(self, selector):
        self.run("arguments[0].click()", self.find(selector))
        self.wait()

    def list_errors(self):
        """Return what the browser has complained of since it was asked last."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def list_requests(self):
        """Return the addresses that were asked for since it was asked last."""
        messages = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [request["request"]["url"] for request in sent]

    def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, scheme):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


@pytest.fixture(scope="session")
def driver(tmp_path_factory) -> Iterator:
    """Start Chromium once, or skip the tests where there is none."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    control = shutil.which("chromedriver")
    if browser is None or control is None:
        pytest.skip("chromium and chromedriver are not installed: they open pages in tests")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    profile = tmp_path_factory.mktemp("profile")
    for argument in (*QUIET, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(control))
    yield driver
    driver.quit()


@pytest.fixture
def open_page(driver, tmp_path):
    """Return what opens a report."""
    page = Page(driver)

    def open_report(html, address="", size=DESKTOP):
        file = tmp_path / "report.html"
        file.write_text(html, "utf-8")
        page.resize(*size)
        page.prefer("light")
        page.list_requests()
        page.open(file.as_uri() + address)
        return page

    return open_report
