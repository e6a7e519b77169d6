// Does nothing: the two first tiles stay where they are.
await new Promise((resolve) => setTimeout(resolve, 2000));
