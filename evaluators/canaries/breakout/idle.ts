// Does nothing: no ball is served, no brick falls.
await new Promise((resolve) => setTimeout(resolve, 2000));
