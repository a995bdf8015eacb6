/** Settles as `promise` does, or rejects with `toError()` after `milliseconds`. The work behind `promise` continues. */
export const withTimeout = async <T>(
  promise: Promise<T>,
  milliseconds: number,
  toError: () => Error = () => new Error(`not within ${milliseconds} ms`),
): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(toError()), milliseconds);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
};
