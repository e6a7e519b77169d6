// Tower Man of Quintus 0.2.0: cleared when a stage has run out of dots. The game then stages its level anew, as it does
// when the player is caught, so the stage that was running is kept and looked at again. The game keeps no clock: the
// level time is the page's own, from the level's first sight to the last dot, lost attempts included.
interface Body {
  className: string;
  p: { x: number; y: number; vx: number; vy: number; speed: number; direction: string };
}

interface Stage {
  dotCount: number;
  items: Body[];
}

const now = performance.now.bind(performance);
const nextFrame = window.requestAnimationFrame.bind(window);
const page = window as unknown as { Q?: { stage(index: number): Stage | undefined } };

let stage: Stage | null = null;
let attempts = 0;
let mostDots = 0;
let startedAt = 0;
let clearedAt: number | null = null;

function look(): void {
  if (clearedAt !== null) return;
  const current = page.Q?.stage(0) ?? null;
  if (stage !== null && mostDots > 0 && stage.dotCount === 0) clearedAt = now();
  if (clearedAt !== null || current === stage) return;
  stage = current;
  attempts++;
  mostDots = current === null ? 0 : current.dotCount;
}

function watch(): void {
  look();
  nextFrame(watch);
}

export async function setup(): Promise<void> {
  while (!((page.Q?.stage(0)?.dotCount ?? 0) > 0)) await new Promise<number>((resolve) => nextFrame(resolve));
  startedAt = now();
  watch();
}

export function evaluate(): { cleared: boolean; levelTimeMs: number | null; evidence: unknown } {
  look();
  return {
    cleared: clearedAt !== null,
    levelTimeMs: clearedAt === null ? null : clearedAt - startedAt,
    evidence: {
      clock: "page time from the level's first sight to the last dot",
      dotsLeft: stage === null ? null : stage.dotCount,
      dotsAtStart: mostDots,
      attempts,
      clearedAt,
    },
  };
}

export function snapshot(): unknown {
  const current = page.Q?.stage(0) ?? null;
  if (current === null) return null;
  const bodies: unknown[] = [];
  for (let i = 0; i < current.items.length; i++) {
    const { className, p } = current.items[i];
    bodies[i] = [className, p.x, p.y, p.vx, p.vy, p.speed, p.direction];
  }
  return { dotCount: current.dotCount, attempts, bodies };
}
