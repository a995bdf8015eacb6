import vm from 'node:vm';

/** The limits of `vm` are of time that passes. On a machine with other work a run is repeated at most this often. */
const maxRuns = 10;

const sandbox = vm.createContext({ run: null as (() => void) | null });
const script = new vm.Script('run()');

export const isTimeout = (error: unknown): boolean =>
  (error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/**
 * Runs `fn` until it returns, or for `milliseconds` at most, then throws. It stops a regular expression in the middle of its
 * backtracking as well, because V8 interrupts everything on the stack; no `finally` of `fn` runs then. A call takes about
 * 0.3 ms, so that small work is done many at a time.
 */
export const untilStopped = (milliseconds: number, fn: () => void): void => {
  sandbox.run = fn;
  try {
    script.runInContext(sandbox, { timeout: milliseconds });
  } finally {
    sandbox.run = null;
  }
};

/**
 * Runs `fn`, which has no effects, for at most `milliseconds` of processor time, then throws. It is run again if other
 * work of the machine took its time.
 */
export const withinTime = <T>(milliseconds: number, fn: () => T): T => {
  for (let run = 1; ; run++) {
    let result: T;
    const before = process.threadCpuUsage();
    try {
      untilStopped(milliseconds, () => {
        result = fn();
      });
      return result!;
    } catch (error) {
      const { user, system } = process.threadCpuUsage(before);
      const usedUp = (user + system) / 1_000 >= milliseconds / 2;
      if (!isTimeout(error) || usedUp || run === maxRuns) throw error;
    }
  }
};
