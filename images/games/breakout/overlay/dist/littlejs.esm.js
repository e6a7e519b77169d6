// The package's release build under the name the game imports: the debug build costs half the frames and has cheat keys.
export * from "./littlejs.esm.min.js";
