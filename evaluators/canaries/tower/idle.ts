// Does nothing: the player runs up to the first wall and waits there.
await new Promise((resolve) => setTimeout(resolve, 2000));
