// Does nothing: the game is the same without it.
await new Promise((done) => setTimeout(done, 1500));
