/** Gives other requests their turn, in the middle of long work of this one. */
export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
