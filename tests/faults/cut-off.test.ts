import { expect, test } from 'vitest';
import { describeWithNats } from '../harness/nats.ts';
import { runCutOffs } from './scenarios/cut-off.ts';

const rounds = {
  'from the database alone, and what it sends arrives late': { log: false, late: true },
  'from database and log, and what it sends is lost': { log: true, late: false },
};

describeWithNats('one replica of three is cut off in silence', () => {
  for (const [name, round] of Object.entries(rounds)) {
    test(`${name}: the others do everything once, and it comes back by itself`, async () => {
      const { verification, problems, ...figures } = await runCutOffs([round], 12);
      console.log(`cut off: ${JSON.stringify(figures)}`);
      expect(problems).toEqual([]);
      expect(verification.problems.slice(0, 10)).toEqual([]);
      // It had work in flight.
      expect(figures.takenOver).toBeGreaterThan(0);
      expect(Math.max(...figures.unreadyMs)).toBeLessThan(10_000);
      expect(Math.max(...figures.readyMs)).toBeLessThan(20_000);
    }, 400_000);
  }
});
