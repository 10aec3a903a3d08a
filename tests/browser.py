"""Headless Chromium for the tests that look at pages."""

import shutil

import pytest

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
    "disable-component-update disable-sync disable-dev-shm-usage force-prefers-reduced-motion"
)
PHONE = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
DESKTOP = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}

OUTSIDE = """
const found = [];
for (const text of document.querySelectorAll("svg text")) {
  const box = text.getBoundingClientRect();
  if (!box.width) continue;
  const frame = text.ownerSVGElement.getBoundingClientRect();
  const by = Math.max(frame.left - box.left, box.right - frame.right,
                      frame.top - box.top, box.bottom - frame.bottom);
  if (by > 0.5) found.push([text.textContent, by]);
}
return found;
"""


def open_browser(profile):
    """Return a driver of Chromium; skip the test where there is none."""
    if BROWSER is None or DRIVER is None:
        pytest.skip("no browser: Debian's chromium and chromium-driver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in FLAGS.split():
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options, webdriver.ChromeService(DRIVER))


def texts_outside(browser):
    """Return the texts that leave the drawing that they are in, and by how many pixels."""
    return browser.execute_script(OUTSIDE)
