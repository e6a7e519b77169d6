"""The input driver: what turns a script's calls into real Chromium input events, and the page they happen in.

This package runs inside the containers (as `driver`), on the standard library and Playwright alone: as the `vitexec`
command of the agent image and as the browser process of a replay. Pure decisions (motion, holds, ownership, log formats)
stand apart from effects (browser, server, sockets), so that the first can be tested by values.
"""
