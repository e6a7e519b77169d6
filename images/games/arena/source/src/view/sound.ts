// Sounds made on the spot. The game plays the same without a sound device, so every failure here is silence.

import type { GameEvent } from "../game/events.ts";
import { random } from "../game/rng.ts";

const LOUDNESS = 0.22;

export class Sound {
  private context: AudioContext | null = null;
  private out: GainNode | null = null;
  private hiss: AudioBuffer | null = null;
  private muted = false;

  /** Browsers allow sound only after the first click or key. */
  start(): void {
    if (this.context) return;
    try {
      this.context = new AudioContext();
      this.context.resume().catch(() => undefined);
      this.out = this.context.createGain();
      this.out.gain.value = LOUDNESS;
      this.out.connect(this.context.destination);
      this.hiss = this.context.createBuffer(1, this.context.sampleRate / 2, this.context.sampleRate);
      const samples = this.hiss.getChannelData(0);
      for (let index = 0; index < samples.length; index++) samples[index] = random() * 2 - 1;
    } catch {
      this.context = null;
    }
  }

  toggle(): boolean {
    this.muted = !this.muted;
    if (this.out) this.out.gain.value = this.muted ? 0 : LOUDNESS;
    return this.muted;
  }

  play(event: GameEvent): void {
    switch (event.kind) {
      case "shot":
        this.noise(0.09, 2600, 0.5);
        this.tone("square", 320, 90, 0.07, 0.25);
        break;
      case "enemyHit":
        this.tone("triangle", 1250, 900, 0.05, 0.4);
        break;
      case "enemyDown":
        this.noise(0.45, 700, 0.9);
        this.tone("sawtooth", 240, 40, 0.4, 0.4);
        break;
      case "enemyShot":
        this.tone("sawtooth", 700, 260, 0.14, 0.14);
        break;
      case "boltBurst":
        this.noise(0.06, 1500, 0.12);
        break;
      case "hurt":
        this.tone("sine", 140, 50, 0.2, 0.9);
        this.noise(0.12, 500, 0.5);
        break;
      case "healed":
        this.tone("sine", 520, 1040, 0.22, 0.4);
        break;
      case "reload":
        this.noise(0.05, 3200, 0.3);
        this.tone("square", 150, 210, 0.09, 0.16);
        break;
      case "jump":
        this.tone("sine", 180, 260, 0.09, 0.2);
        break;
      case "begun":
        this.tone("triangle", 330, 660, 0.35, 0.4);
        break;
      case "ended":
        this.tone("triangle", event.won ? 440 : 300, event.won ? 880 : 90, 0.8, 0.6);
        break;
    }
  }

  private tone(shape: OscillatorType, from: number, to: number, seconds: number, level: number): void {
    if (!this.context || !this.out || this.muted) return;
    const now = this.context.currentTime;
    const wave = this.context.createOscillator();
    wave.type = shape;
    wave.frequency.setValueAtTime(from, now);
    wave.frequency.exponentialRampToValueAtTime(to, now + seconds);
    wave.connect(this.envelope(now, seconds, level));
    wave.start(now);
    wave.stop(now + seconds);
  }

  private noise(seconds: number, cutoff: number, level: number): void {
    if (!this.context || !this.out || !this.hiss || this.muted) return;
    const now = this.context.currentTime;
    const source = this.context.createBufferSource();
    source.buffer = this.hiss;
    const filter = this.context.createBiquadFilter();
    filter.type = "lowpass";
    filter.frequency.value = cutoff;
    source.connect(filter);
    filter.connect(this.envelope(now, seconds, level));
    source.start(now);
    source.stop(now + seconds);
  }

  private envelope(now: number, seconds: number, level: number): GainNode {
    const gain = this.context!.createGain();
    gain.gain.setValueAtTime(level, now);
    gain.gain.exponentialRampToValueAtTime(0.001, now + seconds);
    gain.connect(this.out!);
    return gain;
  }
}
