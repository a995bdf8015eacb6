import { silentLogger } from '../../src/lib/log.ts';
import { Firing } from '../../src/schedules/firing/firing.ts';
import { until } from './wait.ts';

type Parts = Omit<ConstructorParameters<typeof Firing>[0], 'log' | 'onFired'>;

/** Starts a firing, and stops it when `size` schedules have fired. Throws if that takes 20 s. */
export const fireHerd = async (parts: Parts, size: number): Promise<void> => {
  let fired = 0;
  const onFired = (reports: readonly unknown[]) => {
    fired += reports.length;
  };
  const firing = new Firing({ ...parts, log: silentLogger, onFired });
  firing.start();
  try {
    await until(() => fired === size, 20_000, 10);
  } finally {
    await firing.stop();
  }
};
