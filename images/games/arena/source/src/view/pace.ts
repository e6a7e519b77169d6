// Gives up sharpness for speed where frames come slowly, as they do without a GPU. It never goes back up: no flicker.

const SAMPLE_FRAMES = 45;
const SLOW_SECONDS = 1 / 28;
const LEVELS = [1, 0.75, 0.55] as const;

export class Pace {
  private level = 0;
  private frames = 0;
  private seconds = 0;

  get sharpness(): number {
    return LEVELS[this.level] ?? 1;
  }

  /** Takes one frame's length; true when the sharpness changed. */
  frame(seconds: number): boolean {
    this.frames += 1;
    this.seconds += seconds;
    if (this.frames < SAMPLE_FRAMES) return false;
    const slow = this.seconds / this.frames > SLOW_SECONDS;
    this.frames = this.seconds = 0;
    if (!slow || this.level === LEVELS.length - 1) return false;
    this.level += 1;
    return true;
  }
}
