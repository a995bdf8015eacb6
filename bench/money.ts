import { measureParallelCalls } from './money/parallel.ts';
import { measureReservations } from './money/reservations.ts';
import { measureSums } from './money/sums.ts';

/** The cost of accounting: reservations of replicas side by side, and sums over a million charges. */
export const run = async (): Promise<void> => {
  await measureParallelCalls();
  await measureReservations();
  await measureSums();
};
