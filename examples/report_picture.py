"""Take the screenshot of a report for the README. Needs Chromium, its driver and selenium.

spokeshave fit 20news-bydate.tar.gz --method mask,warm --stability
python examples/report_picture.py 20news-bydate.html docs/report.png
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from time import sleep

from selenium import webdriver

WIDTH, HEIGHT = 1280, 1180
FLAGS = ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-background-networking")


def main(page: str, picture: str) -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"--window-size={WIDTH},{HEIGHT}"):
        options.add_argument(flag)
    driver = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options, driver) as browser:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False},
        )
        browser.get(Path(page).resolve().as_uri())
        sleep(1)  # until charts are drawn
        browser.save_screenshot(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
