export default {
  base: "./",
  optimizeDeps: { include: ["three"] },
  build: { target: "es2022", chunkSizeWarningLimit: 900 },
};
