export const halves = (n: number) => n / 2;
