import type { Executor } from '../../database/index.ts';
import { hourOf, hoursBetween } from '../../lib/hours.ts';
import { countDelivered } from '../../telemetry/index.ts';

/** Spans delivered in each hour since `from`. */
export const deliveredByHour = async (executor: Executor, from: number, now: number) => {
  const delivered = new Map(
    (await countDelivered(executor, hourOf(from))).map(({ at, delivered: n }) => [at.getTime(), n]),
  );
  const perHour = hoursBetween(from, now).map((at) => ({
    t: new Date(at),
    delivered: delivered.get(at) ?? 0,
  }));
  return { delivered: perHour.reduce((sum, one) => sum + one.delivered, 0), per_hour: perHour };
};
