// A machine without a GPU draws this game's WebGL picture, or all of its particles, at a few frames a second.
import { setGLEnable, setParticleEmitRateScale } from "/dist/littlejs.esm.js";

setGLEnable(false);
setParticleEmitRateScale(0.2);
