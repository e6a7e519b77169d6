"""Runs in a container, as a program: films a moving page on the real clock, from after its load, and tells what frames.json would say, how many
frames the page itself drew in that time, what of the counting the page can see, and the video's own count. Arguments: seconds."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from driver.browser import Browser  # pyright: ignore[reportMissingImports]
from driver.cdp import Cdp  # pyright: ignore[reportMissingImports]
from driver.recorder import Recorder  # pyright: ignore[reportMissingImports]

VIDEO = Path("/tmp/real.mp4")
PAGE = """<body style="margin: 0"><canvas id=canvas width=640 height=360></canvas><script>
const before = Object.getOwnPropertyNames(window);
const c = canvas.getContext("2d"); let n = 0;
const draw = () => { n++; c.fillStyle = `hsl(${n * 7 % 360}, 70%, 50%)`; c.fillRect(0, 0, 640, 360); requestAnimationFrame(draw); };
requestAnimationFrame(draw);
</script>"""
NEW_NAMES = "Object.getOwnPropertyNames(window).filter((name) => !before.includes(name) && !['draw', 'c', 'n', 'before'].includes(name))"


async def film(seconds: float) -> dict[str, Any]:
    browser = await Browser.launch()
    context = await browser.inner.new_context(viewport={"width": 640, "height": 360})
    page = await context.new_page()
    await page.set_content(PAGE)
    recorder = await Recorder.start(await Cdp.of_page(page), VIDEO, (640, 360))
    began = await page.evaluate("n")
    await asyncio.sleep(seconds)
    drawn = await page.evaluate("n") - began
    names = await page.evaluate(NEW_NAMES)
    told = await recorder.stop()
    await browser.close()
    return {"frames": told, "drawn": drawn, "names": names}


def main() -> None:
    result = asyncio.run(film(float(sys.argv[1])))
    asked = [
        "ffprobe",
        "-v",
        "error",
        "-count_frames",
        "-show_entries",
        "stream=nb_read_frames,r_frame_rate,pix_fmt,codec_name",
    ]
    seen = subprocess.run([*asked, "-of", "json", str(VIDEO)], stdout=subprocess.PIPE, check=True).stdout
    print(json.dumps(result | {"video": json.loads(seen)["streams"][0]}))


main()
