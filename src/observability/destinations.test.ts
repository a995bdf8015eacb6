import fc from 'fast-check';
import { expect, test } from 'vitest';
import { routingTable } from './destinations.ts';

const agents = ['a', 'b', 'c'];
const integrations = fc
  .array(
    fc.record({
      is_enabled: fc.boolean(),
      debug: fc.boolean(),
      global: fc.boolean(),
      agents: fc.uniqueArray(fc.constantFrom(...agents)),
    }),
    { maxLength: 8 },
  )
  .map((rows) => rows.map((row, i) => ({ ...row, number: i + 1 })));

test('an agent is routed to the enabled global integrations and its own; application spans to those with debug', () => {
  fc.assert(
    fc.property(
      integrations,
      fc.constantFrom(...agents, 'unknown', null),
      fc.boolean(),
      (rows, agent, application) => {
        const expected = rows
          .filter((row) => row.is_enabled)
          .filter((row) => !application || row.debug)
          .filter((row) => (agent === null ? application : row.global || row.agents.includes(agent)))
          .map((row) => row.number);
        const kind = application ? 'application' : 'agent';
        expect(routingTable(rows).forAgent(agent, kind)).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});
