/** What `promise` gives, or a rejection with `late()` after `milliseconds`; what was begun goes on all the same. */
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
